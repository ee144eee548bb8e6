/** A command line of its own in front of a fake vendor, for the tests of `svc provider`. */

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { ProviderView, TrialView, TroubleView } from "../../src/platform/providers/schemas.ts";
import { type FakeUpstream, type ReplySource, startFakeUpstream } from "../fake/upstream.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { createHome, type Environment, type Finished, type Home } from "./child.ts";

export interface ProviderHome {
  readonly upstream: FakeUpstream;
  /** Anew for each test. */
  readonly home: Home;
  provider(line: string, options?: Parameters<Home["svc"]>[1]): Promise<Finished>;
  list(): Promise<readonly ProviderView[]>;
  /** All that is in force, as `svc export` prints it. */
  exported(): Promise<string>;
  /** The address of the fake without its path. */
  origin(): string;
  /** Applies this text as the config file. */
  apply(text: string): Promise<string>;
  /** Applies one provider `p` with these fields, and a chat model on it. */
  applied(fields: string, model?: string): Promise<void>;
  /** What is said of the first call of a `svc provider test p` that fails. */
  problemOf(environment?: Environment): Promise<TroubleView>;
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
  const apply = (text: string) => {
    home.writeConfig(text);
    return home.ok("apply");
  };
  return {
    apply,
    origin: () => new URL(upstream.baseUrl).origin,
    async applied(fields, model = "") {
      await apply(`providers:
  p: { ${fields} }
models:
  m: { endpoint: chat, price: { input: 1, output: 1 }, ${model}routes: [{ provider: p, model: big-1 }] }
`);
    },
    async problemOf(environment = {}) {
      const { code, stdout } = await home.svc("provider test p --json", { environment });
      expect(code).toBe(1);
      const [first]: readonly TrialView[] = JSON.parse(stdout);
      if (!first?.problem) throw new Error(`nothing failed: ${stdout}`);
      return first.problem;
    },
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
