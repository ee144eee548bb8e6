import { expect, test } from "bun:test";
import { mergeRows, type RequestRow } from "./news.ts";

const row = (id: string): RequestRow => ({
  id,
  account: "acct_1",
  key: "key_1",
  model: "m",
  endpoint: "chat",
  dialect: "chat",
  outcome: "ok",
  outcome_words: "OK",
  status: 200,
  streamed: false,
  units: {},
  reasoning_tokens: 0,
  estimated: false,
  hold_usd: "0.00",
  cost_usd: "0.00",
  charged_usd: "0.00",
  shortfall_usd: "0.00",
  started_at: "2027-01-01T00:00:00Z",
  first_byte_ms: null,
  duration_ms: 1,
});

test("fresh rows come among the loaded ones by when they began, each once", () => {
  const merged = mergeRows(
    [row("req_4"), row("req_2"), row("req_3")],
    [row("req_3"), row("req_1")],
  );
  expect(merged.map(({ id }) => id)).toEqual(["req_4", "req_3", "req_2", "req_1"]);
});
