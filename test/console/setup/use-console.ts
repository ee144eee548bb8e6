import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { TestGatewayOptions } from "../../setup/harness.ts";
import { later } from "../../setup/use-platform.ts";
import type { Window } from "./console-home.ts";
import { type MemberHome, startMemberHome } from "./member-home.ts";
import { type OperatorHome, startOperatorHome } from "./operator-home.ts";

type Options = TestGatewayOptions | (() => Promise<TestGatewayOptions>);

/** One home for all tests of a file, which can be named before it has started. */
export const useMemberHome = (options?: Options): MemberHome => useHome(startMemberHome, options);
export const useOperatorHome = (options?: Options): OperatorHome =>
  useHome(startOperatorHome, options);

/** After each test no window has complained, and those that it opened are closed. */
function useHome<T extends OperatorHome | MemberHome>(
  start: (options: TestGatewayOptions) => Promise<T>,
  options: Options = {},
): T {
  const held: { home?: T } = {};
  let known: readonly Window[] = [];
  const windows = () => held.home?.browser.windows() ?? [];
  beforeAll(async () => {
    held.home = await start(typeof options === "function" ? await options() : options);
  });
  beforeEach(() => {
    known = windows();
  });
  afterEach(async () => {
    const complaints = windows().flatMap((window) => window.complaints.splice(0));
    const opened = windows().filter((window) => !known.includes(window));
    await Promise.all(opened.map((window) => window.close()));
    expect(complaints).toEqual([]);
  });
  afterAll(() => held.home?.stop());
  const now = (name: string) => Reflect.get(held.home ?? {}, name);
  return new Proxy({} as T, {
    get: (_, name: string) =>
      ["path", "joined", "openOther", "stop"].includes(name)
        ? (...given: readonly unknown[]) => now(name)(...given)
        : later(() => now(name), name),
  });
}
