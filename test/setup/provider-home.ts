/** A command line of its own in front of a fake vendor, for the tests of `svc provider`. */

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { ProviderView } from "../../src/platform/providers/schemas.ts";
import { type FakeUpstream, type ReplySource, startFakeUpstream } from "../fake/upstream.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { createHome, type Finished, type Home } from "./child.ts";

export interface ProviderHome {
  readonly upstream: FakeUpstream;
  /** Anew for each test. */
  readonly home: Home;
  provider(line: string, options?: Parameters<Home["svc"]>[1]): Promise<Finished>;
  list(): Promise<readonly ProviderView[]>;
  /** All that is in force, as `svc export` prints it. */
  exported(): Promise<string>;
  /** The words that connect the fake as `mine`. */
  own(more?: string): string;
}

/** For the whole of a test file; `reply` is what the vendor says unless a test tells it otherwise. */
export function useProviderHome(reply: ReplySource | undefined = willingVendor): ProviderHome {
  let upstream: FakeUpstream;
  let home: Home;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
  });
  afterAll(() => upstream.stop());
  beforeEach(async () => {
    upstream.reset();
    upstream.replyWith(reply);
    home = createHome();
  });
  afterEach(() => home.remove());
  return {
    get upstream() {
      return upstream;
    },
    get home() {
      return home;
    },
    provider: (line, options) => home.svc(["provider", ...line.split(" ")], options),
    list: () => home.json<readonly ProviderView[]>(["provider", "list"]),
    exported: async () => (await home.svc(["export"])).stdout,
    own: (more = "") => `mine --base-url ${upstream.baseUrl} --allow-private${more}`,
  };
}

export function succeeds({ code, stderr, stdout }: Finished): string {
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}
