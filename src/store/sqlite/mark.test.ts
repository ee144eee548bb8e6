import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { copyEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { useFolder } from "../../../test/setup/folder.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { entryOf, receiptOf, write } from "../../../test/store/ledger-samples.ts";
import { verifyLedger } from "../../ledger/verify/verify.ts";
import type { Store } from "../store.ts";
import { openLedgerReader } from "./ledger/reader.ts";
import { MarkFile, readMark } from "./mark.ts";
import { openSqlite } from "./sqlite.ts";
import { createStore } from "./store.ts";

const root = useFolder();

let folder: string;
let path: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(root, "db-"));
  path = join(folder, "svc.db");
  copyEmptyDatabase(path);
  store = await createStore(openSqlite(path), "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000n }), auditOf());
  await store.sync();
});
afterEach(() => store.close());

const walSize = () => statSync(`${path}-wal`).size;

/** The files as a crash leaves them, with the log cut to so many bytes. */
function crashed(keptBytes: number): string {
  const copy = join(folder, "copy");
  mkdirSync(copy);
  for (const name of ["svc.db", "svc.db-wal", "svc.db-mark"])
    copyFileSync(join(folder, name), join(copy, name));
  truncateSync(join(copy, "svc.db-wal"), keptBytes);
  return join(copy, "svc.db");
}

async function lostKinds(at: string): Promise<readonly string[]> {
  const reader = openLedgerReader(at);
  try {
    const { problems } = await verifyLedger(reader);
    return problems.flatMap(({ kind, subject }) =>
      kind.startsWith("lost-") ? [`${kind} ${subject}`] : [],
    );
  } finally {
    await reader.close();
  }
}

describe("a log without its last transactions", () => {
  test("is told by the receipt of the last one, also where its id is older than others", async () => {
    const young = receiptOf();
    const old = receiptOf({ id: "req_0000" });
    await store.ledger.commit([write(young)]);
    const before = walSize();
    await store.ledger.commit([write(old)]);
    const whole = walSize();
    expect(readMark(path)).toMatchObject({ receiptId: "req_0000" });
    const cut = crashed(before);
    expect(await lostKinds(cut)).toEqual(["lost-receipts req_0000"]);
    rmSync(join(folder, "copy"), { recursive: true });
    expect(await lostKinds(crashed(whole))).toEqual([]);
  });

  test("is told by the number of the last change", async () => {
    const before = walSize();
    await store.ledger.addEntry(entryOf({ nano: 5n, reference: "lost" }), auditOf());
    await store.sync();
    const { sequence } = readMark(path) ?? {};
    expect(await lostKinds(crashed(before))).toEqual([`lost-changes change ${sequence}`]);
  });

  test("is remembered in the database by who opens it, and no later mark hides it", async () => {
    await store.ledger.commit([write(receiptOf())]);
    const before = walSize();
    const lost = receiptOf();
    await store.ledger.commit([write(lost)]);
    const cut = crashed(before);
    const next = await createStore(openSqlite(cut), "x");
    expect(next.lostTail).toMatchObject({ receiptId: lost.id, sequence: 0 });
    await next.ledger.commit([write(receiptOf())]);
    await next.close();
    expect(await lostKinds(cut)).toEqual([`lost-receipts ${lost.id}`]);
    const again = await createStore(openSqlite(cut), "x");
    expect(again.lostTail).toBeUndefined();
    await again.close();
    expect(await lostKinds(cut)).toEqual([`lost-receipts ${lost.id}`]);
  });
});

describe("a mark", () => {
  test("tells what the sync covered that is done, never what was committed since", () => {
    const at = join(folder, "other.db");
    const mark = new MarkFile(at, { receiptId: "", sequence: 0 });
    mark.committed("req_1");
    mark.changed(7);
    mark.begin();
    mark.committed("req_2");
    expect(readMark(at)).toBeUndefined();
    mark.confirmed();
    expect(readMark(at)).toEqual({ receiptId: "req_1", sequence: 7 });
    mark.begin();
    mark.confirmed();
    expect(readMark(at)).toEqual({ receiptId: "req_2", sequence: 7 });
    mark.close();
  });

  test("that cannot be read is none, and only its owner can read it", () => {
    expect((statSync(`${path}-mark`).mode & 0o777).toString(8)).toBe("600");
    const { size } = statSync(`${path}-mark`);
    expect(size).toBe(96);
    writeFileSync(`${path}-mark`, "svc mark 1 req_");
    expect(readMark(path)).toBeUndefined();
  });
});
