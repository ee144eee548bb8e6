import { expect, test } from "bun:test";
import { hourMs } from "../../../ledger/rollups.ts";
import { SumsMark } from "./sums-mark.ts";

const noonMs = Date.UTC(2027, 0, 15, 12);

test("a receipt lowers the mark where the database may have a later hour, and only there", () => {
  const mark = new SumsMark();
  const first = mark.open(noonMs);
  expect(first.lowerToMs).toBe(noonMs);
  first.added();
  expect(mark.open(noonMs).lowerToMs).toBeUndefined();
  expect(mark.open(noonMs + hourMs).lowerToMs).toBeUndefined();
  expect(mark.open(noonMs - hourMs).lowerToMs).toBe(noonMs - hourMs);
});

test("the mark does not rise above a commit in flight", () => {
  const mark = new SumsMark();
  mark.moved(noonMs);
  const commit = mark.open(noonMs);
  expect(mark.move(noonMs + 2 * hourMs)).toEqual({ fromMs: noonMs, toMs: noonMs });
  expect(mark.move(undefined)).toEqual({ fromMs: noonMs, toMs: noonMs });
  commit.added();
  expect(mark.move(undefined)).toEqual({ fromMs: noonMs, toMs: undefined });
});

test("a commit that begins while the mark rises lowers it again", () => {
  const mark = new SumsMark();
  mark.moved(noonMs);
  mark.move(noonMs + hourMs);
  expect(mark.open(noonMs).lowerToMs).toBe(noonMs);
});

test("a commit that was rolled back holds nothing open", () => {
  const mark = new SumsMark();
  mark.open(noonMs).dropped();
  expect(mark.move(undefined)).toEqual({ fromMs: undefined, toMs: undefined });
  expect(mark.open(noonMs).lowerToMs).toBe(noonMs);
});
