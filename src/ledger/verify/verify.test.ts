import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { plainModel } from "../../../test/store/catalog-samples.ts";
import {
  above2to53,
  entryOf,
  noonMs,
  receiptOf,
  write,
} from "../../../test/store/ledger-samples.ts";
import { newId } from "../../base/ids.ts";
import { costOf, type Price } from "../../call/price.ts";
import { openLedgerReader } from "../../store/sqlite/ledger/reader.ts";
import type { Sqlite } from "../../store/sqlite/sqlite.ts";
import { createStore } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import type { Receipt } from "../receipt.ts";
import { hourMs, Rollups } from "../rollups.ts";
import { type LedgerFindings, verifyLedger } from "./verify.ts";

const root = mkdtempSync(join(tmpdir(), "svc-verify-"));
afterAll(() => rmSync(root, { recursive: true }));

const price: Price = { input: 300_001n, output: 2_500_000n };
const units = { input: 7, cached_input: 3, output: 11 };
const cost = costOf(units, price);
const dayMs = 86_400_000;
const todayMs = noonMs - dayMs / 2;
const monthMs = Date.UTC(2027, 0, 1);

let sqlite: Sqlite;
let store: Store;
let rollups: Rollups;

/** A day's work: two accounts, a budget of each kind, receipts of two hours. */
beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  for (const id of ["acct_1", "acct_2"]) {
    await store.accounts.insert({ id, name: id, createdAtMs: 1 }, auditOf());
    await store.ledger.addEntry(entryOf({ accountId: id, nano: above2to53 }), auditOf());
  }
  await store.ledger.addEntry(entryOf({ kind: "withdrawal", nano: -5n }), auditOf());
  const from = { modelId: "m", effectiveAtMs: 1, createdAtMs: 1 };
  await store.catalog.write(
    {
      atMs: 1,
      saveModels: [plainModel],
      addPrices: [
        { ...from, price },
        { ...from, price: undefined },
      ],
    },
    auditOf(),
  );
  rollups = new Rollups(store.ledger.rollups, 0);
  await rollups.start(noonMs);
  store.ledger.watch((receipt) => rollups.add(receipt));
  await commit(Array.from({ length: 20 }, (_, at) => begunAt(noonMs + (at % 2) * hourMs)));
  // The newest receipt is the one the mark names; a millisecond later, it is never the first by id.
  await commit([begunAt(noonMs + 1, { accountId: "acct_2", keyId: "key_2" })]);
  await rollups.flush(noonMs + hourMs, true);
});
afterEach(() => store.close());

function begunAt(ms: number, rest: Partial<Receipt> = {}): Receipt {
  return receiptOf({ id: newId("req", ms), units, cost, charged: cost, ...rest });
}

async function commit(receipts: readonly Receipt[]): Promise<void> {
  await store.ledger.commit(
    receipts.map((receipt) =>
      write(receipt, [
        { ownerId: receipt.accountId, periodStartMs: 0 },
        { ownerId: receipt.keyId, periodStartMs: todayMs },
        { ownerId: receipt.keyId, periodStartMs: monthMs },
      ]),
    ),
  );
}

async function verify(): Promise<LedgerFindings> {
  const reader = openLedgerReader(sqlite.path);
  try {
    return await verifyLedger(reader);
  } finally {
    await reader.close();
  }
}

const kinds = async () => (await verify()).problems.map(({ kind, subject }) => [kind, subject]);
const corrupt = (statement: string) => sqlite.raw.run(statement);
const firstId = () =>
  sqlite.raw.query<{ id: string }, []>("select id from receipts order by id limit 1").get()?.id ??
  "";

test("a ledger that is right is found right, and counted", async () => {
  expect(await verify()).toEqual({
    ok: true,
    receipts: 21,
    accounts: 2,
    entries: 3,
    charged: 21n * cost,
    problems: [],
    problemCount: 0,
    notes: [],
  });
});

test("an empty ledger is right", async () => {
  await store.close();
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  expect(await verify()).toMatchObject({ ok: true, receipts: 0, accounts: 0, charged: 0n });
});

test("a receipt with a shortfall, and one that cost nothing, are right", async () => {
  await commit([begunAt(noonMs, { charged: cost - 1n }), begunAt(noonMs, { charged: 0n })]);
  await commit([begunAt(noonMs, { units: {}, cost: 0n, charged: 0n, outcome: "upstream_error" })]);
  await rollups.flush(noonMs + hourMs, true);
  expect(await verify()).toMatchObject({ ok: true, charged: 22n * cost - 1n });
});

describe("finds", () => {
  test("a cost that its units and price do not give, and by how much it is off", async () => {
    corrupt(`update receipts set cost = cost + 1 where id = '${firstId()}'`);
    const { ok, problems } = await verify();
    expect(ok).toBe(false);
    expect(problems[0]).toEqual({
      kind: "cost",
      subject: firstId(),
      expected: String(cost),
      found: String(cost + 1n),
    });
    expect(problems.map(({ kind }) => kind)).toEqual(["cost", "rollup cost"]);
  });

  test("units that were changed behind the cost", async () => {
    corrupt(`update receipts set output = output + 1 where id = '${firstId()}'`);
    expect((await kinds()).map(([kind]) => kind)).toEqual(["cost", "rollup outputTokens"]);
  });

  test("a hold below zero", async () => {
    corrupt(`update receipts set hold = -1 where id = '${firstId()}'`);
    expect(await kinds()).toEqual([["hold", firstId()]]);
  });

  test.each([
    [
      "a lease that is gone",
      "delete from leases where account_id = 'acct_2'",
      ["granted", "spent"],
    ],
    [
      "entries that are gone",
      "delete from entries where account_id = 'acct_2'",
      ["granted", "balance"],
    ],
  ])("%s", async (_, statement, expected) => {
    corrupt(statement);
    expect(await kinds()).toEqual(expected.map((kind) => [kind, "acct_2"]));
  });

  test("a lease of no account", async () => {
    corrupt("pragma foreign_keys = off");
    corrupt("update leases set account_id = 'acct_9' where account_id = 'acct_2'");
    expect(await kinds()).toContainEqual(["unknown-account", "lease"]);
  });

  test("a receipt of no account", async () => {
    corrupt(`update receipts set account_id = 'acct_9' where id = '${firstId()}'`);
    expect(await kinds()).toContainEqual(["unknown-account", firstId()]);
  });

  test("more charged than it cost, and less than nothing", async () => {
    for (const charged of [cost + 1n, -1n]) {
      corrupt(`update receipts set charged = ${charged} where id = '${firstId()}'`);
      expect(await kinds()).toContainEqual(["charged", firstId()]);
    }
  });

  test("a receipt of a price that was never there, or is none", async () => {
    for (const version of [2, 3]) {
      corrupt(`update receipts set price_version = ${version} where id = '${firstId()}'`);
      expect(await kinds()).toEqual([["unknown-price", firstId()]]);
    }
  });

  test("a receipt that is gone, by the budgets and the hour that miss it", async () => {
    corrupt(`delete from receipts where id = '${firstId()}'`);
    // Which one comes first is chance: it may be the one that was the shortest or the longest.
    const found = (await kinds()).map(([kind]) => kind);
    expect(found.filter((kind) => !/shortest|longest/i.test(String(kind)))).toEqual([
      "budget",
      "budget",
      "budget",
      "rollup receipts",
      "rollup inputTokens",
      "rollup outputTokens",
      "rollup cost",
      "rollup charged",
      "rollup durations",
    ]);
  });

  test("what an account has spent and its sums do not say, also while hours are open", async () => {
    await store.ledger.rollups.add([], noonMs);
    for (const off of [1n, -1n]) {
      corrupt(`update leases set spent = spent + ${off} where account_id = 'acct_2'`);
      const { ok, problems } = await verify();
      expect(ok).toBe(false);
      expect(problems).toEqual([
        { kind: "spent", subject: "acct_2", expected: String(cost), found: String(cost + off) },
      ]);
      corrupt(`update leases set spent = spent - ${off} where account_id = 'acct_2'`);
    }
  });

  test("an account that its receipts bring below zero, though its sums lack them still", async () => {
    await store.ledger.rollups.add([], noonMs + hourMs);
    const left = above2to53 - cost;
    await store.ledger.commit([
      write(begunAt(noonMs + hourMs, { accountId: "acct_2", keyId: "key_3", charged: left })),
    ]);
    expect((await kinds()).map(([kind]) => kind)).toEqual(["charged"]);
    await store.ledger.commit([
      write(begunAt(noonMs + hourMs, { accountId: "acct_2", keyId: "key_3", charged: 1n })),
    ]);
    expect((await kinds()).map(([kind]) => kind)).toEqual(["charged", "balance"]);
  });

  test("money that no entry explains, and an entry that gave none", async () => {
    corrupt("update leases set granted = granted + 1 where account_id = 'acct_1'");
    expect(await kinds()).toEqual([["granted", "acct_1"]]);
    corrupt("update leases set granted = granted - 2 where account_id = 'acct_1'");
    expect((await verify()).problems).toEqual([
      {
        kind: "granted",
        subject: "acct_1",
        expected: String(above2to53 - 5n),
        found: String(above2to53 - 6n),
      },
    ]);
  });

  test("a day that its hours do not give, though its receipts are no longer kept", async () => {
    await rollups.flush(noonMs + 2 * dayMs);
    await rollups.flush(noonMs + 2 * dayMs, true);
    await store.retention.advance({ nowMs: noonMs + 2 * dayMs, days: 1 });
    while (await store.retention.erase({ withAll: true }));
    expect(await verify()).toMatchObject({ ok: true, receipts: 0, fromSums: { receipts: 21 } });
    corrupt("update rollup_days set charged = charged + 1 where account_id = 'acct_2'");
    expect(await kinds()).toContainEqual(["folded charged", "2027-01-15 acct_2 key_2 m p"]);
  });

  test("entries of nothing, and those that go the wrong way", async () => {
    const add = (id: string, kind: string, nano: number) =>
      corrupt(
        `insert into entries (id, account_id, kind, nano, reference, note, created_at_ms) values ('${id}', 'acct_1', '${kind}', ${nano}, '${id}', '', 1)`,
      );
    add("e1", "credit", 0);
    add("e2", "withdrawal", 5);
    add("e3", "refund", -5);
    add("e4", "withdrawal", 0);
    expect((await kinds()).toSorted()).toEqual(["e1", "e2", "e3", "e4"].map((id) => ["entry", id]));
  });

  test("no more than the first hundred problems, and how many there are", async () => {
    await commit(Array.from({ length: 150 }, () => begunAt(noonMs)));
    await rollups.flush(noonMs + hourMs, true);
    corrupt("update receipts set hold = -1");
    const { problems, problemCount } = await verify();
    expect([problems.length, problemCount]).toEqual([100, 171]);
  });
});

describe("budgets", () => {
  const setSpent = (ownerId: string, periodStartMs: number, spent: bigint) =>
    corrupt(
      `insert into budget_spends (owner_id, period_start_ms, spent)
        values ('${ownerId}', ${periodStartMs}, ${spent})
        on conflict do update set spent = excluded.spent`,
    );

  test("that count more than the receipts are wrong, and those that count less are noted", async () => {
    const all = 20n * cost;
    for (const [owner, startMs] of [
      ["acct_1", 0],
      ["key_1", todayMs],
      ["key_1", monthMs],
    ] as const) {
      const day = new Date(startMs).toISOString().slice(0, 10);
      const subject = startMs === 0 ? owner : `${owner} since ${day}`;
      setSpent(owner, startMs, all + 1n);
      expect(await kinds()).toEqual([["budget", subject]]);
      setSpent(owner, startMs, startMs === monthMs ? 1n : all - 1n);
      const { ok, notes } = await verify();
      expect([ok, notes.map((note) => note.subject)]).toEqual([true, [subject]]);
      setSpent(owner, startMs, all);
    }
    expect(await verify()).toMatchObject({ ok: true, notes: [] });
    setSpent("acct_1", 0, 0n);
    expect((await verify()).notes).toHaveLength(1);
  });

  test("of a day count that day alone, and of a month all its days", async () => {
    const yesterday = begunAt(todayMs - 1);
    const tomorrow = begunAt(todayMs + dayMs);
    await store.ledger.commit([write(yesterday), write(tomorrow)]);
    await rollups.flush(noonMs + dayMs, true);
    setSpent("acct_1", 0, 22n * cost);
    setSpent("key_1", monthMs, 22n * cost);
    expect((await verify()).problems).toEqual([]);
    setSpent("key_1", todayMs, 20n * cost + 1n);
    expect(await kinds()).toEqual([["budget", "key_1 since 2027-01-15"]]);
  });

  test("at the first of a month may be of the day or of the month", async () => {
    await store.ledger.commit([write(begunAt(monthMs))]);
    await store.ledger.rollups.recount(0);
    setSpent("acct_1", 0, 21n * cost);
    setSpent("key_1", monthMs, 21n * cost);
    expect((await verify()).ok).toBe(true);
    setSpent("key_1", monthMs, cost);
    expect(await verify()).toMatchObject({ ok: true, notes: [] });
    setSpent("key_1", monthMs, 22n * cost);
    expect((await verify()).ok).toBe(false);
  });

  test("of a period that is over may lack what came after they were taken away, and never exceed", async () => {
    await store.ledger.commit([write(begunAt(todayMs + dayMs, { keyId: "key_3" }))]);
    await store.ledger.rollups.recount(0);
    setSpent("acct_1", 0, 21n * cost);
    setSpent("key_1", todayMs, cost);
    expect(await verify()).toMatchObject({ ok: true, notes: [] });
    setSpent("key_1", todayMs, 20n * cost + 1n);
    expect((await verify()).ok).toBe(false);
  });

  test("whose start is the start of nothing are off", async () => {
    setSpent("key_1", todayMs + 1, 0n);
    expect(await kinds()).toEqual([["budget", "key_1 since 2027-01-15"]]);
  });
});

describe("rollups", () => {
  test("that are off are found by what is off in them", async () => {
    for (const [column, kind] of [
      ["receipts", "receipts"],
      ["failures", "failures"],
      ["input_tokens", "inputTokens"],
      ["output_tokens", "outputTokens"],
      ["cost", "cost"],
      ["charged", "charged"],
      ["vendor_cost", "vendorCost"],
      ["vendor_known", "vendorKnown"],
      ["charged_known", "chargedKnown"],
    ] as const) {
      corrupt(`update rollups set ${column} = ${column} + 1 where key_id = 'key_2'`);
      const found = [[`rollup ${kind}`, "2027-01-15T12 key_2 m p"]];
      // It is also what the account is held to.
      if (kind === "charged") found.unshift(["spent", "acct_2"]);
      expect(await kinds()).toEqual(found);
      corrupt(`update rollups set ${column} = ${column} - 1 where key_id = 'key_2'`);
    }
  });

  test("that are missing, or of nothing, are found", async () => {
    corrupt("update rollups set model = 'n' where key_id = 'key_2'");
    const subjects = new Set((await kinds()).map(([, subject]) => subject));
    expect([...subjects].toSorted()).toEqual([
      "2027-01-15T12 key_2 m p",
      "2027-01-15T12 key_2 n p",
    ]);
  });

  test("of open hours may lack receipts and never have more, and those before them are exact", async () => {
    corrupt("update rollups set receipts = receipts - 1");
    await store.ledger.rollups.add([], noonMs + hourMs);
    expect((await kinds()).map(([, subject]) => subject).toSorted()).toEqual([
      "2027-01-15T12 key_1 m p",
      "2027-01-15T12 key_2 m p",
    ]);
    await store.ledger.rollups.add([], noonMs);
    expect((await verify()).ok).toBe(true);
    corrupt("update rollups set receipts = receipts + 2");
    expect((await verify()).ok).toBe(false);
  });
});
