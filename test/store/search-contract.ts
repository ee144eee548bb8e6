import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import type { KeyRecord } from "../../src/keys/directory.ts";
import { auditOf } from "./audit-sample.ts";
import { model } from "./catalog-samples.ts";
import type { CreateTables, OpenTables } from "./tables-contract.ts";

/** How accounts, keys and audit records are found by what people type. */
export function searchContract(name: string, create: CreateTables): void {
  describe(`search on ${name}`, () => {
    let tables: OpenTables;
    beforeEach(async () => {
      tables = await create();
    });
    afterEach(() => tables.remove());

    findingTests(() => tables);
    renamingTests(() => tables);

    test("a page of the audit log looks at no more than it may, and the next goes on there", async () => {
      const { db, store } = tables;
      await store.audit.add(auditOf({ atMs: 0, id: newId("audit", 0), subject: "s0" }));
      const [row] = await db.selectFrom("audit").selectAll().execute();
      if (row === undefined) throw new Error("there is one");
      const rows = Array.from({ length: 5_002 }, (_, at) => ({
        ...row,
        id: newId("audit", at + 1),
        at_ms: at + 1,
        subject: `s${at + 1}`,
      }));
      for (let at = 0; at < rows.length; at += 1_000)
        await db
          .insertInto("audit")
          .values(rows.slice(at, at + 1_000))
          .execute();
      const first = await store.audit.list({ subject: "s1", limit: 2_000 });
      expect(first.records).toHaveLength(1_110);
      const last = await store.audit.list({ subject: "s1", limit: 2_000, after: first.after });
      expect(last).toMatchObject({ records: [{ subject: "s1" }], after: undefined });
    });
  });
}

function findingTests(tables: () => OpenTables): void {
  test("accounts have every word, whatever the case, and the best comes first", async () => {
    const names = ["acme west", "Acme", "ACME East", "over acme", "100%_done", "Ünal", "zürich"];
    for (const [at, account] of names.entries())
      await tables().store.accounts.insert(
        { id: `acct_${at}`, name: account, createdAtMs: 1 },
        auditOf(),
      );
    const found = async (text: string, limit = 9) =>
      (await tables().store.accounts.search({ text, limit })).map((account) => account.name);
    expect(await found("acme")).toEqual(["Acme", "ACME East", "acme west", "over acme"]);
    expect(await found("acme", 2)).toEqual(["Acme", "ACME East"]);
    expect(await found("WEST acme")).toEqual(["acme west"]);
    expect(await found("acct_3")).toEqual(["over acme"]);
    // Letters, and not patterns.
    expect(await found("%_")).toEqual(["100%_done"]);
    expect(await found("a_me")).toEqual([]);
    expect(await found("ünal")).toEqual(["Ünal"]);
    expect(await found("ZÜRICH")).toEqual(["zürich"]);
    expect(await found(" ")).toEqual([]);
    expect(await found("acme\0")).toEqual([]);
    expect(await tables().store.accounts.find("\0")).toBeUndefined();
  });

  test("keys are found by name, id and hint, of one account or of all", async () => {
    for (const id of ["acct_1", "acct_2"])
      await tables().store.accounts.insert({ id, name: id, createdAtMs: 1 }, auditOf());
    const keyOf = (id: string, rest: Partial<KeyRecord>): KeyRecord => ({
      id,
      accountId: "acct_1",
      name: "",
      hash: id,
      hint: "sk-svc-…abcd",
      createdAtMs: 1,
      ...rest,
    });
    await tables().store.keys.insert(keyOf("key_1", { name: "Checkout page" }), auditOf());
    await tables().store.keys.insert(keyOf("key_2", { accountId: "acct_2" }), auditOf());
    const found = async (text: string, accountId?: string) =>
      (
        await tables().store.keys.search({
          text,
          limit: 9,
          ...(accountId === undefined ? {} : { accountId }),
        })
      ).map(({ id }) => id);
    expect(await found("PAGE check")).toEqual(["key_1"]);
    expect(await found("…abcd")).toEqual(["key_1", "key_2"]);
    expect(await found("…abcd", "acct_2")).toEqual(["key_2"]);
    expect(await tables().store.keys.names(["key_1", "key_1", "none"])).toEqual(
      new Map([["key_1", { name: "Checkout page", hint: "sk-svc-…abcd" }]]),
    );
  });
}

function renamingTests(tables: () => OpenTables): void {
  test("a renamed model is renamed in the lists of keys, and those are announced", async () => {
    const { accounts, keys, catalog, feed } = tables().store;
    await accounts.insert({ id: "acct_1", name: "a", createdAtMs: 1 }, auditOf());
    const keyOf = (id: string, models: readonly string[]): KeyRecord => ({
      id,
      accountId: "acct_1",
      name: "",
      hash: id,
      hint: "x",
      models: new Set(models),
      createdAtMs: 1,
    });
    await keys.insert(keyOf("key_1", ["a_b", "other"]), auditOf());
    // Would match if the name were a pattern, or without regard to case.
    await keys.insert(keyOf("key_2", ["axb", "A_B"]), auditOf());
    await catalog.write({ atMs: 1, saveModels: [{ ...model, id: "a_b" }] }, auditOf());
    const before = await feed.latest();
    const renameModel = { from: "a_b", to: "new" };
    const saveModels = [{ ...model, id: "new" }];
    await catalog.write({ atMs: 2, saveModels, renameModel }, auditOf());
    expect((await keys.get("key_1"))?.models).toEqual(new Set(["new", "other"]));
    expect((await keys.get("key_2"))?.models).toEqual(new Set(["axb", "A_B"]));
    const seen = (await feed.since(before))?.map(({ topic, subject }) => `${topic}:${subject}`);
    expect(seen).toEqual(["keys:key_1", "catalog:"]);
  });
}
