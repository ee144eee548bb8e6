import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runReceiptCommand } from "../../../test/setup/receipt-commands.ts";
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
import type { Receipt } from "../../ledger/receipt.ts";
import { openSqlite, type Sqlite } from "../../store/sqlite/sqlite.ts";
import { createStore } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import { arithmeticLines, receiptLines } from "./receipt.ts";

const root = mkdtempSync(join(tmpdir(), "svc-receipts-"));
const price: Price = { input: 300_000_000n, output: 2_500_000_001n, image: 30_000_000_000_000n };
const units = { input: 7, cached_input: 3, output: 11, image: 1 };
const cost = costOf(units, price);
const twice = [
  {
    provider: "p",
    model: "first",
    code: "upstream_error",
    status: 500,
    detail: "p returned 500, oddly",
    startedMs: 1,
    durationMs: 3,
  },
  { provider: "p", model: "second", startedMs: 5, durationMs: 7 },
];
const receipts = Array.from({ length: 60 }, (_, at) =>
  receiptOf({
    id: newId("req", noonMs + at),
    units,
    cost,
    charged: cost,
    ...(at === 59
      ? { outcome: "left", accountId: "acct_2", keyId: "key_2", dialect: "messages" as const }
      : {}),
    ...(at === 0 ? { attempts: twice } : {}),
  }),
);
const [first] = receipts;
const newest = receipts.at(-1);
if (first === undefined || newest === undefined) throw new Error("there are sixty");

let sqlite: Sqlite;
let store: Store;

beforeAll(async () => {
  sqlite = openSqlite(join(root, "svc.db"));
  store = await createStore(sqlite, "x");
  for (const [id, name] of [
    ["acct_1", "=cmd|'/c calc'!A0"],
    ["acct_2", "other"],
  ] as const) {
    await store.accounts.insert({ id, name, createdAtMs: 1 }, auditOf());
    await store.ledger.addEntry(entryOf({ accountId: id, nano: above2to53 }), auditOf());
  }
  await store.catalog.write(
    {
      atMs: 1,
      saveModels: [plainModel],
      addPrices: [{ modelId: "m", effectiveAtMs: 1, createdAtMs: 1, price }],
    },
    auditOf(),
  );
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
  await store.ledger.rollups.recount(0);
});
afterAll(async () => {
  await store.close();
  rmSync(root, { recursive: true });
});

const run = (line: string) => runReceiptCommand(line, sqlite.path);
const output = async (line: string) => (await run(line)).text;
const codeOf = async (line: string) => (await run(line)).code;
const idsIn = (text: string): string[] => [...(text.match(/req_[0-9a-f]+/g) ?? [])];

describe("the arithmetic of a receipt", () => {
  test("is exact, a line a class, and rounded up once", () => {
    expect(arithmeticLines(receiptOf({ units, cost, priceVersion: 3 }), price)).toEqual([
      "price version 3, in USD",
      "  input tokens: 7 × 0.30 per million          = 0.0000021",
      "  cached input tokens: 3 × 0.30 per million   = 0.0000009",
      "  output tokens: 11 × 2.500000001 per million = 0.000027500000011",
      "  images: 1 × 0.03 each                       = 0.03",
      "  sum                                         = 0.030030500000011",
      "  rounded up once: 0.030030501",
      "",
    ]);
  });

  test("says when the receipt says something else", () => {
    const lines = arithmeticLines(receiptOf({ units, cost: cost + 1n }), price);
    expect(lines.join("\n")).toContain("the receipt has 0.030030502, which is wrong");
  });

  test("of a call that used nothing is a sum of nothing", () => {
    expect(arithmeticLines(receiptOf({ units: {}, cost: 0n }), price)).toEqual([
      "price version 1, in USD",
      "  sum = 0.00",
      "  rounded up once: 0.00",
      "",
    ]);
  });
});

test("a receipt tells what was held, charged and lost, and what is left of it", () => {
  const of = (rest: Partial<Receipt>) =>
    receiptLines({
      receipt: receiptOf({ units, cost, charged: cost, hold: 50n, ...rest }),
      price,
      account: "acme",
    }).join("\n");
  const plain = of({});
  expect(plain).toContain("acme (acct_1)");
  expect(plain).toMatch(/cost +0\.030030501 USD/);
  expect(plain).toMatch(/charged +0\.030030501 USD/);
  expect(plain).toMatch(/hold +0\.00000005 USD/);
  for (const word of ["shortfall", "vendor", "margin"]) expect(plain).not.toContain(word);
  expect(of({ charged: cost - 1n })).toMatch(/shortfall +0\.000000001 USD/);
  const vendor = of({ vendorCost: cost + 2n });
  expect(vendor).toMatch(/vendor cost +0\.030030503 USD/);
  expect(vendor).toMatch(/margin +-0\.000000002 USD/);
  expect(of({ vendorCost: 1n, charged: 5n })).toMatch(/margin +0\.000000004 USD/);
  expect(of({ estimated: true })).toContain("estimate");
  expect(of({ dialect: "messages" })).toMatch(/dialect +messages\n/);
  expect(plain).toMatch(/dialect +unknown\n/);
  expect(of({ endpoint: "speech" })).not.toContain("dialect");
});

test("a receipt shows each attempt with what is known of it", () => {
  const of = (attempts: Receipt["attempts"]) =>
    receiptLines({ receipt: receiptOf({ attempts }), price, account: "acme" }).join("\n");
  expect(of(twice)).toMatch(
    /attempts +p\/first: upstream_error, status 500, 1–4 ms \(p returned 500, oddly\)\n +p\/second: served, 5–12 ms\n/,
  );
  expect(of([])).toMatch(/attempts +none\n/);
  expect(of([{ provider: "", model: "", code: "upstream_error", detail: "out" }])).toMatch(
    /attempts +no target available: upstream_error \(out\)\n/,
  );
  // From before times were recorded.
  expect(of([{ provider: "p", model: "m" }])).toMatch(/attempts +p\/m: served\n/);
});

test("the times of a receipt come from its id", () => {
  const lines = receiptLines({
    receipt: receiptOf({ id: newId("req", noonMs), firstByteMs: 120, durationMs: 1_500 }),
    price: undefined,
    account: undefined,
  }).join("\n");
  expect(lines).toMatch(/started +2027-01-15T12:00:00Z/);
  expect(lines).toMatch(/first byte +after 120 ms/);
  expect(lines).toMatch(/ended +2027-01-15T12:00:01\.500Z, after 1500 ms/);
  expect(lines).toContain("Price version 1 is unknown");
});

describe("svc receipt", () => {
  test("shows the one that is asked for, and says when there is none", async () => {
    const text = await output(`receipt ${first.id}`);
    expect(text).toContain(first.id);
    expect(text).toContain("rounded up once: 0.030030501");
    expect(JSON.parse(await output(`receipt ${first.id} --json`))).toMatchObject({
      id: first.id,
      cost_usd: "0.030030501",
      input: 7,
      estimated: false,
      attempts: "p/first upstream_error (p returned 500; oddly), p/second",
      attempt_list: [
        {
          provider: "p",
          model: "first",
          code: "upstream_error",
          status: 500,
          detail: "p returned 500, oddly",
          started_ms: 1,
          duration_ms: 3,
        },
        { provider: "p", model: "second", started_ms: 5, duration_ms: 7 },
      ],
    });
    expect(await codeOf("receipt req_none")).toBe("not_found");
  });
});

describe("svc receipt list", () => {
  test("shows the newest fifty, newest first, and says that there are more", async () => {
    const text = await output("receipt list");
    expect(idsIn(text)).toEqual(
      receipts
        .map(({ id }) => id)
        .toReversed()
        .slice(0, 50),
    );
    expect(text).toContain("Showing the newest 50");
    expect(await output("receipt list --limit 61")).not.toContain("The newest");
  });

  test("finds by account (id or name), key, outcome, model and time", async () => {
    for (const flags of ["--account other", "--account acct_2", "--key key_2", "--outcome left"])
      expect(idsIn(await output(`receipt list ${flags}`))).toEqual([newest.id]);
    expect(idsIn(await output("receipt list --dialect messages"))).toEqual([newest.id]);
    expect(await output("receipt list --dialect completions")).toBe("No receipts.\n");
    expect(await output("receipt list --model n")).toBe("No receipts.\n");
    const from = "--from 2027-01-15T12:00:00.001Z";
    const text = await output(`receipt list ${from} --to 2027-01-15T12:00:00.003Z`);
    expect(idsIn(text)).toEqual([receipts[2]?.id ?? "", receipts[1]?.id ?? ""]);
    expect(await output("receipt list --to 2027-01-14")).toBe("No receipts.\n");
    // A day is counted whole.
    expect(await output("receipt list --to 2027-01-15")).not.toBe("No receipts.\n");
  });

  test("refuses what it does not understand", async () => {
    for (const flags of [
      "--limit 0",
      "--limit x",
      "--limit -1",
      "--dialect telegraph",
      "--from yesterday",
      "--csv --json",
    ])
      expect(await codeOf(`receipt list ${flags}`)).toBe("invalid");
    expect(await codeOf("receipt list --account nobody")).toBe("not_found");
  });

  test("as JSON is an array", async () => {
    const list: { id: string }[] = JSON.parse(await output("receipt list --limit 2 --json"));
    expect(list.map(({ id }) => id)).toEqual(
      receipts
        .slice(-2)
        .toReversed()
        .map(({ id }) => id),
    );
  });

  test("as CSV is all of it, oldest first, or as many as were asked for", async () => {
    const text = await output("receipt list --csv");
    const lines = text.split("\r\n");
    expect(lines).toHaveLength(62);
    expect(lines[0]).toStartWith("id,began_at,account_id,account,key_id,key,model,");
    expect(idsIn(text)).toEqual(receipts.map(({ id }) => id));
    expect(lines[1]).toContain(",acct_1,'=cmd|'/c calc'!A0,key_1,");
    expect(idsIn(await output("receipt list --csv --limit 3"))).toHaveLength(3);
  });

  test("as CSV streams more than it keeps in memory at once", async () => {
    const many = Array.from({ length: 1_200 }, (_, at) =>
      receiptOf({ id: newId("req", noonMs + 86_400_000 + at), charged: 0n, model: "many" }),
    );
    await store.ledger.commit(many.map((receipt) => write(receipt)));
    expect(idsIn(await output("receipt list --csv --model many"))).toEqual(
      many.map(({ id }) => id),
    );
    sqlite.raw.run("delete from receipts where model = 'many'");
    // It would show that they are gone.
    rmSync(join(root, "svc.db-mark"));
  });
});

describe("svc ledger verify", () => {
  test("says ok, and how much it saw", async () => {
    expect(await output("ledger verify")).toBe(
      `ok  60 receipts, 2 accounts, 2 entries, 1.80183006 USD charged\n`,
    );
    expect(JSON.parse(await output("ledger verify --json"))).toEqual({
      ok: true,
      receipts: 60,
      accounts: 2,
      entries: 2,
      charged: "1.80183006",
      problems: [],
      problem_count: 0,
      notes: [],
    });
  });

  test("is ok with a budget that counts less than its receipts, and notes it for machines", async () => {
    sqlite.raw.run("insert into budget_spends values ('key_1', 0, 1)");
    const { text, code } = await run("ledger verify --json");
    expect(code).toBe("ok");
    expect(JSON.parse(text).notes).toEqual([
      { kind: "budget", subject: "key_1", expected: "1771799559", found: "1" },
    ]);
    sqlite.raw.run("delete from budget_spends");
  });

  test("fails when something is off, and says what", async () => {
    sqlite.raw.run(`update receipts set hold = -1 where id = '${first.id}'`);
    const { text, code } = await run("ledger verify");
    expect(code).toBe("failed");
    expect(text).toContain(first.id);
    expect(text).toContain("0 or more");
    const json = await run("ledger verify --json");
    expect(json.code).toBe("failed");
    expect(JSON.parse(json.text)).toMatchObject({
      ok: false,
      problems: [{ kind: "hold", subject: first.id, expected: "0 or more", found: "-1" }],
      problem_count: 1,
    });
    sqlite.raw.run(`update receipts set hold = 50 where id = '${first.id}'`);
  });
});
