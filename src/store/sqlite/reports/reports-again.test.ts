import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { noonMs, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { usageOf } from "../../../../test/store/plain-reports.ts";
import { newId } from "../../../base/ids.ts";
import { Minutes, minuteMs } from "../../../ledger/minutes.ts";
import { openSqlite } from "../sqlite.ts";
import { createStore } from "../store.ts";

const root = mkdtempSync(join(tmpdir(), "svc-reports-again-"));
afterAll(() => rmSync(root, { recursive: true }));

test("where the minutes before the start could not be read, the next question reads them", async () => {
  const path = join(root, "svc.db");
  const store = await createStore(openSqlite(path), "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  const earlier = [50, 7].map((ago) =>
    receiptOf({ id: newId("req", noonMs - ago * minuteMs), charged: 0n }),
  );
  await store.ledger.commit(earlier.map((receipt) => write(receipt)));
  const reports = store.openReports({
    clock: { nowMs: () => noonMs },
    flush: async () => {},
    minutes: new Minutes(),
    limitMs: 120_000,
  });
  const query = {
    fromMs: noonMs - 60 * minuteMs,
    toMs: noonMs + 1,
    grain: "minute",
    by: "none",
  } as const;
  renameSync(path, `${path}.away`);
  await expect(reports.usage(query)).rejects.toThrow("The ledger could not be read");
  renameSync(`${path}.away`, path);
  const expected = usageOf(earlier, query);
  expect(expected.length).toBe(2);
  expect(await reports.usage(query)).toEqual(expected);
  expect(await reports.usage(query)).toEqual(expected);
  await reports.close();
  await store.close();
});
