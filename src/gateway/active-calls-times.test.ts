import { expect, jest, test } from "bun:test";
import { ActiveCall, ActiveCalls } from "./active-calls.ts";

const limits = {
  connectMs: 10_000,
  maxCallMs: 900_000,
  firstByteMs: 600_000,
  idleMs: 120_000,
  readerMs: 60_000,
  keepAliveMs: 15_000,
};

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
  const againMs = Date.now();
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
  call.tick(Date.now() + limits.connectMs);
  expect(looks).toBe(1);
});
