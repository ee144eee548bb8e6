import { beforeEach, describe, expect, test } from "bun:test";
import { seededRandom } from "../../test/fixtures/media/fixture.ts";
import type { Limits } from "../call/limits.ts";
import { Limiter } from "./limiter.ts";
import { Permit } from "./permit.ts";
import type { LimitRefusal } from "./refusal.ts";
import type { LimitedOwner, TokenRequest } from "./request-limiter.ts";

const startMs = 1_794_000_000_000;

let limiter: Limiter;
beforeEach(() => {
  limiter = new Limiter();
});

const keyWith = (limits?: Limits, id = "key_1"): LimitedOwner => ({ id, kind: "key", limits });
const accountWith = (limits?: Limits): LimitedOwner => ({ id: "acct_1", kind: "account", limits });

interface Owners {
  readonly key: LimitedOwner;
  readonly account: LimitedOwner;
}

const onKey = (limits: Limits): Owners => ({ key: keyWith(limits), account: accountWith() });
const onAccount = (limits: Limits): Owners => ({ key: keyWith(), account: accountWith(limits) });
const requestOf = (owners: Owners, tokens = 10, nowMs = startMs): TokenRequest => ({
  ...owners,
  tokens,
  nowMs,
});

/** As a request goes through: its place first, then its tokens, the place given back if refused. */
function admit(limiter: Limiter, request: TokenRequest): Permit | LimitRefusal {
  const permit = limiter.enter(request);
  if (!(permit instanceof Permit)) return permit;
  const result = limiter.takeTokens(permit, request) ?? permit;
  if (!(result instanceof Permit)) limiter.release(permit, 0, request.nowMs);
  return result;
}

function admitted(limiter: Limiter, request: TokenRequest): Permit {
  const result = admit(limiter, request);
  if (result instanceof Permit) return result;
  throw new Error(`refused: ${JSON.stringify(result)}`);
}

function refused(limiter: Limiter, request: TokenRequest): LimitRefusal {
  const result = admit(limiter, request);
  if (!(result instanceof Permit)) return result;
  throw new Error("admitted");
}

function admitMany(limiter: Limiter, request: TokenRequest, count: number): Permit[] {
  return Array.from({ length: count }, () => admitted(limiter, request));
}

const lookAt = (limiter: Limiter, { key, account }: Owners, nowMs = startMs) =>
  limiter.look(key, account, nowMs);

describe("owners without limits", () => {
  test("share one permit and leave nothing behind", () => {
    const owners = {
      key: keyWith(),
      account: accountWith({ budget: { nano: 1n, period: "day" } }),
    };
    const permits = admitMany(limiter, requestOf(owners, 1e9), 3);
    expect(new Set(permits).size).toBe(1);
    for (const permit of permits) limiter.release(permit, 5, startMs);
    expect(lookAt(limiter, owners)).toBeUndefined();
    expect(limiter.size).toBe(0);
  });

  test("are not remembered beside one that has them, and a forgotten one is gone", () => {
    for (let made = 0; made < 100; made++) {
      const owners = { key: keyWith(undefined, `key_${made}`), account: accountWith({ rpm: 100 }) };
      admitted(limiter, requestOf(owners));
    }
    expect(limiter.size).toBe(1);
    limiter.forget("acct_1");
    expect(limiter.size).toBe(0);
  });
});

describe.each(["key", "account"] as const)("the limits of the %s", (owner) => {
  const on = owner === "key" ? onKey : onAccount;
  const refusal = (
    kind: LimitRefusal["kind"],
    limit: number,
    needed: number,
    retryAfterMs?: number,
  ) => ({
    kind,
    owner,
    limit,
    needed,
    retryAfterMs,
  });

  test("on requests admit the burst, then say what is over and when to come back", () => {
    const owners = on({ rpm: 60 });
    admitMany(limiter, requestOf(owners), 60);
    expect(refused(limiter, requestOf(owners))).toEqual(refusal("requests", 60, 1, 1_000));
    admitted(limiter, requestOf(owners, 10, startMs + 1_000));
  });

  test("on tokens charge the estimate, and settle it down and up", () => {
    const owners = on({ tpm: 1_000 });
    const permit = admitted(limiter, requestOf(owners, 800));
    expect(refused(limiter, requestOf(owners, 300))).toEqual(refusal("tokens", 1_000, 300, 6_000));
    limiter.release(permit, 100, startMs);
    expect(lookAt(limiter, owners)?.tokens?.remaining).toBe(900);
    limiter.release(admitted(limiter, requestOf(owners, 100)), 1_900, startMs);
    expect(lookAt(limiter, owners)?.tokens).toEqual({
      limit: 1_000,
      remaining: 0,
      resetMs: 120_000,
    });
    expect(refused(limiter, requestOf(owners, 1)).retryAfterMs).toBe(60_060);
  });

  test("on concurrency admit as many at a time, and another when one has ended", () => {
    const owners = on({ concurrency: 2 });
    const [first] = admitMany(limiter, requestOf(owners), 2);
    expect(refused(limiter, requestOf(owners))).toEqual(refusal("concurrency", 2, 1, 1_000));
    if (first !== undefined) limiter.release(first, 10, startMs);
    admitted(limiter, requestOf(owners));
    refused(limiter, requestOf(owners));
  });

  test("refuse forever what can never be, and promise it no slot", () => {
    const owners = on({ rpm: 60, tpm: 1_000, concurrency: 1 });
    limiter.release(admitted(limiter, requestOf(owners, 1_000)), 1_000, startMs);
    for (let time = 0; time < 3; time++)
      expect(refused(limiter, requestOf(owners, 1_001))).toEqual(refusal("tokens", 1_000, 1_001));
    expect(refused(limiter, requestOf(owners, 1_000)).retryAfterMs).toBe(60_000);
    for (const [kind, limits] of [
      ["requests", { rpm: 0 }],
      ["concurrency", { concurrency: 0 }],
    ] as const)
      expect(refused(new Limiter(), requestOf(on(limits)))).toEqual(refusal(kind, 0, 1));
  });

  test("take a request of whoever is admitted, also if its tokens are refused", () => {
    const owners = on({ rpm: 2, tpm: 1_000, concurrency: 1 });
    expect(refused(limiter, requestOf(owners, 1_001)).kind).toBe("tokens");
    expect(refused(limiter, requestOf(owners, 1_001)).kind).toBe("tokens");
    expect(lookAt(limiter, owners)).toMatchObject({
      requests: { remaining: 0 },
      tokens: { remaining: 1_000 },
    });
    expect(refused(limiter, requestOf(owners, 1)).kind).toBe("requests");
  });

  test("count the tokens by the limits of the moment at which they are known", () => {
    const permit = limiter.enter(requestOf({ key: keyWith(), account: accountWith() }));
    if (!(permit instanceof Permit)) throw new Error("refused");
    const owners = on({ tpm: 1_000 });
    const taken = limiter.takeTokens(permit, requestOf(owners, 700));
    if (!(taken instanceof Permit)) throw new Error("refused");
    expect(lookAt(limiter, owners)?.tokens?.remaining).toBe(300);
    limiter.release(taken, 200, startMs);
    expect(lookAt(limiter, owners)?.tokens?.remaining).toBe(800);
  });

  test("count a permit that is released twice once", () => {
    const owners = on({ rpm: 60, tpm: 1_000, concurrency: 1 });
    const permit = admitted(limiter, requestOf(owners, 500));
    limiter.release(permit, 400, startMs);
    admitted(limiter, requestOf(owners, 500));
    limiter.release(permit, 400, startMs);
    expect(lookAt(limiter, owners)).toMatchObject({
      requests: { remaining: 58 },
      tokens: { remaining: 100 },
    });
    refused(limiter, requestOf(owners, 1));
  });

  test("may change while calls run: what is used and what runs is kept", () => {
    const permit = admitted(limiter, requestOf(on({ rpm: 60, tpm: 1_000 }), 400));
    const changed = on({ rpm: 100, tpm: 2_000, concurrency: 1 });
    expect(lookAt(limiter, changed)).toMatchObject({
      requests: { limit: 100, remaining: 99 },
      tokens: { limit: 2_000, remaining: 1_600 },
    });
    expect(refused(limiter, requestOf(changed)).kind).toBe("concurrency");
    limiter.release(permit, 100, startMs);
    expect(lookAt(limiter, changed)?.tokens?.remaining).toBe(1_900);
    admitted(limiter, requestOf(changed));
  });

  test("settle nothing on a limit that came after the call", () => {
    const permit = admitted(limiter, requestOf(on({ concurrency: 5 }), 500));
    const changed = on({ concurrency: 5, tpm: 1_000, rpm: 10 });
    admitted(limiter, requestOf(changed, 600));
    limiter.release(permit, 0, startMs);
    expect(lookAt(limiter, changed)?.tokens?.remaining).toBe(400);
  });

  test("that go and come back do not lose what still runs", () => {
    const limits = { concurrency: 1 };
    admitted(limiter, requestOf(on(limits)));
    limiter.release(admitted(limiter, requestOf({ key: keyWith(), account: accountWith() })), 1, 1);
    refused(limiter, requestOf(on({ ...limits })));
  });
});

describe("key and account together", () => {
  test("a request that the account refuses uses up nothing of its key, and the other way round", () => {
    for (const [key, account] of [
      [{ rpm: 100, tpm: 1_000, concurrency: 100 }, { rpm: 5 }],
      [{ rpm: 5 }, { rpm: 100, tpm: 1_000, concurrency: 100 }],
    ] as const) {
      const limiter = new Limiter();
      const owners = { key: keyWith(key), account: accountWith(account) };
      admitMany(limiter, requestOf(owners), 5);
      for (let time = 0; time < 200; time++) refused(limiter, requestOf(owners));
      const wide = { key: keyWith(key), account: accountWith() };
      const other = { key: keyWith(), account: accountWith(account) };
      const states = [lookAt(limiter, wide)?.requests, lookAt(limiter, other)?.requests];
      expect(states.map((state) => state?.remaining).toSorted()).toEqual([0, 95]);
      expect(lookAt(limiter, owners)?.tokens?.remaining).toBe(950);
      const roomy = key.rpm === 100 ? wide : other;
      expect(admitMany(limiter, requestOf(roomy, 0), 95)).toHaveLength(95);
    }
  });

  test("the longest wait is told, whoever's it is", () => {
    for (const [key, account, afterMs, told] of [
      [{ rpm: 1 }, { tpm: 20 }, 0, ["key", "requests", 60_000]],
      [{ tpm: 20 }, { rpm: 1 }, 0, ["account", "requests", 60_000]],
      [{ tpm: 20 }, { tpm: 25 }, 0, ["key", "tokens", 30_000]],
      [{ tpm: 25 }, { rpm: 2 }, 0, ["key", "tokens", 30_000]],
      [{ rpm: 1 }, { concurrency: 1 }, 59_500, ["account", "concurrency", 1_000]],
      [{ concurrency: 1 }, { rpm: 1 }, 59_500, ["key", "concurrency", 1_000]],
    ] as const) {
      const limiter = new Limiter();
      const owners = { key: keyWith(key), account: accountWith(account) };
      admitted(limiter, requestOf(owners, 15));
      const refusal = refused(limiter, requestOf(owners, 15, startMs + afterMs));
      expect([refusal.owner, refusal.kind, refusal.retryAfterMs]).toEqual([...told]);
    }
  });

  test("a limit that does not refuse now is not told for the slots it told before", () => {
    for (const rate of [{ rpm: 60 }, { tpm: 600 }]) {
      const limiter = new Limiter();
      const owners = onKey({ ...rate, concurrency: 61 });
      admitMany(limiter, requestOf(owners), 60);
      for (let told = 0; told < 10; told++) refused(limiter, requestOf(owners));
      admitted(limiter, requestOf(owners, 10, startMs + 1_000));
      const refusal = refused(limiter, requestOf(owners, 10, startMs + 2_000));
      expect(refusal).toMatchObject({ kind: "concurrency", retryAfterMs: 1_000 });
    }
    const limiter = new Limiter();
    const owners = onKey({ rpm: 60, concurrency: 60 });
    const [first] = admitMany(limiter, requestOf(owners), 60);
    for (let told = 0; told < 10; told++) refused(limiter, requestOf(owners, 1, startMs + 1_000));
    if (first !== undefined) limiter.release(first, 1, startMs);
    const refusal = refused(limiter, requestOf(owners, 1, startMs + 900));
    expect(refusal).toMatchObject({ kind: "requests", retryAfterMs: 100 });
  });

  test("what is never possible is told before any wait", () => {
    const owners = { key: keyWith({ rpm: 2, tpm: 105 }), account: accountWith({ tpm: 100 }) };
    admitted(limiter, requestOf(owners));
    expect(refused(limiter, requestOf(owners, 101))).toMatchObject({
      owner: "account",
      kind: "tokens",
      retryAfterMs: undefined,
    });
  });

  test("a caller who waits as told is admitted: for requests first, then for tokens", () => {
    const random = seededRandom(5);
    let refusals = 0;
    for (let round = 0; round < 2_000; round++) {
      const limits = (): Limits => ({ rpm: 1 + random(100), tpm: 100 + random(10_000) });
      const limiter = new Limiter();
      const owners = { key: keyWith(limits()), account: accountWith(limits()) };
      for (let turn = 0; turn < 100; turn++) {
        const request = requestOf(owners, 1 + random(100), startMs + turn * 10);
        const result = admit(limiter, request);
        if (result instanceof Permit) continue;
        refusals++;
        const nowMs = request.nowMs + (result.retryAfterMs ?? 0);
        const again = result.kind === "requests" ? admit(limiter, { ...request, nowMs }) : result;
        if (again instanceof Permit) break;
        expect(again.kind).toBe("tokens");
        const lastMs = (again === result ? request.nowMs : nowMs) + (again.retryAfterMs ?? 0);
        admitted(limiter, { ...request, nowMs: lastMs });
        break;
      }
    }
    expect(refusals).toBeGreaterThan(1_000);
  });

  test.each([600, 6_000])(
    "at %d per minute 70 refused callers get 70 slots, also with many keys of one account",
    (rpm) => {
      const account = accountWith({ rpm });
      const limits = { rpm: rpm * 10 };
      const request = (index: number) =>
        requestOf({ key: keyWith(limits, `key_${index % 7}`), account });
      for (let index = 0; index < rpm; index++) admitted(limiter, request(index));
      const told = Array.from({ length: 70 }, (_, index) => refused(limiter, request(index)));
      expect(told.map(({ retryAfterMs }) => retryAfterMs)).toEqual(
        told.map((_, index) => (60_000 / rpm) * (index + 1)),
      );
    },
  );

  test("slots of the account differ also for callers whose own key is the longer wait", () => {
    const account = accountWith({ rpm: 60 });
    const limits = { rpm: 30 };
    const request = (index: number) => requestOf({ key: keyWith(limits, `key_${index}`), account });
    for (let taken = 0; taken < 60; taken++) admitted(limiter, request(taken % 2));
    const told = [0, 1, 2, 3].map((index) => refused(limiter, request(index)));
    expect(told.map(({ owner, retryAfterMs }) => [owner, retryAfterMs])).toEqual([
      ["key", 2_000],
      ["key", 2_000],
      ["account", 3_000],
      ["account", 4_000],
    ]);
  });

  test("headers tell the tighter of the two, for requests and for tokens apart", () => {
    const owners = {
      key: keyWith({ rpm: 50, tpm: 9_000 }),
      account: accountWith({ rpm: 60, tpm: 5_000 }),
    };
    admitted(limiter, requestOf(owners, 1_000));
    expect(lookAt(limiter, owners)).toEqual({
      requests: { limit: 50, remaining: 49, resetMs: 1_200 },
      tokens: { limit: 5_000, remaining: 4_000, resetMs: 12_000 },
    });
    const onlyTokens = { key: keyWith({ tpm: 9_000 }), account: accountWith({ concurrency: 1 }) };
    expect(lookAt(limiter, onlyTokens)).toEqual({
      requests: undefined,
      tokens: { limit: 9_000, remaining: 8_000, resetMs: 6_667 },
    });
    expect(lookAt(limiter, onKey({ concurrency: 3 }))).toBeUndefined();
  });

  test("of two that have as much left, headers tell the one that takes longer", () => {
    for (const [rpm, other] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const limiter = new Limiter();
      const owners = { key: keyWith({ rpm }), account: accountWith({ rpm: other }) };
      const own = rpm === 2 ? owners.key : owners.account;
      const unlimitedKey = { key: keyWith(), account: owners.account };
      const unlimitedAccount = { key: owners.key, account: accountWith() };
      admitted(limiter, requestOf(own.kind === "key" ? unlimitedAccount : unlimitedKey));
      admitted(limiter, requestOf(owners, 10, startMs + 1_000));
      const nowMs = startMs + 20_000;
      expect(lookAt(limiter, owners, nowMs)?.requests).toEqual({
        limit: 1,
        remaining: 0,
        resetMs: 41_000,
      });
    }
  });
});
