import { describe, expect, jest, test } from "bun:test";
import { callLimits as limits } from "../../test/setup/call-limits.ts";
import { type ActiveCall, ActiveCalls, callerLeft } from "./active-calls.ts";

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
