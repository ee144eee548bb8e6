import { expect, test } from "bun:test";
import { copyLine, logText } from "./store.ts";

test("a copy shows a bar, its share and the rows, and leaves out what does not fit", () => {
  const progress = { table: "receipts", doneRows: 1_500, totalRows: 6_000 };
  expect(copyLine(progress, 100)).toBe(
    "━━━━━━──────────────────  25%  copying receipts  1,500 of 6,000",
  );
  expect(copyLine(progress, 50)).toBe("━━━━━━──────────────────  25%  copying receipts");
  // Some terminals report 0.
  expect(copyLine(progress, 0)).toBe(copyLine(progress, 80));
  expect(copyLine({ table: undefined, doneRows: 0, totalRows: 0 }, 80)).toBe(
    "━━━━━━━━━━━━━━━━━━━━━━━━ 100%  verifying the ledger  0 of 0",
  );
});

test("a log of a copy has words for tables, counts, and what was there before", () => {
  const receipts = { table: "receipts", doneRows: 3_000, totalRows: 13_683 };
  expect(logText(receipts)).toBe("copying receipts 3,000 of 13,683");
  // A long table has a line per tenth, and none at its end.
  expect(logText({ ...receipts, totalRows: 1_000_000 })).toBeUndefined();
  expect(logText({ ...receipts, totalRows: 3_000 })).toBeUndefined();
  expect(logText({ ...receipts, isContinued: true })).toBe(
    "continuing: 3,000 of 13,683 receipts are there",
  );
  expect(logText({ table: "rollup_days", doneRows: 0, totalRows: 9 })).toBe("copying daily sums");
});
