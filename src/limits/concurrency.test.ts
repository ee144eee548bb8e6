import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../test/fixtures/media/fixture.ts";
import type { Limits } from "../call/limits.ts";
import { Limiter } from "./limiter.ts";
import { Permit } from "./permit.ts";
import { formatReset, type LimitedOwner } from "./request-limiter.ts";

const startMs = 1_794_000_000_000;

const keyWith = (limits?: Limits, id = "key_1"): LimitedOwner => ({ id, kind: "key", limits });
const accountWith = (limits?: Limits): LimitedOwner => ({ id: "acct_1", kind: "account", limits });

describe("concurrency", () => {
  test("tells refused callers one turn after another, ten seconds at most, and begins anew later", () => {
    const limiter = new Limiter();
    const owners = { key: keyWith({ concurrency: 1 }), account: accountWith() };
    expect(limiter.enter({ ...owners, nowMs: startMs })).toBeInstanceOf(Permit);
    const tell = (nowMs: number) => {
      const result = limiter.enter({ ...owners, nowMs });
      return result instanceof Permit ? "admitted" : result.retryAfterMs;
    };
    for (let index = 0; index < 200; index++)
      expect(tell(startMs)).toBe(Math.min(1_000 + index * 100, 10_000));
    expect(tell(startMs + 9_000)).toBe(1_100);
    expect(tell(startMs + 20_000)).toBe(1_000);
  });

  test("is never above the limit and back at none, however calls begin and end", () => {
    const random = seededRandom(6);
    const limiter = new Limiter();
    const account = accountWith({ concurrency: 12 });
    const keys = [3, 5, 7, 9].map((concurrency, index) => keyWith({ concurrency }, `key_${index}`));
    const open: { permit: Permit; key: LimitedOwner }[] = [];
    const runningOf = (key: LimitedOwner) => open.filter((call) => call.key === key).length;
    let refusals = 0;
    for (let step = 0; step < 20_000; step++) {
      const nowMs = startMs + step;
      const key = keys[random(keys.length)] ?? keyWith();
      if (random(3) > 0) {
        const isFree = runningOf(key) < (key.limits?.concurrency ?? 0) && open.length < 12;
        const result = limiter.enter({ key, account, nowMs });
        expect(result instanceof Permit).toBe(isFree);
        if (result instanceof Permit) open.push({ permit: result, key });
        else refusals++;
      } else if (open.length > 0) {
        const [call] = open.splice(random(open.length), 1);
        const end = random(3);
        if (call === undefined) continue;
        for (let time = 0; time <= end; time++) limiter.release(call.permit, 1, nowMs);
      }
    }
    expect(refusals).toBeGreaterThan(5_000);
    for (const { permit } of open) limiter.release(permit, 1, startMs);
    const freeFor = (key: LimitedOwner) => {
      let count = 0;
      while (limiter.enter({ key, account, nowMs: startMs }) instanceof Permit) count++;
      return count;
    };
    // Nothing runs: the limits are free again to the last place, 3 + 5 and what 12 leaves of 7.
    expect([...keys, keyWith()].map(freeFor)).toEqual([3, 5, 4, 0, 0]);
  });
});

test("a request without tokens, as one with images alone, waits for no debt of tokens", () => {
  const limiter = new Limiter();
  const owners = { key: keyWith({ tpm: 3_000 }), account: accountWith(), nowMs: startMs };
  const first = limiter.enter(owners);
  if (!(first instanceof Permit)) throw new Error("refused");
  const taken = limiter.takeTokens(first, { ...owners, tokens: 100 });
  if (!(taken instanceof Permit)) throw new Error("refused");
  limiter.release(taken, 8_000, startMs);
  const next = limiter.enter(owners);
  if (!(next instanceof Permit)) throw new Error("refused");
  expect(limiter.takeTokens(next, { ...owners, tokens: 0 })).toBe(next);
  expect(limiter.takeTokens(next, { ...owners, tokens: 1 })).toMatchObject({ kind: "tokens" });
});

test("durations are told as clients read them, rounded up", () => {
  for (const [ms, told] of [
    [0, "0ms"],
    [0.2, "1ms"],
    [12, "12ms"],
    [999, "999ms"],
    [999.5, "1s"],
    [1_001, "2s"],
    [6_000, "6s"],
    [59_001, "1m0s"],
    [90_000, "1m30s"],
    [3_599_001, "1h0m0s"],
    [3_723_000, "1h2m3s"],
  ] as const)
    expect(formatReset(ms)).toBe(told);
});
