import { expect, test } from "bun:test";
import { formatAboutMs, largestShortfalls } from "./figures.ts";

test.each([
  [0, "0 ms"],
  [4, "4 ms"],
  [17, "17 ms"],
  [847, "850 ms"],
  [994, "990 ms"],
  [996, "1 s"],
  [1_234, "1.2 s"],
  [12_800, "13 s"],
  [59_700, "1 min"],
  [94_000, "1.6 min"],
  [780_000, "13 min"],
])("%d ms is shown as %s", (ms, shown) => {
  expect(formatAboutMs(ms)).toBe(shown);
});

test("the error tile names the provider with the largest shortfall first", () => {
  const provider = (name: string, usd: string) => ({
    name,
    last_24h: {
      calls: 1,
      errors: 0,
      latency_p95_ms: null,
      cost_usd: null,
      cost_known_calls: 0,
      shortfall_usd: usd,
      is_complete: true,
      as_of: "2027-03-15T14:20:31Z",
    },
  });
  const found = largestShortfalls([
    provider("honest", "0.00"),
    { name: "unread", last_24h: null },
    provider("odd", "0.40"),
    provider("lying", "12001.00"),
  ]);
  expect(found).toEqual([
    { name: "lying", usd: "12001.00" },
    { name: "odd", usd: "0.40" },
  ]);
});
