import { afterEach, beforeEach } from "bun:test";
import { createHome, type Home, type HomeOptions } from "./child.ts";

/** A home of its own for each test of a file. */
export function useHome(options: HomeOptions = {}): Home {
  const held: { home?: Home } = {};
  beforeEach(() => {
    held.home = createHome(options);
  });
  afterEach(() => held.home?.remove());
  return new Proxy({} as Home, {
    get(_, name: keyof Home) {
      if (held.home === undefined) throw new Error("There is a home during a test alone.");
      return held.home[name];
    },
  });
}
