import { describe, expect, jest, setSystemTime, test } from "bun:test";
import { callLimits as limits } from "../../test/setup/call-limits.ts";
import { monotonicMs } from "../base/clock.ts";
import { ActiveCall, ActiveCalls, callerLeft } from "./active-calls.ts";

for (const [keepAliveMs, tickMs] of [
  [400, 100],
  [4, 10],
  [60_000, 250],
] as const)
  test(`where the shortest limit is ${keepAliveMs} ms, calls are looked at every ${tickMs} ms`, async () => {
    jest.useFakeTimers();
    try {
      let looks = 0;
      const calls = new ActiveCalls({ ...limits, keepAliveMs }, () => {
        looks++;
        return 0;
      });
      jest.advanceTimersByTime(tickMs - 1);
      expect(looks).toBe(0);
      jest.advanceTimersByTime(1);
      expect(looks).toBe(1);
      jest.advanceTimersByTime(3 * tickMs);
      expect(looks).toBe(4);
      await calls.drain(1);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

test("the target of a later attempt is not looked at before its own connect limit", () => {
  const againMs = monotonicMs();
  const call = new ActiveCall(limits, againMs - limits.connectMs);
  call.beginAttempt();
  call.beginAttempt();
  let looks = 0;
  call.onDial(async () => {
    looks++;
    return undefined;
  });
  call.tick(againMs + limits.connectMs - 1);
  expect(looks).toBe(0);
  call.tick(monotonicMs() + limits.connectMs);
  expect(looks).toBe(1);
});

test("a step of the wall clock ends no call", async () => {
  const calls = new ActiveCalls(limits);
  const call = calls.begin({ endpoint: "chat" });
  const looked = Promise.withResolvers<void>();
  // Looked at from the inside: the ticker has come round when the call counts as long.
  const tick = call.tick.bind(call);
  call.tick = (nowMs) => {
    tick(nowMs);
    looked.resolve();
  };
  setSystemTime(new Date(Date.now() + 1_000_000));
  try {
    await looked.promise;
    expect(call.isOver).toBe(false);
  } finally {
    setSystemTime();
    calls.end(call);
    await calls.drain(0);
  }
});

const reason = callerLeft("the caller closed the connection");

function beginHidden(calls: ActiveCalls): ActiveCall {
  const call = calls.begin({ endpoint: "chat" });
  call.hidesWork = () => true;
  return call;
}

describe("calls that hide work", () => {
  test("are read on a hundred at a time; the place of one that ends is free again", async () => {
    const calls = new ActiveCalls(limits, () => 0);
    const left = Array.from({ length: 101 }, () => beginHidden(calls));
    for (const call of left) call.leave(reason);
    expect(left.filter((call) => call.isReadingOn).length).toBe(100);
    expect(left.at(-1)?.reason).toBe(reason);
    const [first] = left;
    if (first !== undefined) calls.end(first);
    const next = beginHidden(calls);
    next.leave(reason);
    expect([next.isReadingOn, next.isOver]).toEqual([true, false]);
    for (const call of [...left.slice(1), next]) calls.end(call);
    await calls.drain(0);
  });

  test("are read on for a minute, and not longer", async () => {
    jest.useFakeTimers();
    try {
      const calls = new ActiveCalls(limits, () => 0);
      const call = beginHidden(calls);
      call.leave(reason);
      jest.advanceTimersByTime(59_999);
      expect(call.isOver).toBe(false);
      jest.advanceTimersByTime(1);
      expect(call.reason).toBe(reason);
      calls.end(call);
      await calls.drain(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test("are ended at once when the process stops", async () => {
    const calls = new ActiveCalls(limits, () => 0);
    const call = beginHidden(calls);
    call.leave(reason);
    const drained = calls.drain(60_000);
    expect(call.reason?.code).toBe("shutting_down");
    calls.end(call);
    await drained;
  });
});

test("a call that hides nothing is aborted at once", async () => {
  const calls = new ActiveCalls(limits, () => 0);
  const call = calls.begin({ endpoint: "chat" });
  call.hidesWork = () => false;
  call.leave(reason);
  expect([call.isReadingOn, call.reason]).toEqual([false, reason]);
  calls.end(call);
  await calls.drain(0);
});
