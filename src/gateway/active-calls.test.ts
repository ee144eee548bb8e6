import { describe, expect, test } from "bun:test";
import { callLimits as limits } from "../../test/setup/call-limits.ts";
import { monotonicMs } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { ActiveCall, ActiveCalls, isCallerLeft } from "./active-calls.ts";
import type { TimedModel } from "./call-limits.ts";

const chat = { endpoint: "chat" } as const;

/** What the call was ended for, or undefined while it runs. */
function reasonOf({ signal }: ActiveCall): string | undefined {
  if (!signal.aborted) return undefined;
  return signal.reason instanceof ApiError ? signal.reason.code : "not an ApiError";
}

const aborted = ({ signal }: ActiveCall) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

/** Within which times the target was looked at, and found to be like this. */
function looksAt(call: ActiveCall, found?: string): readonly number[] {
  const looks: number[] = [];
  call.onDial(async (withinMs) => {
    looks.push(withinMs);
    return found;
  });
  return looks;
}

describe("a call", () => {
  const begun = (call: ActiveCall) => {
    call.waitForReader(10);
    call.waitForUpstream(20);
  };
  const commenting = (call: ActiveCall) => {
    for (let nowMs = 1_000; nowMs < limits.firstByteMs; nowMs += 100_000) {
      call.waitForReader(nowMs, true);
      call.waitForUpstream(nowMs);
    }
  };
  test.each([
    ["does not begin ends at the first-byte limit", () => {}, limits.firstByteMs],
    ["has begun ends after the idle limit of silence", begun, 20 + limits.idleMs],
    ["sent comments alone ends at the first-byte limit", commenting, limits.firstByteMs],
  ] as const)("whose upstream %s, and not a moment before", (_, live, endMs) => {
    const call = new ActiveCall(limits, 0);
    live(call);
    call.tick(endMs - 1);
    expect(reasonOf(call)).toBeUndefined();
    call.tick(endMs);
    expect(reasonOf(call)).toBe("upstream_timeout");
  });

  test("does not blame the upstream for the time in which the caller did not read", () => {
    const call = new ActiveCall({ ...limits, idleMs: 10 }, 0);
    call.waitForReader(5);
    call.tick(5 + limits.readerMs - 1);
    expect(reasonOf(call)).toBeUndefined();
    call.waitForUpstream(limits.readerMs);
    call.tick(limits.readerMs + 9);
    expect(reasonOf(call)).toBeUndefined();
  });

  test("whose caller has not read for the reader's limit has been left", () => {
    const call = new ActiveCall(limits, 0);
    expect(call.isWaitingForReader).toBe(false);
    call.waitForReader(7);
    expect(call.isWaitingForReader).toBe(true);
    call.tick(7 + limits.readerMs);
    expect(call.signal.reason).toMatchObject({ message: "The caller disconnected." });
  });

  test("ends at the longest time a call may take, however lively it is", () => {
    const call = new ActiveCall(limits, 0);
    for (let nowMs = 0; nowMs < limits.maxCallMs; nowMs += 1_000) {
      call.waitForUpstream(nowMs);
      call.waitForReader(nowMs + 100);
      call.waitForUpstream(nowMs + 200);
      call.tick(nowMs + 200);
    }
    expect(reasonOf(call)).toBeUndefined();
    call.tick(limits.maxCallMs);
    expect(reasonOf(call)).toBe("upstream_timeout");
  });

  for (const [when, isReadAtEnd] of [
    ["when its time is up", false],
    ["for most of its time, and reads when it is up", true],
  ] as const)
    test(`whose reader is behind ${when} has been left`, () => {
      const call = new ActiveCall({ ...limits, readerMs: limits.maxCallMs }, 0);
      call.waitForReader(limits.maxCallMs / 2 - 1);
      if (isReadAtEnd) call.waitForUpstream(limits.maxCallMs - 1);
      call.tick(limits.maxCallMs);
      expect(call.reason !== undefined && isCallerLeft(call.reason)).toBe(true);
    });

  test("keeps the first reason it was ended for", () => {
    const call = new ActiveCall(limits, 0);
    call.abort(new ApiError({ code: "shutting_down", message: "first" }));
    call.tick(limits.maxCallMs);
    expect(reasonOf(call)).toBe("shutting_down");
  });

  test("speaks once for every keep-alive of silence, and not while its reader is behind", () => {
    const call = new ActiveCall(limits, 0);
    const spokenAtMs: number[] = [];
    let nowMs = 0;
    call.onSilence = () => spokenAtMs.push(nowMs);
    const runTo = (endMs: number) => {
      for (; nowMs <= endMs; nowMs += 1_000) call.tick(nowMs);
    };
    runTo(31_000);
    expect(spokenAtMs).toEqual([15_000, 30_000]);
    call.waitForReader(nowMs);
    runTo(60_000);
    expect(spokenAtMs.length).toBe(2);
    call.waitForUpstream(nowMs);
    runTo(75_000);
    expect(spokenAtMs.length).toBe(2);
    runTo(76_000);
    expect(spokenAtMs.at(-1)).toBe(76_000);
  });
});

describe("an attempt", () => {
  /** Attempts go by the real clock, so a call of a test begins on it. */
  const begin = () => {
    const startMs = monotonicMs();
    const call = new ActiveCall(limits, startMs);
    call.beginAttempt();
    return { call, startMs };
  };
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };

  test("that is silent for the first-byte limit fails, and the call goes on with another", () => {
    const { call, startMs } = begin();
    const first = call.signal;
    call.tick(startMs + limits.firstByteMs);
    expect(first.aborted).toBe(true);
    expect(first.reason).toMatchObject({
      code: "upstream_timeout",
      upstream: { reason: "timeout" },
    });
    expect([call.isOver, call.reason]).toEqual([false, undefined]);
    call.beginAttempt();
    expect(call.signal).not.toBe(first);
    expect(call.signal.aborted).toBe(false);
  });

  test("has the first-byte limit for itself, whatever those before it took", () => {
    const againMs = monotonicMs();
    const lasting = { ...limits, maxCallMs: 10 * limits.maxCallMs };
    const call = new ActiveCall(lasting, againMs - limits.firstByteMs + 1);
    call.beginAttempt();
    call.beginAttempt();
    call.tick(againMs + limits.connectMs);
    expect(call.signal.aborted).toBe(false);
    call.tick(monotonicMs() + limits.firstByteMs);
    expect([call.signal.aborted, call.isOver]).toEqual([true, false]);
  });

  test("of a call that is over gets no new signal: whoever begins one hears the end", () => {
    const { call } = begin();
    const reason = new ApiError({ code: "shutting_down", message: "over" });
    call.abort(reason);
    call.beginAttempt();
    expect(call.signal.aborted).toBe(true);
    expect([call.isOver, call.signal.reason]).toEqual([true, reason]);
  });

  test("ends with its call: the longest time counts for all attempts together", () => {
    const { call, startMs } = begin();
    for (let atMs = 100_000; atMs < limits.maxCallMs; atMs += 100_000) {
      call.tick(startMs + atMs);
      call.beginAttempt();
    }
    expect(call.isOver).toBe(false);
    const last = call.signal;
    call.tick(startMs + limits.maxCallMs);
    expect([call.isOver, last.aborted]).toEqual([true, true]);
    expect(call.reason).toMatchObject({ code: "upstream_timeout" });
  });

  test("without an answer at the connect limit has its target looked at, once", async () => {
    const { call, startMs } = begin();
    const looks = looksAt(call);
    call.tick(startMs + limits.connectMs - 1);
    expect(looks).toEqual([]);
    call.tick(startMs + limits.connectMs);
    call.tick(startMs + limits.connectMs + 1_000);
    await settle();
    expect(looks).toEqual([limits.connectMs]);
    // It is there, and may think as long as it likes.
    expect(call.signal.aborted).toBe(false);
  });

  test("whose target cannot be reached fails, and the call goes on", async () => {
    const { call, startMs } = begin();
    call.onDial(async () => "no connection");
    call.tick(startMs + limits.connectMs);
    await settle();
    expect(call.signal.reason).toMatchObject({
      code: "upstream_timeout",
      detail: "no connection",
      upstream: { reason: "unreachable" },
    });
    expect(call.isOver).toBe(false);
  });

  test("that was answered is not looked at", async () => {
    const { call, startMs } = begin();
    const looks = looksAt(call, "no connection");
    call.heard();
    call.tick(startMs + limits.connectMs);
    await settle();
    expect([looks, call.signal.aborted]).toEqual([[], false]);
  });

  test("is not failed by what was found of the target before it", async () => {
    const { call, startMs } = begin();
    const found = Promise.withResolvers<string | undefined>();
    call.onDial(() => found.promise);
    call.tick(startMs + limits.connectMs);
    call.tick(startMs + limits.firstByteMs);
    call.beginAttempt();
    found.resolve("no connection");
    await settle();
    expect(call.signal.aborted).toBe(false);
  });

  test("is looked at for its own target only: the one before is no concern of it", async () => {
    const { call } = begin();
    const looks = looksAt(call, "no connection");
    call.beginAttempt();
    call.tick(monotonicMs() + limits.connectMs);
    await settle();
    expect([looks, call.signal.aborted]).toEqual([[], false]);
  });

  test("that has begun to answer is not failed by a late look", async () => {
    const { call, startMs } = begin();
    const found = Promise.withResolvers<string | undefined>();
    call.onDial(() => found.promise);
    call.tick(startMs + limits.connectMs);
    call.waitForReader(startMs + limits.connectMs);
    found.resolve("no connection");
    await settle();
    expect(call.signal.aborted).toBe(false);
  });
});

describe("limits of a model's own", () => {
  const usual = { ...limits, readerMs: 10_000_000, keepAliveMs: 10_000_000, connectMs: 10_000_000 };
  /** After how many seconds a call is failed or ended, looked at every quarter of a second. */
  const endS = (model: TimedModel, hasBegun = false) => {
    const calls = new ActiveCalls(usual, () => 0);
    const call = calls.begin(model);
    if (hasBegun) {
      call.waitForReader(0);
      call.waitForUpstream(0);
    }
    for (let nowMs = 0; nowMs <= usual.maxCallMs; nowMs += 250) {
      call.tick(nowMs);
      if (call.signal.aborted) return nowMs / 1000;
    }
    return undefined;
  };

  test("the first byte: shorter for vectors and sounds, and as the model says", () => {
    expect(endS({ endpoint: "chat" })).toBe(600);
    expect(endS({ endpoint: "embeddings" })).toBe(60);
    expect(endS({ endpoint: "speech" })).toBe(120);
    expect(endS({ endpoint: "chat", timeouts: { firstByte: 2.5 } })).toBe(2.5);
    expect(endS({ endpoint: "embeddings", timeouts: { firstByte: 300 } })).toBe(300);
  });

  test("silence within an answer, and the whole call", () => {
    expect(endS({ endpoint: "chat" }, true)).toBe(120);
    expect(endS({ endpoint: "chat", timeouts: { idle: 3 } }, true)).toBe(3);
    expect(endS({ endpoint: "chat", timeouts: { idle: 800 } }, true)).toBe(800);
    expect(endS({ endpoint: "chat", timeouts: { total: 4 } })).toBe(4);
    expect(endS({ endpoint: "chat", timeouts: { total: 4 } }, true)).toBe(4);
  });

  test("a target that says nothing leaves half of the whole to the others, where there are any", () => {
    const timeouts = { total: 4 };
    expect(endS({ endpoint: "chat", timeouts, routes: [1] })).toBe(4);
    expect(endS({ endpoint: "chat", timeouts, routes: [1, 2] })).toBe(2);
    expect(endS({ endpoint: "chat", timeouts, routes: [1, 2] }, true)).toBe(4);
    const sooner = { total: 4, firstByte: 1 };
    expect(endS({ endpoint: "chat", timeouts: sooner, routes: [1, 2] })).toBe(1);
  });

  test("a connection", async () => {
    const calls = new ActiveCalls(usual, () => 0);
    const call = calls.begin({ endpoint: "chat", timeouts: { connect: 2 } });
    const looks = looksAt(call);
    call.tick(1_999);
    expect(looks).toEqual([]);
    call.tick(2_000);
    expect(looks).toEqual([2_000]);
  });

  test("are those of the model that is asked, not of the one before", () => {
    const calls = new ActiveCalls(usual, () => 0);
    const quick = { endpoint: "chat", timeouts: { firstByte: 1 } } as const;
    const models: readonly TimedModel[] = [quick, { endpoint: "chat" }, quick];
    const ended = models.map((model) => {
      const call = calls.begin(model);
      call.tick(1_000);
      return call.signal.aborted;
    });
    expect(ended).toEqual([true, false, true]);
  });
});

describe("all calls", () => {
  test("are watched by one clock", async () => {
    let nowMs = 0;
    const calls = new ActiveCalls({ ...limits, keepAliveMs: 1 }, () => nowMs);
    const [one, other] = [calls.begin(chat), calls.begin(chat)];
    const ended = Promise.all([aborted(one), aborted(other)]);
    nowMs = limits.firstByteMs;
    await ended;
    expect([reasonOf(one), reasonOf(other)]).toEqual(["upstream_timeout", "upstream_timeout"]);
    for (const call of [one, other]) calls.end(call);
    await calls.drain(1);
  });

  test("are counted until they end", () => {
    const calls = new ActiveCalls(limits, () => 0);
    const call = calls.begin(chat);
    calls.begin(chat);
    expect(calls.size).toBe(2);
    calls.end(call);
    calls.end(call);
    expect(calls.size).toBe(1);
  });

  test("a drain without calls is over at once", async () => {
    await new ActiveCalls(limits, () => 0).drain(limits.maxCallMs);
  });

  test("a drain waits for the last call, and does not end those that finish in time", async () => {
    const calls = new ActiveCalls(limits, () => 0);
    const [one, other] = [calls.begin(chat), calls.begin(chat)];
    let isOver = false;
    const drained = calls.drain(limits.maxCallMs).then(() => {
      isOver = true;
    });
    calls.end(one);
    await Promise.resolve();
    expect(isOver).toBe(false);
    calls.end(other);
    await drained;
    expect([reasonOf(one), reasonOf(other)]).toEqual([undefined, undefined]);
  });

  test("a drain ends what outlasts its time, and waits until it has ended", async () => {
    const calls = new ActiveCalls(limits, () => 0);
    const call = calls.begin(chat);
    const drained = calls.drain(1).then(() => "drained");
    await aborted(call);
    expect(reasonOf(call)).toBe("shutting_down");
    expect(calls.size).toBe(1);
    calls.end(call);
    expect(await drained).toBe("drained");
  });

  test("a drain does not wait for calls that a database keeps from ending", async () => {
    const calls = new ActiveCalls(limits, () => 0);
    const call = calls.begin(chat);
    await calls.drain(1, 1);
    expect(reasonOf(call)).toBe("shutting_down");
    expect(calls.size).toBe(1);
  });
});
