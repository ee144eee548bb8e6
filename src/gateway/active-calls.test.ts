import { describe, expect, test } from "bun:test";
import { ApiError } from "../base/errors.ts";
import { ActiveCall, ActiveCalls } from "./active-calls.ts";

const limits = {
  connectMs: 10_000,
  maxCallMs: 900_000,
  firstByteMs: 600_000,
  idleMs: 120_000,
  readerMs: 60_000,
  keepAliveMs: 15_000,
};

const chat = { endpoint: "chat" } as const;

/** What the call was ended for, or undefined while it runs. */
function reasonOf({ signal }: ActiveCall): string | undefined {
  if (!signal.aborted) return undefined;
  return signal.reason instanceof ApiError ? signal.reason.code : "not an ApiError";
}

const aborted = ({ signal }: ActiveCall) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

describe("a call", () => {
  test("whose upstream does not begin ends at the first-byte limit, and not a moment before", () => {
    const call = new ActiveCall(limits, 1_000);
    call.tick(1_000 + limits.firstByteMs - 1);
    expect(reasonOf(call)).toBeUndefined();
    call.tick(1_000 + limits.firstByteMs);
    expect(reasonOf(call)).toBe("upstream_timeout");
  });

  test("that has begun ends when the upstream is silent for the idle limit", () => {
    const call = new ActiveCall(limits, 0);
    call.waitForReader(10);
    call.waitForUpstream(20);
    call.tick(20 + limits.idleMs - 1);
    expect(reasonOf(call)).toBeUndefined();
    call.tick(20 + limits.idleMs);
    expect(reasonOf(call)).toBe("upstream_timeout");
  });

  test("that has sent no more than comments still has the first-byte limit, from its start", () => {
    const call = new ActiveCall(limits, 0);
    for (let nowMs = 1_000; nowMs < limits.firstByteMs; nowMs += 100_000) {
      call.waitForReader(nowMs, true);
      call.waitForUpstream(nowMs);
    }
    call.tick(limits.firstByteMs - 1);
    expect(reasonOf(call)).toBeUndefined();
    call.tick(limits.firstByteMs);
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
    expect(call.signal.reason).toMatchObject({ message: "The caller has left." });
  });

  test("ends at the longest time a call may take, however lively it is", () => {
    const call = new ActiveCall(limits, 0);
    for (let nowMs = 0; nowMs < limits.maxCallMs; nowMs += 1_000) {
      call.waitForUpstream(nowMs);
      call.waitForReader(nowMs);
      call.tick(nowMs);
    }
    expect(reasonOf(call)).toBeUndefined();
    call.tick(limits.maxCallMs);
    expect(reasonOf(call)).toBe("upstream_timeout");
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
});
