import { afterEach, expect, test } from "bun:test";
import { seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { type LimitedNode, SharedLimits } from "../../../test/setup/shared-limits.ts";
import { Permit } from "../permit.ts";
import type { LimitedOwner } from "../request-limiter.ts";

let shared: SharedLimits | undefined;
afterEach(async () => {
  await shared?.close();
  shared = undefined;
});

const account: LimitedOwner = { id: "acct_1", kind: "account", limits: undefined };
const keyWith = (concurrency: number, version = 0): LimitedOwner => ({
  id: "key_1",
  kind: "key",
  limits: { concurrency },
  version,
});

/** Calls of several nodes that begin and end. */
class Calls {
  readonly running: { readonly permit: Permit; readonly node: LimitedNode }[] = [];
  readonly #limits: SharedLimits;
  highest = 0;
  refused = 0;

  constructor(limits: SharedLimits) {
    this.#limits = limits;
  }

  begin(node: LimitedNode, key: LimitedOwner): void {
    const note = (answer: unknown) => {
      if (answer instanceof Permit) this.running.push({ permit: answer, node });
      else this.refused++;
      this.highest = Math.max(this.highest, this.running.length);
    };
    const answer = node.limiter.enter({ key, account, nowMs: 0 });
    if (answer instanceof Promise) void answer.then(note, () => {});
    else note(answer);
  }

  end(at: number): void {
    const [call] = this.running.splice(at, 1);
    call?.node.limiter.release(call.permit, 0, 0);
  }

  /** The node is gone, and its calls with it. */
  kill(node: LimitedNode): void {
    const left = this.running.filter((call) => call.node !== node);
    this.running.splice(0, this.running.length, ...left);
  }

  /** How many can run at once now, however they are spread. */
  async saturate(nodes: readonly LimitedNode[], key: LimitedOwner): Promise<number> {
    for (let round = 0; round < 40; round++) {
      for (const node of nodes) this.begin(node, key);
      await this.#limits.advance(600);
    }
    return this.running.length;
  }
}

test.each([1, 3, 20, 200])(
  "a limit of %d at a time holds on 8 nodes, and all of it is back when a dead node's epoch is closed",
  async (limit) => {
    shared = await SharedLimits.open(8);
    const { nodes } = shared;
    const [dead, ...others] = nodes;
    if (dead === undefined) throw new Error("no node");
    const random = seededRandom(limit);
    const key = keyWith(limit);
    const calls = new Calls(shared);
    let open = nodes as readonly LimitedNode[];
    for (let step = 0; step < 800; step++) {
      const node = open[random(open.length)];
      const isFilling = Math.floor(step / 100) % 2 === 0;
      if (node !== undefined && random(10) < (isFilling ? 8 : 3)) {
        for (let come = 0; come <= limit / 20; come++) calls.begin(node, key);
      } else if (calls.running.length > 0) calls.end(random(calls.running.length));
      if (step === 400) {
        calls.kill(dead);
        open = others;
      }
      await shared.advance(random(40));
    }
    expect(calls.highest).toBeLessThanOrEqual(limit);
    expect(calls.highest).toBeGreaterThanOrEqual(limit * 0.9);
    expect(calls.refused).toBeGreaterThan(0);
    await shared.closeEpoch(dead);
    expect(await calls.saturate(others, key)).toBe(limit);
    expect(calls.highest).toBe(limit);
    for (const node of nodes)
      expect(node.calls.length).toBeLessThan(4 * (shared.nowMs() / 1_000) + 8);
  },
  120_000,
);

test("places of a dead node stay taken until its epoch is closed", async () => {
  shared = await SharedLimits.open(2);
  const [dead, other] = shared.nodes;
  if (dead === undefined || other === undefined) throw new Error("no node");
  const calls = new Calls(shared);
  expect(await calls.saturate([dead], keyWith(3))).toBe(3);
  calls.kill(dead);
  await shared.advance(3_600_000);
  expect(await calls.saturate([other], keyWith(3))).toBe(0);
  await shared.closeEpoch(dead);
  expect(await calls.saturate([other], keyWith(3))).toBe(3);
});

test("one call after another is admitted whichever node gets it, with a limit of one", async () => {
  shared = await SharedLimits.open(8);
  const random = seededRandom(8);
  const calls = new Calls(shared);
  for (let come = 0; come < 200; come++) {
    const node = shared.nodes[random(8)];
    if (node === undefined) throw new Error("no node");
    calls.begin(node, keyWith(1));
    await shared.advance(300);
    expect(calls.running).toHaveLength(1);
    calls.end(0);
  }
  expect(calls.refused).toBe(0);
});

test("a lowered limit takes effect with the next request, also for places in hand", async () => {
  shared = await SharedLimits.open(2);
  const [one, other] = shared.nodes;
  if (one === undefined || other === undefined) throw new Error("no node");
  const calls = new Calls(shared);
  expect(await calls.saturate([one, other], keyWith(40))).toBe(40);
  const lowered = keyWith(10, 1);
  while (calls.running.length > 10) calls.end(0);
  expect(await calls.saturate([one, other], lowered)).toBe(10);
  calls.end(0);
  // One that has not heard of the change yet does not bring the old limit back.
  expect(await calls.saturate([one, other], keyWith(40))).toBe(10);
});
