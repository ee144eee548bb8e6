import { expect, test } from "bun:test";
import type { RequestRow } from "../../live/news.ts";
import {
  type Filters,
  forOutcome,
  matches,
  nextSorting,
  toFilters,
  toQuery,
  toSorting,
} from "./filters.ts";

const row: RequestRow = {
  id: "req_0199",
  account: "acct_1",
  key: "key_1",
  model: "svc-3-flash",
  endpoint: "chat",
  dialect: "messages",
  outcome: "ok",
  outcome_words: "OK",
  status: 200,
  streamed: false,
  units: { input: 3 },
  reasoning_tokens: 0,
  estimated: false,
  hold_usd: "1.00",
  cost_usd: "0.10",
  charged_usd: "0.10",
  shortfall_usd: "0.00",
  started_at: "2027-01-31T23:59:59.999Z",
  first_byte_ms: 5,
  duration_ms: 9,
  provider: "fake",
};
const none = toFilters({}, true);
const filtered = (change: Partial<Filters>, of: RequestRow = row) =>
  matches(of, { ...none, ...change }, "UTC");

test("without filters every request belongs into the list", () => {
  expect(filtered({})).toBe(true);
});

test.each([
  [{ model: "svc-3-flash" }, { model: "svc-3" }],
  [{ key: "key_1" }, { key: "key_2" }],
  [{ endpoint: "chat" }, { endpoint: "speech" }],
  [{ dialect: "messages" }, { dialect: "chat" }],
  [{ account: "acct_1" }, { account: "acct_2" }],
  [{ provider: "fake" }, { provider: "other" }],
  [{ id: "req_01" }, { id: "req_02" }],
  [{ outcome: "ok" }, { outcome: "failed" }],
  [{ status: "200" }, { status: "502" }],
  [{ from: "2027-01-31" }, { from: "2027-02-01" }],
  [{ to: "2027-01-31" }, { to: "2027-01-30" }],
])("a new request is let in by %j and kept out by %j", (letsIn, keepsOut) => {
  expect([filtered(letsIn), filtered(keepsOut)]).toEqual([true, false]);
});

test("failed means every error, and not who left", () => {
  expect(filtered({ outcome: "failed" }, { ...row, outcome: "upstream_timeout" })).toBe(true);
  expect(filtered({ outcome: "failed" }, { ...row, outcome: "left" })).toBe(false);
});

test("the platform is asked for what is filled in, up to the end of the last day", () => {
  const filters = toFilters({ model: " svc-3-flash ", to: "2027-02-28", tab: "x" }, true);
  expect(toQuery(filters, "UTC")).toEqual({ model: "svc-3-flash", to: "2027-03-01T00:00:00Z" });
});

test("a day is that of the zone, in the question and for new rows", () => {
  const day = { ...none, from: "2027-02-01", to: "2027-02-01" };
  expect(toQuery(day, "Europe/Berlin")).toEqual({
    from: "2027-01-31T23:00:00Z",
    to: "2027-02-01T23:00:00Z",
  });
  expect([matches(row, day, "Europe/Berlin"), matches(row, day, "UTC")]).toEqual([true, false]);
});

test("rejected calls are asked for without what only receipts have", () => {
  const set = { ...none, id: "req_1", provider: "fake", status: "502" };
  expect(forOutcome("rejected", set)).toEqual({
    outcome: "rejected",
    provider: "",
    status: "",
  });
  expect(forOutcome("rejected", { ...set, status: "402" }).status).toBeUndefined();
  expect(forOutcome("ok", set)).toEqual({ outcome: "ok" });
});

test("within an account, filters over accounts and providers do nothing", () => {
  const filters = toFilters({ account: "acct_2", provider: "x", key: "key_1" }, false);
  expect(toQuery(filters)).toEqual({ key: "key_1" });
});

test("a header sorts by the largest, then by the smallest, then by time again", () => {
  const first = nextSorting(toSorting({}), "cost");
  const second = nextSorting(first, "cost");
  expect([first, second, nextSorting(second, "cost")]).toEqual([
    { sort: "cost", order: "desc" },
    { sort: "cost", order: "asc" },
    { sort: "time", order: "desc" },
  ]);
  expect(nextSorting(second, "duration")).toEqual({ sort: "duration", order: "desc" });
  expect(toSorting({ sort: "nothing", order: "up" })).toEqual({ sort: "time", order: "desc" });
});

test("a day that there is not is left for the platform to refuse", () => {
  expect(toQuery(toFilters({ to: "2027-02-99" }, false))).toEqual({ to: "2027-02-99" });
});
