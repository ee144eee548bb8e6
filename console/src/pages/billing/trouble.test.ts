import { expect, test } from "bun:test";
import { moneyTrouble } from "./trouble.ts";

const nowMs = Date.parse("2027-01-10T00:00:00Z");
const standing = { status: "active", free_usd: "5.00", budget: null } as const;
const at = "2027-01-12T23:59:59Z";

test("money that lasts is no trouble", () => {
  expect(moneyTrouble(standing, null, nowMs)).toBeUndefined();
  expect(moneyTrouble(standing, "2027-01-13T00:00:00Z", nowMs)).toBeUndefined();
});

test("money that ends within three days is told with its end", () => {
  expect(moneyTrouble(standing, at, nowMs)).toEqual({ kind: "low", at });
});

test("what keeps calls from being served now comes first", () => {
  expect(moneyTrouble({ ...standing, free_usd: "0.00" }, at, nowMs)).toEqual({ kind: "empty" });
  expect(moneyTrouble({ ...standing, status: "suspended" }, at, nowMs)).toEqual({
    kind: "suspended",
  });
});
