import { expect, test } from "bun:test";
import { fromLimits, limitWords, noLimits, toLimitFields } from "./limits.ts";

const none = { rpm: null, tpm: null, concurrency: null, budget: null };

test("limits come back from the form as they went in", () => {
  for (const budget of ["5.00", "5.00/day", "12.50/month"]) {
    const limits = { rpm: "60", tpm: "90000", concurrency: "4", budget };
    expect(toLimitFields(fromLimits(limits))).toEqual(limits);
  }
});

test("what is left empty is taken away", () => {
  expect(toLimitFields(noLimits)).toEqual({
    rpm: "none",
    tpm: "none",
    concurrency: "none",
    budget: "none",
  });
  expect(fromLimits(none)).toEqual(noLimits);
});

test("limits are shown in words", () => {
  expect(limitWords(none)).toEqual([]);
  expect(limitWords({ rpm: "6000", tpm: "9", concurrency: "4", budget: "5.00/day" })).toEqual([
    "6,000 requests per minute",
    "9 tokens per minute",
    "4 concurrent requests",
    "$5.00 per day",
  ]);
  expect(limitWords({ ...none, budget: "5.00" })).toEqual(["$5.00 in total"]);
});
