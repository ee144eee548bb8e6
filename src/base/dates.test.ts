import { expect, test } from "bun:test";
import { fromDateText, toDateText } from "./dates.ts";

test("reads a day as midnight UTC and a moment with its zone", () => {
  expect(fromDateText("2027-01-31")).toBe(Date.UTC(2027, 0, 31));
  expect(fromDateText("2027-01-31T12:00:00Z")).toBe(Date.UTC(2027, 0, 31, 12));
  expect(fromDateText("2027-01-31T12:00+02:00")).toBe(Date.UTC(2027, 0, 31, 10));
  expect(toDateText(Date.UTC(2027, 0, 31))).toBe("2027-01-31T00:00:00Z");
});

test("refuses days that do not exist and moments without a zone", () => {
  for (const text of [
    "2027-02-30",
    "2027-13-01",
    "tomorrow",
    "2027-1-1",
    "2027-01-31T12:00:00",
    "",
  ])
    expect(fromDateText(text)).toBeUndefined();
});
