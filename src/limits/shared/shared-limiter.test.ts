import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type LimitedNode, SharedLimits } from "../../../test/setup/shared-limits.ts";
import type { Limits } from "../../call/limits.ts";
import { Permit } from "../permit.ts";
import type { LimitRefusal } from "../refusal.ts";
import type { LimitedOwner } from "../request-limiter.ts";

let shared: SharedLimits;
let one: LimitedNode;
let other: LimitedNode;
beforeEach(async () => {
  shared = await SharedLimits.open(2);
  [one = await shared.join(), other = await shared.join()] = shared.nodes;
});
afterEach(() => shared.close());

interface Owners {
  readonly key: LimitedOwner;
  readonly account: LimitedOwner;
}

const owners = (key?: Limits, account?: Limits, id = "key_1", version = 0): Owners => ({
  key: { id, kind: "key", limits: key, version },
  account: { id: "acct_1", kind: "account", limits: account, version },
});

const changed = (key: Limits, version: number) => owners(key, undefined, "key_1", version);

type Answer = Permit | LimitRefusal | undefined;

/** Time goes on until there is an answer. */
async function soon<T>(answer: T | Promise<T>): Promise<T> {
  if (!(answer instanceof Promise)) return answer;
  const state = { isThere: false };
  const there = answer.finally(() => {
    state.isThere = true;
  });
  there.catch(() => {});
  for (let passed = 0; passed < 1_000 && !state.isThere; passed++) await shared.advance(1);
  return there;
}

const enter = ({ limiter }: LimitedNode, who: Owners) => soon(limiter.enter({ ...who, nowMs: 0 }));

const takeTokens = ({ limiter }: LimitedNode, who: Owners, tokens: number, permit?: Permit) =>
  soon(limiter.takeTokens(permit, { ...who, tokens, nowMs: 0 }));

async function admitted(answer: Promise<Answer>): Promise<Permit> {
  const permit = await answer;
  if (permit instanceof Permit) return permit;
  throw new Error(`refused: ${JSON.stringify(permit)}`);
}

async function refused(answer: Promise<Answer>): Promise<LimitRefusal> {
  const refusal = await answer;
  if (refusal !== undefined && !(refusal instanceof Permit)) return refusal;
  throw new Error("admitted");
}

async function admitMany(node: LimitedNode, who: Owners, count: number): Promise<void> {
  const answers = Array.from({ length: count }, async () =>
    node.limiter.enter({ ...who, nowMs: 0 }),
  );
  for (const answer of await soon(Promise.all(answers))) expect(answer).toBeInstanceOf(Permit);
}

const look = ({ limiter }: LimitedNode, { key, account }: Owners) => limiter.look(key, account);

describe("requests", () => {
  test("that one node has admitted are missing at the other, which says so and when to come back", async () => {
    const who = owners({ rpm: 60 });
    await admitMany(one, who, 60);
    const refusal = await refused(enter(other, who));
    expect(refusal).toMatchObject({ kind: "requests", owner: "key", limit: 60, needed: 1 });
    expect(look(other, who)?.requests).toMatchObject({ limit: 60, remaining: 0 });
    const { retryAfterMs = 0 } = refusal;
    expect(retryAfterMs).toBeLessThanOrEqual(1_000);
    await shared.advance(retryAfterMs);
    await admitted(enter(other, who));
    expect((await refused(enter(one, who))).retryAfterMs).toBeGreaterThan(0);
  });

  test("are refused without a call to the database while it is known that there are none", async () => {
    const who = owners({ rpm: 5 });
    await admitMany(one, who, 5);
    await refused(enter(one, who));
    const before = one.calls.length;
    for (let come = 0; come < 500; come++) await refused(enter(one, who));
    expect(one.calls).toHaveLength(before);
  });

  test("of a key whose account refuses stay the key's", async () => {
    await admitMany(one, owners(undefined, { rpm: 3 }), 3);
    const who = owners({ rpm: 2 }, { rpm: 3 });
    expect(await refused(enter(other, who))).toMatchObject({ owner: "account", limit: 3 });
    await shared.advance(1_500);
    await admitMany(one, owners({ rpm: 2 }), 2);
  });

  test("that can never be admitted ask no database", async () => {
    for (const limits of [{ rpm: 0 }, { concurrency: 0 }])
      expect(await refused(enter(one, owners(limits)))).toMatchObject({ retryAfterMs: undefined });
    expect(await refused(takeTokens(one, owners({ tpm: 100 }), 101))).toEqual({
      kind: "tokens",
      owner: "key",
      limit: 100,
      needed: 101,
      retryAfterMs: undefined,
    });
    expect(one.calls).toHaveLength(0);
  });
});

describe("tokens", () => {
  test("are charged by the estimate and settled to the truth on all nodes", async () => {
    const who = owners({ tpm: 1_000 });
    const permit = await admitted(takeTokens(one, who, 800));
    expect(await refused(takeTokens(other, who, 300))).toMatchObject({
      kind: "tokens",
      needed: 300,
    });
    one.limiter.release(permit, 100, 0);
    // Reported within a quarter of a second; the other node asks again within a second.
    await shared.advance(1_300);
    const next = await admitted(takeTokens(other, who, 900));
    other.limiter.release(next, 1_900, 0);
    await shared.advance(1_300);
    const debt = await refused(takeTokens(one, who, 1));
    expect(debt.retryAfterMs).toBeGreaterThan(50_000);
    expect(debt.retryAfterMs).toBeLessThan(62_000);
    expect(look(one, who)?.tokens).toMatchObject({ limit: 1_000, remaining: 0 });
    await shared.advance(debt.retryAfterMs ?? 0);
    await admitted(takeTokens(one, who, 1));
  });

  test("larger than what is left wait for nobody smaller", async () => {
    const who = owners({ tpm: 1_000 });
    await admitted(takeTokens(one, who, 500));
    const answers = [800, 100, 700, 200].map(async (tokens) =>
      other.limiter.takeTokens(undefined, { ...who, tokens, nowMs: 0 }),
    );
    const told = await soon(Promise.all(answers));
    expect(told.map((answer) => answer instanceof Permit)).toEqual([false, true, false, true]);
  });

  test("of a refused request leave it its request, and tell of the longer wait", async () => {
    const who = owners({ rpm: 2, tpm: 100 });
    const first = await admitted(enter(one, who));
    await admitted(takeTokens(one, who, 100, first));
    const second = await admitted(enter(other, who));
    const refusal = await refused(takeTokens(other, who, 10, second));
    expect(refusal.kind).toBe("tokens");
    expect(refusal.retryAfterMs).toBeGreaterThan(29_000);
  });
});

describe("limits that change", () => {
  test("are raised and lowered with what was used, and an old one does not come back", async () => {
    await admitMany(one, owners({ rpm: 60 }), 60);
    await refused(enter(other, owners({ rpm: 60 })));
    const raised = changed({ rpm: 100 }, 1);
    await admitMany(other, raised, 40);
    await refused(enter(one, raised));
    const lowered = changed({ rpm: 30 }, 2);
    const refusal = await refused(enter(other, lowered));
    expect(refusal).toMatchObject({ limit: 30 });
    // This node has not heard of it.
    await refused(enter(one, raised));
    await shared.advance(2_500);
    await admitMany(other, lowered, 1);
    await refused(enter(one, raised));
  });

  test("are removed at once, and right when they return", async () => {
    const limited = owners({ concurrency: 1, rpm: 100 });
    await admitted(enter(one, limited));
    await refused(enter(other, limited));
    await admitMany(other, changed({ rpm: 100 }, 1), 5);
    await admitMany(one, changed({ rpm: 100 }, 1), 1);
    // Each node tells what runs there when it hears of the limit.
    const back = changed({ rpm: 100, concurrency: 7 }, 2);
    look(one, back);
    await shared.advance(300);
    expect(await refused(enter(other, back))).toMatchObject({ kind: "concurrency", limit: 7 });
    expect(await refused(enter(one, back))).toMatchObject({ kind: "concurrency", limit: 7 });
  });
});

describe("the database", () => {
  test("is not called for keys that nobody uses, nor for owners without limits", async () => {
    await admitted(enter(one, owners()));
    const who = owners({ rpm: 6_000, tpm: 100_000, concurrency: 10 });
    for (let come = 0; come < 20; come++) {
      const permit = await admitted(enter(one, who));
      await admitted(takeTokens(one, who, 100, permit));
      one.limiter.release(permit, 100, 0);
    }
    await shared.advance(2_000);
    const before = one.calls.length;
    await shared.advance(600_000);
    expect(one.calls).toHaveLength(before);
    // All that was borrowed went back.
    const next = await admitted(enter(other, who));
    expect(look(other, who)?.requests?.remaining).toBe(5_999);
    other.limiter.release(next, 0, 0);
  });

  test("is called once for all owners of a turn, and for those that come while it is under way", async () => {
    const ask = async (index: number) => {
      const who = owners({ rpm: 10, concurrency: 5 }, { rpm: 1_000 }, `key_${index}`);
      expect(await one.limiter.enter({ ...who, nowMs: 0 })).toBeInstanceOf(Permit);
    };
    const first = Array.from({ length: 50 }, (_, index) => ask(index));
    await shared.advance(0);
    const later = Array.from({ length: 50 }, (_, index) => ask(50 + index));
    await soon(Promise.all([...first, ...later]));
    expect(one.calls.map(({ asks }) => asks.length)).toEqual([101, 100]);
  });

  test("that is away admits nobody beyond what is in hand, and is left alone for a second", async () => {
    const who = owners({ rpm: 6_000, concurrency: 100 });
    await admitted(enter(one, who));
    one.isCut = true;
    await shared.advance(2_000);
    const before = one.calls.length;
    await expect(enter(one, who)).rejects.toThrow("away");
    for (let come = 0; come < 100; come++) await expect(enter(one, who)).rejects.toThrow();
    expect(one.calls.length).toBeLessThanOrEqual(before + 1);
    one.isCut = false;
    await shared.advance(1_100);
    await admitted(enter(one, who));
  });

  test("is not called by a limiter that is closed, whatever it still holds", async () => {
    const who = owners({ rpm: 6_000, concurrency: 10 });
    const permit = await admitted(enter(one, who));
    one.limiter.close();
    one.limiter.release(permit, 0, 0);
    const before = one.calls.length;
    await shared.advance(5_000);
    await expect(enter(one, who)).rejects.toThrow();
    expect(one.calls).toHaveLength(before);
  });

  test("that has closed a node's epoch lends it nothing any more", async () => {
    await shared.closeEpoch(one);
    await expect(enter(one, owners({ rpm: 10 }))).rejects.toThrow("closed");
    await admitted(enter(other, owners({ rpm: 10 })));
  });

  test.each([3_600_000, -3_600_000])(
    "whose clock jumps by %d ms grants no second burst",
    async (ms) => {
      const who = owners({ rpm: 10 });
      await admitMany(one, who, 10);
      shared.shiftDatabaseClock(ms);
      await shared.advance(1_000);
      if (ms < 0) await refused(enter(other, who));
      // A clock that was set forward refills, but never above one minute's quota.
      let count = 0;
      while ((await enter(other, who)) instanceof Permit) count++;
      expect(count).toBeLessThanOrEqual(ms < 0 ? 0 : 10);
      await shared.advance(60_000);
      await admitted(enter(other, who));
    },
  );
});
