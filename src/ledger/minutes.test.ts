import { expect, test } from "bun:test";
import { noonMs, receiptOf } from "../../test/store/ledger-samples.ts";
import { usageOf } from "../../test/store/plain-reports.ts";
import { newId } from "../base/ids.ts";
import { Minutes, minuteMs } from "./minutes.ts";
import type { Receipt } from "./receipt.ts";
import type { UsageQuery } from "./reports.ts";

const lastHour = { fromMs: noonMs - 60 * minuteMs, toMs: noonMs + 1, grain: "minute" } as const;

function receiptsOf(count: number): Receipt[] {
  return Array.from({ length: count }, (_, at) =>
    receiptOf({
      id: newId("req", noonMs - Math.floor((at / count) * 60 * minuteMs)),
      accountId: `acct_${at % 2}`,
      keyId: `key_${at % 6}`,
      model: `m${at % 5}`,
      durationMs: at * 40,
      firstByteMs: [undefined, at, at * 40][at % 3],
      outcome: at % 7 === 0 ? "upstream_error" : "ok",
      charged: BigInt(at),
    }),
  );
}

test("minutes are what their receipts add up to, by every group and filter", () => {
  const minutes = new Minutes();
  const receipts = receiptsOf(600);
  for (const receipt of receipts) minutes.add(receipt);
  const filters: Partial<UsageQuery>[] = [
    {},
    { accountId: "acct_1" },
    { keyId: "key_2" },
    { model: "m3", accountId: "acct_0" },
    { fromMs: noonMs - 5 * minuteMs - 1, toMs: noonMs },
  ];
  for (const by of ["none", "model", "key", "account"] as const)
    for (const filter of filters) {
      const query = { ...lastHour, by, ...filter };
      expect(minutes.usage(query, noonMs)).toEqual(usageOf(receipts, query));
    }
});

test("what is older than an hour is forgotten, and what comes too late is not taken for new", () => {
  const minutes = new Minutes();
  const at = (ms: number) => receiptOf({ id: newId("req", ms) });
  minutes.add(at(noonMs - 61 * minuteMs));
  minutes.add(at(noonMs - 60 * minuteMs));
  minutes.add(at(noonMs));
  const query = { ...lastHour, fromMs: 0, by: "none" } as const;
  const starts = (nowMs: number) => minutes.usage(query, nowMs).map(({ startMs }) => startMs);
  expect(starts(noonMs)).toEqual([noonMs - 60 * minuteMs, noonMs]);
  minutes.add(at(noonMs - 122 * minuteMs));
  expect(starts(noonMs)).toEqual([noonMs - 60 * minuteMs, noonMs]);
  // Nothing came meanwhile: time alone makes them old.
  expect(starts(noonMs + minuteMs)).toEqual([noonMs]);
});

test("rows are bounded: then accounts are told apart, then nobody, and no receipt is lost", () => {
  const minutes = new Minutes({ maxRows: 10 });
  for (let at = 0; at < 100; at++)
    minutes.add(
      receiptOf({ id: newId("req", noonMs), accountId: `acct_${at % 50}`, keyId: `key_${at}` }),
    );
  expect(minutes.rows).toBeLessThanOrEqual(21);
  const query = { ...lastHour, by: "account" } as const;
  const counts = Object.fromEntries(
    minutes.usage(query, noonMs).map(({ name, receipts }) => [name, receipts]),
  );
  // Its own row, and the one of its account's others.
  expect(counts["acct_3"]).toBe(1);
  expect(counts["acct_12"]).toBe(2);
  const sum = minutes.usage({ ...query, by: "none" }, noonMs);
  expect(sum.map(({ receipts }) => receipts)).toEqual([100]);
  // Places that time has freed are used again.
  for (let at = 0; at < 9; at++)
    minutes.add(receiptOf({ id: newId("req", noonMs + 61 * minuteMs), keyId: `key_${at}` }));
  expect(minutes.rows).toBe(9);
});

test("a row is to be written when it has grown, and again when it grew while it was written", () => {
  const minutes = new Minutes();
  const add = (keyId: string) => minutes.add(receiptOf({ id: newId("req", noonMs), keyId }));
  const grown = () => minutes.grown().map(({ row }) => [row.keyId, row.receipts]);
  for (let key = 0; key < 100; key++) add(`key_${key}`);
  add("key_70");
  const written = minutes.grown();
  expect(written.length).toBe(100);
  expect(written[70]).toMatchObject({ startMs: noonMs, row: { keyId: "key_70", receipts: 2 } });
  add("key_99");
  minutes.written(written);
  expect(grown()).toEqual([["key_99", 2]]);
  minutes.written(minutes.grown());
  expect(grown()).toEqual([]);
  // What an earlier process wrote is not this one's to write.
  minutes.addRow(noonMs, written[0]?.row ?? expect.unreachable());
  expect(grown()).toEqual([]);
  // The place of the minute is another minute's by then.
  add("key_1");
  const late = minutes.grown();
  minutes.add(receiptOf({ id: newId("req", noonMs + 61 * minuteMs), keyId: "key_1" }));
  minutes.written(late);
  expect(grown()).toEqual([["key_1", 1]]);
});
