import { expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { openRejections } from "./rejections.ts";

test("a store that cannot be written is one line in the log, however often it is tried", async () => {
  const lines: string[] = [];
  let isFailing = true;
  let tries = 0;
  let reachedFive = () => {};
  const fiveTries = new Promise<void>((resolve) => {
    reachedFive = resolve;
  });
  const written: number[] = [];
  const { recorder, close } = openRejections({
    store: {
      async add({ rows }) {
        if (++tries === 5) reachedFive();
        if (isFailing) throw new Error("the disk is full");
        written.push(...rows.map(({ count }) => count));
      },
      erase: async () => false,
    },
    clock: systemClock,
    log: createLog({ level: "info", pretty: false, write: (line) => void lines.push(line) }),
    flushEveryMs: 1,
  });
  const startedMs = Date.now();
  recorder.add(
    {
      requestId: newId("req", startedMs),
      startedMs,
      endpoint: "chat",
      dialect: "chat",
      key: { id: "key_1", accountId: "acct_1" },
      model: { id: "m" },
      askedModel: undefined,
      refusedFor: undefined,
    },
    { code: "insufficient_quota", status: 402, message: "Not enough credit." },
  );
  await fiveTries;
  isFailing = false;
  await close();
  expect(lines.length).toBe(1);
  expect(lines[0]).toContain("cannot record rejected requests");
  expect(written).toEqual([1]);
});
