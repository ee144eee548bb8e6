import { expect, test } from "bun:test";
import { RecentLog } from "./recent-log.ts";

const record = (message: string, fields = {}) =>
  ({ atMs: 0, level: "warn", message, fields }) as const;
const messages = (log: RecentLog, after?: number) =>
  log.since(after).records.map(({ message }) => message);

test("keeps the latest lines, and no more of them than the bound", () => {
  const log = new RecentLog();
  for (let at = 0; at < 5_000; at++) log.add(record(`line ${at}`));
  expect(messages(log).length).toBe(2_000);
  expect(messages(log).at(-1)).toBe("line 4999");
});

test("keeps no more than a megabyte of long lines, each cut", () => {
  const log = new RecentLog();
  for (let at = 0; at < 2_000; at++)
    log.add(record("m".repeat(100_000), { detail: "d".repeat(100_000), at }));
  const { records } = log.since();
  expect(records.at(-1)?.fields["at"]).toBe(1_999);
  expect(JSON.stringify(records).length).toBeLessThan(1_200_000);
  expect(records.length).toBeGreaterThan(100);
});

test("a reader gets each line once, and learns how many it missed", () => {
  const log = new RecentLog();
  log.add(record("one"));
  const first = log.since();
  log.add(record("two"));
  log.addOthers([record("three")]);
  expect(messages(log, first.after)).toEqual(["two", "three"]);
  expect(messages(log, log.since().after)).toEqual([]);
  const { after } = log.since();
  for (let at = 0; at < 2_500; at++) log.add(record("more"));
  expect(log.since(after)).toMatchObject({ missed: 500 });
});

test("lines of other processes are kept, and not handed on", () => {
  const log = new RecentLog();
  const handedOn: string[] = [];
  log.watchers.add(({ message }) => handedOn.push(message));
  log.add(record("own"));
  log.addOthers([record("other")]);
  expect(messages(log)).toEqual(["own", "other"]);
  expect(handedOn).toEqual(["own"]);
});
