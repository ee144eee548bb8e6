import { beforeEach, describe, expect, jest, test } from "bun:test";
import {
  Call,
  codes,
  failure,
  left,
  modelOf,
  one,
  ranked,
  Served,
} from "../../test/setup/router-home.ts";
import { ApiError } from "../base/errors.ts";
import { Router } from "./router.ts";

let served: Served;
beforeEach(() => {
  served = new Served();
});

describe("a failed call", () => {
  test("asks each target once before any is asked again", async () => {
    const served = new Served({ random: Math.random });
    for (const name of ["a", "b", "c"]) served.answers[name] = [failure("failed"), "ok"];
    expect(await served.call(modelOf({}, {}, {}))).toBeString();
    expect(served.asked.slice(0, 3).toSorted()).toEqual(["a", "b", "c"]);
    expect(served.asked.length).toBe(4);
    expect(served.pauses.length).toBe(1);
  });

  for (const [retries, asked] of [
    [0, "a"],
    [1, "aa"],
    [2, "aaa"],
    [3, "aaaa"],
  ] as const)
    test(`is made again at most ${retries} times at the same target`, async () => {
      const served = new Served({ retries });
      served.answers["a"] = [failure("failed")];
      expect(await served.call(one)).toMatchObject({ code: "upstream_error" });
      expect(served.takeAsked()).toBe(asked);
    });

  test("waits longer before each time, give or take a half", async () => {
    for (const [chance, expected] of [
      [0, [50, 100, 200]],
      [0.5, [100 * 1.05, 200 * 1.05, 400 * 1.05]],
    ] as const) {
      const served = new Served({ retries: 3, random: () => chance });
      served.answers["a"] = [failure("unreachable")];
      await served.call(one);
      expect(served.pauses.map(Math.round)).toEqual([...expected]);
    }
  });

  for (const reason of ["auth", "quota", "missing", "timeout"] as const)
    test(`is not made again where that is of no use: ${reason}`, async () => {
      served.answers["a"] = [failure(reason)];
      expect(await served.call(one)).toMatchObject({ code: codes[reason] });
      expect([served.takeAsked(), served.pauses]).toEqual(["a", []]);
      // Another target may serve it all the same.
      expect(await new Served().call(ranked)).toBe("a");
      const other = new Served();
      other.answers["a"] = [failure(reason)];
      expect(await other.call(ranked)).toBe("b");
    });

  test("is not retried, and gets no Retry-After, if it exceeds the limit by itself", async () => {
    const overLimit = new ApiError({
      code: "upstream_rate_limited",
      message: "words",
      retryAfterMs: 60_000,
      upstream: { reason: "limited", delayMs: 60_000, isReply: true },
    });
    const served = new Served();
    served.answers["a"] = [overLimit];
    expect(await served.call(one)).toMatchObject({
      code: "upstream_rate_limited",
      retryable: false,
      retryAfterMs: undefined,
    });
    expect([served.takeAsked(), served.pauses]).toEqual(["a", []]);
    expect(served.stateOf("a")).toBe("closed");
    // Another target may take it; one that is limited may take it later.
    expect(await served.call(ranked)).toBe("b");
    served.answers["b"] = [failure("limited", 50_000)];
    expect(await served.call(ranked)).toMatchObject({ retryable: true, retryAfterMs: 50_000 });
  });

  test("that was refused for what it asks is neither made again nor carried on", async () => {
    served.answers["a"] = [failure("refused")];
    expect(await served.call(ranked)).toMatchObject({ code: "upstream_rejected" });
    expect(served.takeAsked()).toBe("a");
    // The target did its work.
    for (let call = 0; call < 20; call++) await served.call(ranked);
    expect(served.stateOf("a")).toBe("closed");
    expect(served.router.health()[0]).toMatchObject({ requests: 21, failures: 0 });
  });

  test("goes on at another target at once, and with a little jitter where many were turned away", async () => {
    for (const [reason, pauses] of [
      ["failed", []],
      ["limited", []],
      ["overloaded", [25]],
    ] as const) {
      const served = new Served();
      served.answers["a"] = [failure(reason)];
      expect(await served.call(ranked)).toBe("b");
      expect(served.pauses).toEqual([...pauses]);
    }
  });

  test("is made again only within the budget of its target", async () => {
    const served = new Served({ hasBreakers: false });
    served.answers["a"] = [failure("failed")];
    const calls = 200;
    for (let call = 0; call < calls; call++) await served.call(one);
    const repeats = served.asked.length - calls;
    expect(repeats).toBeGreaterThan(20);
    expect(repeats).toBeLessThanOrEqual(served.asked.length / 5 + 3);
  });

  test("shares that budget with all who wait at the same time", async () => {
    const pausing = Promise.withResolvers<void>();
    const served: Served = new Served({
      hasBreakers: false,
      sleep: async (ms) => {
        await pausing.promise;
        served.nowMs += ms;
      },
    });
    served.answers["a"] = [failure("failed")];
    const calls = Array.from({ length: 100 }, () => served.call(one));
    await Bun.sleep(0);
    pausing.resolve();
    await Promise.all(calls);
    expect(served.asked.length).toBeLessThanOrEqual(100 + 100 / 4 + 3);
  });

  test("has its attempts told in order, each with what became of it", async () => {
    const served = new Served({ retries: 1 });
    const answered = new ApiError({
      code: "upstream_error",
      message: "failed",
      detail: "a returned 500, oddly",
      upstream: { reason: "failed", status: 500 },
    });
    served.answers["a"] = [answered, "ok"];
    served.answers["b"] = [failure("auth", undefined, "b returned 401")];
    served.onAsk = () => (served.nowMs += 40);
    const startedMs = served.nowMs;
    expect(await served.call(ranked)).toBe("a");
    const [pauseMs = 0] = served.pauses;
    expect(served.attempt?.failures).toEqual([
      {
        provider: "a",
        model: "m",
        code: "upstream_error",
        status: 500,
        detail: "a returned 500, oddly",
        startedMs,
        endedMs: startedMs + 40,
      },
      {
        provider: "b",
        model: "m",
        code: "upstream_unavailable",
        status: undefined,
        detail: "b returned 401",
        startedMs: startedMs + 40,
        endedMs: startedMs + 80,
      },
    ]);
    expect(served.attempt).toMatchObject({
      hasFailed: false,
      startedMs: startedMs + 80 + pauseMs,
      target: { provider: "a" },
    });
  });

  test("that nobody served has the last attempt's failure told too, also of a single target", async () => {
    const served = new Served({ retries: 0 });
    served.answers["a"] = [failure("timeout", undefined, "silent")];
    await served.call(one);
    const first = { provider: "a", code: "upstream_timeout", detail: "silent" };
    expect(served.attempt?.failures).toMatchObject([first]);
    served.answers["b"] = [failure("limited")];
    await served.call(ranked);
    expect(served.attempt?.failures).toMatchObject([
      first,
      { provider: "b", code: "upstream_rate_limited", detail: undefined },
    ]);
  });
});

describe("a target's own word on when to come back", () => {
  for (const hasBreakers of [true, false])
    describe(`with breakers ${hasBreakers ? "on" : "off"}`, () => {
      for (const reason of ["limited", "overloaded"] as const)
        test(`is kept where it is short: ${reason}`, async () => {
          for (const delayMs of [300, 2_000]) {
            const served = new Served({ hasBreakers });
            served.answers["a"] = [failure(reason, delayMs), "ok"];
            expect(await served.call(one)).toBe("a");
            expect(served.takeAsked()).toBe("aa");
            expect(served.pauses.length).toBe(1);
            expect(served.pauses[0]).toBeGreaterThanOrEqual(delayMs);
            expect(served.pauses[0]).toBeLessThanOrEqual(delayMs * 1.1);
          }
        });

      test("ends the call at once where it is long: the caller can wait better", async () => {
        for (const delayMs of [2_001, 60_000]) {
          const served = new Served({ hasBreakers });
          served.answers["a"] = [failure("limited", delayMs), "ok"];
          expect(await served.call(one)).toMatchObject({ code: "upstream_rate_limited" });
          expect([served.takeAsked(), served.pauses]).toEqual(["a", []]);
        }
      });
    });

  test("also counts for calls that have not asked it", async () => {
    served.answers["a"] = [failure("limited", 60_000), "ok"];
    await served.call(one);
    served.nowMs += 59_000;
    expect(await served.call(one)).toBe("a");
    expect(served.asked.length).toBe(2);
    expect(served.pauses[0]).toBeGreaterThanOrEqual(1_000);
  });

  test("is heard again after a pause: who waited does not break into a new rest", async () => {
    served.answers["a"] = [failure("limited", 1_000), failure("limited", 30_000), "ok"];
    expect(await served.call(one)).toMatchObject({ code: "upstream_rate_limited" });
    expect(served.takeAsked()).toBe("aa");
    served.nowMs += 29_500;
    served.onPause = () => {
      served.onPause = undefined;
      served.nowMs -= 200;
    };
    expect(await served.call(one)).toBe("a");
    // The clock had not reached the moment: it was waited for again.
    expect(served.pauses.length).toBe(3);
  });
});

describe("within its time", () => {
  test("no attempt begins later than half a minute after the first", async () => {
    const served = new Served({ retries: 10 });
    served.onAsk = () => {
      served.nowMs += 9_000;
    };
    served.answers["a"] = [failure("failed")];
    await served.call(one);
    // At 0, 9, 18 and 27 s, and the pauses between.
    expect(served.asked.length).toBe(4);
    served.takeAsked();
    served.router.reset();
    await served.call(ranked);
    expect(served.asked.length).toBeLessThanOrEqual(5);
  });

  test("a call that is over in a pause asks nobody any more", async () => {
    const call = new Call();
    served.answers["a"] = [failure("failed")];
    served.onPause = () => call.end();
    expect(await served.call(one, call)).toBe(left);
    expect(served.takeAsked()).toBe("a");
  });

  test("a pause ends with the call, though its time has not come", async () => {
    // Nothing moves these: only the end of the call can end the pause.
    jest.useFakeTimers();
    try {
      const router = new Router({ findProvider: (name) => ({ name }), retries: 1 });
      const call = new Call();
      const answer = router
        .serve(one, call, async () => {
          throw failure("limited", 1_900);
        })
        .catch((error: unknown) => error);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(jest.getTimerCount()).toBe(1);
      call.end();
      expect(await answer).toBe(left);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test("the time of an attempt begins after the pause, and cannot run out in it", async () => {
    const call = new Call();
    served.answers["a"] = [failure("limited", 2_000), "ok"];
    let begunInPause = 0;
    served.onPause = () => {
      begunInPause = call.begun;
      // As if the limit of an attempt had woken it before its end.
      served.nowMs -= 1_000;
      served.onPause = undefined;
    };
    expect(await served.call(one, call)).toBe("a");
    expect(served.pauses.length).toBe(2);
    expect(call.begun).toBeGreaterThan(begunInPause);
  });

  test("somebody else's failure is not the target's: a call that is over counts for nothing", async () => {
    for (let at = 0; at < 20; at++) {
      const call = new Call();
      served.answers["a"] = [failure("failed")];
      served.onAsk = () => call.end();
      await served.call(one, call);
    }
    expect(served.router.health()[0]).toMatchObject({ state: "closed", requests: 0, failures: 0 });
  });
});
