import { expect, test } from "bun:test";
import { balanceTrouble, type Standing } from "./balance.ts";

const standing: Standing = { status: "active", free_usd: "10.00", budget: null };
const budget = { limit_usd: "5.00", spent_usd: "4.99", period: "day" } as const;

test.each([
  ["nothing is free", { ...standing, free_usd: "0.00" }, "0.00", { kind: "empty" }],
  ["more is held than there is", { ...standing, free_usd: "-0.01" }, "3", { kind: "empty" }],
  ["it lasts for half a day", standing, "20.00", { kind: "low", hours: 12 }],
  ["it lasts for minutes", standing, "9000", { kind: "low", hours: 1 }],
  ["it lasts for a day", standing, "10.00", undefined],
  ["nothing was spent", standing, "0.00", undefined],
  ["it is suspended", { ...standing, status: "suspended" }, "0", { kind: "suspended" }],
  ["its budget goes on", { ...standing, budget }, "1", undefined],
  [
    "its budget is spent",
    { ...standing, budget: { ...budget, spent_usd: "5.00" } },
    "1",
    { kind: "budget", period: "day" },
  ],
] as const)("when %s, the notice says so", (_, given, daySpend, expected) => {
  expect(balanceTrouble(given, daySpend)).toEqual(expected);
});
