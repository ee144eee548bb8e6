import { expect, jest, setSystemTime, test } from "bun:test";
import { callLimits as limits } from "../../test/setup/call-limits.ts";
import { monotonicMs } from "../base/clock.ts";
import { ActiveCall, ActiveCalls } from "./active-calls.ts";

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
