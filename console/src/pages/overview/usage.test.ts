import { expect, test } from "bun:test";
import { beforeWords, changeOf, periodWords, requestsSearch, toView } from "./usage.ts";

test.each([
  [112, 100, 0.12],
  [50, 100, -0.5],
  [100, 100, 0],
  [0, 100, -1],
  [5, 0, undefined],
  [5, null, undefined],
  [null, 5, undefined],
  [5, undefined, undefined],
  [1_200, 100, undefined],
])("%p after %p is a change of %p", (now, before, change) => {
  expect([changeOf(now, before)]).toEqual([change]);
});

test("the list of requests is asked for the same calls, by whole days", () => {
  const nowMs = Date.parse("2027-03-15T12:00:00Z");
  const none = { days: undefined, model: "", key: "" };
  expect(requestsSearch({ ...none, range: "7d" }, nowMs)).toEqual({
    from: "2027-03-08",
    model: undefined,
    key: undefined,
  });
  const days = { from: "2027-03-01", to: "2027-03-02" };
  expect(requestsSearch({ days, range: "24h", model: "m", key: "key_1" }, nowMs)).toEqual({
    ...days,
    model: "m",
    key: "key_1",
  });
});

test("what the address asks for is taken over, within an account", () => {
  const search = { range: "7d", by: "key", model: "m", key: "k" } as const;
  const usual = { days: undefined, isCompared: true };
  expect(toView(search, "acct_1")).toEqual({ account: "acct_1", ...usual, ...search });
  expect(toView({ from: "2026-11-01", to: "2026-11-03", compare: "off" }, "acct_1")).toMatchObject({
    days: { from: "2026-11-01", to: "2026-11-03" },
    isCompared: false,
  });
});

test("what there is not to choose is left out; accounts are told apart by the operator alone", () => {
  const usual = {
    range: "24h",
    days: undefined,
    isCompared: true,
    by: "model",
    model: "",
    key: "",
  } as const;
  expect(toView({}, "acct_1")).toEqual({ account: "acct_1", ...usual });
  expect(toView({ range: "2h", by: "account" }, "acct_1")).toEqual({ account: "acct_1", ...usual });
  expect(toView({ by: "account" }, undefined)).toEqual({
    account: undefined,
    ...usual,
    by: "account",
  });
});

test("a period and what it is compared with are said in words", () => {
  const week = { range: "7d", days: undefined } as const;
  expect([periodWords(week), beforeWords(week)]).toEqual(["the last 7 days", "previous 7 days"]);
  const days = { from: "2026-11-01", to: "2026-11-10" };
  expect([periodWords({ range: "24h", days }), beforeWords({ range: "24h", days })]).toEqual([
    "Nov 1 – Nov 10, 2026",
    "previous 10 days",
  ]);
});
