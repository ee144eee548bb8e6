import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { nextTurn } from "../../src/base/clock.ts";
import type { ResponseStore, SealedResponse } from "../../src/responses/response.ts";
import { auditOf } from "./audit-sample.ts";
import { noonMs } from "./ledger-samples.ts";
import { sealedOf } from "./response-samples.ts";
import type { CreateTables, OpenTables } from "./tables-contract.ts";

const roomy = 2 ** 30;
const all = { accountId: "acct_1", nowMs: noonMs };

/** With so many bytes in all. */
const sized = (id: string, sizeBytes: number, given: Partial<SealedResponse> = {}) =>
  sealedOf({ id, items: new Uint8Array(sizeBytes - 1), reply: new Uint8Array(1), ...given });

/** What stored responses rely on, whatever the database. */
export function responsesContract(name: string, create: CreateTables): void {
  describe(`stored responses on ${name}`, () => {
    let tables: OpenTables;
    let responses: ResponseStore;
    beforeEach(async () => {
      tables = await create();
      ({ responses } = tables.store);
      for (const id of ["acct_1", "acct_2"])
        await tables.store.accounts.insert({ id, name: id, createdAtMs: 0 }, auditOf());
    });
    afterEach(() => tables.remove());
    readTests(() => responses);
    boundTests(
      () => responses,
      () => tables,
    );
    pieceTests(
      () => responses,
      () => tables,
    );
    partTests(
      () => responses,
      () => tables,
    );
    removalTests(
      () => responses,
      () => tables,
    );
  });
}

/** In the order of their ids. */
async function idsIn({ db }: OpenTables, accountId = "acct_1"): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("stored_responses")
    .select("id")
    .where("account_id", "=", accountId)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** The totals are what the rows add up to. */
async function expectTotals(tables: OpenTables, accountId = "acct_1"): Promise<void> {
  const rows = await tables.db
    .selectFrom("stored_responses")
    .select("size_bytes")
    .where("account_id", "=", accountId)
    .execute();
  const bytes = rows.reduce((sum, row) => sum + row.size_bytes, 0);
  expect(await tables.store.responses.totals(accountId)).toEqual({ responses: rows.length, bytes });
}

const mib = 1024 * 1024;
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7) % 251);

const piecesIn = async ({ db }: OpenTables) =>
  (await db.selectFrom("stored_response_pieces").select("place").execute()).length;

function readTests(store: () => ResponseStore): void {
  test("keeps every byte and field, and finds those of the account that have not expired", async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => at % 256);
    const first = sealedOf({ items: bytes });
    const second = sealedOf({ id: "resp_2", previousId: "resp_1", expiresAtMs: noonMs + 1 });
    const foreign = sealedOf({ id: "resp_3", accountId: "acct_2" });
    for (const one of [first, second, foreign]) await store().save(one, roomy);
    const find = async (nowMs: number, accountId = "acct_1") => {
      const ids = ["resp_1", "resp_2", "resp_3", "resp_none"];
      const found = await store().find({ accountId, ids, nowMs });
      return found
        .map(({ items, reply, ...head }) => ({
          ...head,
          items: new Uint8Array(items),
          reply: new Uint8Array(reply),
        }))
        .toSorted((one, other) => one.id.localeCompare(other.id));
    };
    expect<readonly SealedResponse[]>(await find(noonMs)).toEqual([first, second]);
    expect<readonly SealedResponse[]>(await find(noonMs + 1)).toEqual([first]);
    expect<readonly SealedResponse[]>(await find(noonMs, "acct_2")).toEqual([foreign]);
  });

  test("two accounts can have the same id, and one account cannot", async () => {
    await store().save(sealedOf(), roomy);
    await store().save(sealedOf({ accountId: "acct_2", model: "other" }), roomy);
    await expect(store().save(sealedOf(), roomy)).rejects.toThrow();
    const [found] = await store().find({ ...all, accountId: "acct_2", ids: ["resp_1"] });
    expect(found?.model).toBe("other");
    expect((await store().totals("acct_1")).responses).toBe(1);
  });

  test("a chain goes back to the first response, or to a gap, and never on without end", async () => {
    for (let at = 1; at <= 5; at++)
      await store().save(
        sized(`resp_${at}`, 10 * at, { previousId: at === 1 ? undefined : `resp_${at - 1}` }),
        roomy,
      );
    const chain = (given: object = {}) =>
      store().chain({ ...all, id: "resp_5", most: 10, ...given });
    const numbers = async (given?: object) =>
      (await chain(given)).map(({ id }) => Number(id.split("_")[1]));
    expect(await chain({ id: "resp_2" })).toEqual([
      { id: "resp_2", previousId: "resp_1", sizeBytes: 20, itemsBytes: 19 },
      { id: "resp_1", previousId: undefined, sizeBytes: 10, itemsBytes: 9 },
    ]);
    expect(await numbers()).toEqual([5, 4, 3, 2, 1]);
    expect(await numbers({ most: 3 })).toEqual([5, 4, 3]);
    expect(await numbers({ accountId: "acct_2" })).toEqual([]);
    expect(await numbers({ id: "resp_none" })).toEqual([]);
    await store().remove({ ...all, id: "resp_3" });
    expect(await chain()).toMatchObject([{ id: "resp_5" }, { id: "resp_4", previousId: "resp_3" }]);
    await store().save(sealedOf({ id: "resp_3", previousId: "resp_5" }), roomy);
    expect(await numbers({ most: 7 })).toEqual([5, 4, 3, 5, 4, 3, 5]);
    await store().remove({ ...all, id: "resp_3" });
    const old = { previousId: "resp_2", expiresAtMs: noonMs };
    await store().save(sealedOf({ id: "resp_3", ...old }), roomy);
    expect(await numbers()).toEqual([5, 4]);
  });
}

function boundTests(store: () => ResponseStore, tables: () => OpenTables): void {
  test("an account that has too much loses its oldest, and nobody else's", async () => {
    await store().save(sized("resp_0", 900, { accountId: "acct_2", createdAtMs: 1 }), 1_000);
    for (const [at, size] of [400, 300, 300].entries())
      await store().save(sized(`resp_${at}`, size, { createdAtMs: noonMs + at }), 1_000);
    expect(await idsIn(tables())).toEqual(["resp_0", "resp_1", "resp_2"]);
    // One byte too many.
    await store().save(sized("resp_3", 1, { createdAtMs: noonMs + 3 }), 1_000);
    expect(await idsIn(tables())).toEqual(["resp_1", "resp_2", "resp_3"]);
    await expectTotals(tables());
    // All that there was has to go.
    await store().save(sized("resp_4", 1_000, { createdAtMs: noonMs + 4 }), 1_000);
    expect(await idsIn(tables())).toEqual(["resp_4"]);
    await expectTotals(tables());
    expect(await idsIn(tables(), "acct_2")).toEqual(["resp_0"]);
    await expectTotals(tables(), "acct_2");
  });

  test("hundreds of small ones make room for a large one", async () => {
    for (let at = 0; at < 450; at++)
      await store().save(sized(`resp_${at}`, 2, { createdAtMs: noonMs + at }), 900);
    await store().save(sized("resp_large", 890, { createdAtMs: noonMs + 500 }), 900);
    expect(await idsIn(tables())).toHaveLength(6);
    await expectTotals(tables());
  });

  test("responses that are saved at once keep the bound together", async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        store().save(sized(`resp_${at}`, 100, { createdAtMs: noonMs + at }), 1_000),
      ),
    );
    expect(await idsIn(tables())).toHaveLength(10);
    await expectTotals(tables());
  });
}

function pieceTests(store: () => ResponseStore, tables: () => OpenTables): void {
  const pieces = () => piecesIn(tables());
  const find = async (id: string) => {
    const [found] = await store().find({ ...all, ids: [id] });
    return found && [Bun.hash(new Uint8Array(found.items)), Bun.hash(new Uint8Array(found.reply))];
  };

  test("large ones are kept in pieces, whichever part is large", async () => {
    const sizes = [
      [mib, 1],
      [3, 2 * mib - 3],
      [2 * mib, mib],
      [mib + 5, mib - 6],
      [0, mib + 1],
    ] as const;
    for (const [at, [ofItems, ofReply]] of sizes.entries()) {
      const [items, reply] = [bytesOf(ofItems), bytesOf(ofReply)];
      await store().save(sealedOf({ id: `resp_${at}`, items, reply }), roomy);
      expect(await find(`resp_${at}`)).toEqual([Bun.hash(items), Bun.hash(reply)]);
    }
    expect(await pieces()).toBe(2 + 2 + 3 + 2 + 2);
    await expectTotals(tables());
    for (const at of sizes.keys()) await store().remove({ ...all, id: `resp_${at}` });
    expect([await pieces(), await idsIn(tables())]).toEqual([0, []]);
    await expectTotals(tables());
  });

  test("one that was not written to its end is not found, and swept after an hour", async () => {
    await store().save(sized("resp_1", 3 * mib), roomy);
    await store().save(sealedOf({ id: "resp_2", previousId: "resp_1" }), roomy);
    // As the process leaves it that dies before the last piece.
    await tables().db.deleteFrom("stored_response_pieces").where("place", "=", 2).execute();
    await tables()
      .db.updateTable("stored_responses")
      .set({ is_whole: 0, expires_at_ms: noonMs + 3_600_000 })
      .where("id", "=", "resp_1")
      .execute();
    expect(await find("resp_1")).toBeUndefined();
    expect(await store().chain({ ...all, id: "resp_2", most: 9 })).toHaveLength(1);
    expect(await store().remove({ ...all, id: "resp_1" })).toBe(false);
    expect(await store().sweep(noonMs + 3_599_999)).toBe(false);
    expect(await store().sweep(noonMs + 3_600_000)).toBe(true);
    expect([await pieces(), await idsIn(tables())]).toEqual([0, ["resp_2"]]);
    await expectTotals(tables());
  });

  test("a deletion that was interrupted is finished by a sweep, and counted once", async () => {
    await store().save(sized("resp_1", 3 * mib), roomy);
    await store().save(sized("resp_2", 5), roomy);
    const { db } = tables();
    // As the process leaves it that dies after the first piece.
    await db
      .updateTable("stored_responses")
      .set({ is_whole: 0, expires_at_ms: 0, size_bytes: 0 })
      .where("id", "=", "resp_1")
      .execute();
    await db.updateTable("stored_response_totals").set({ responses: 1, bytes: 5 }).execute();
    await db.deleteFrom("stored_response_pieces").where("place", "=", 0).execute();
    expect(await find("resp_1")).toBeUndefined();
    expect(await store().sweep(noonMs)).toBe(true);
    expect([await pieces(), await idsIn(tables())]).toEqual([0, ["resp_2"]]);
    await expectTotals(tables());
  });

  test("they make room for others with all of their pieces", async () => {
    for (let at = 0; at < 3; at++)
      await store().save(sized(`resp_${at}`, 2 * mib, { createdAtMs: noonMs + at }), 5 * mib);
    expect([await pieces(), await idsIn(tables())]).toEqual([4, ["resp_1", "resp_2"]]);
    await expectTotals(tables());
  });
}

function partTests(store: () => ResponseStore, tables: () => OpenTables): void {
  const pieces = () => piecesIn(tables());

  test("one that is being written is removed with all of its account", async () => {
    const removeAll = () => store().removeAll({ accountId: "acct_1", toMs: noonMs }, auditOf());
    await store().save(sized("resp_1", 3 * mib), roomy);
    // As it is before its last piece.
    await tables().db.updateTable("stored_responses").set({ is_whole: 0 }).execute();
    expect(await removeAll()).toEqual({ responses: 1, bytes: 3 * mib });
    expect([await pieces(), await idsIn(tables())]).toEqual([0, []]);
    const outcome = store()
      .save(sized("resp_2", 16 * mib), roomy)
      .then(
        () => "saved",
        () => "refused",
      );
    // SQLite answers within the turn: without another one, the save would never go on.
    while ((await pieces()) === 0) await nextTurn();
    expect(await removeAll()).toEqual({ responses: 1, bytes: 16 * mib });
    expect(["saved", "refused"]).toContain(await outcome);
    expect([await pieces(), await idsIn(tables())]).toEqual([0, []]);
    await expectTotals(tables());
  });

  test("items are read without the reply, also of those in pieces", async () => {
    const sizes = [
      [5, 7],
      [2 * mib, mib],
      [mib + 5, 2 * mib],
      [0, 2 * mib],
    ] as const;
    for (const [at, [ofItems, ofReply]] of sizes.entries()) {
      const id = `resp_${at}`;
      const items = bytesOf(ofItems);
      await store().save(sealedOf({ id, items, reply: new Uint8Array(ofReply) }), roomy);
      const [found] = await store().findItems({ ...all, ids: [id] });
      expect(found).toMatchObject({ id, accountId: "acct_1", previousId: undefined });
      expect(found).not.toHaveProperty("reply");
      expect(found && Bun.hash(new Uint8Array(found.items))).toBe(Bun.hash(items));
    }
    const foreign = { ...all, accountId: "acct_2", ids: ["resp_0"] };
    expect(await store().findItems(foreign)).toEqual([]);
  });
}

function removalTests(store: () => ResponseStore, tables: () => OpenTables): void {
  test("removes one, once, of its own account alone", async () => {
    await store().save(sealedOf(), roomy);
    await store().save(sealedOf({ id: "resp_2", expiresAtMs: noonMs }), roomy);
    const remove = (id: string, accountId = "acct_1") =>
      store().remove({ accountId, id, nowMs: noonMs });
    expect(await remove("resp_1", "acct_2")).toBe(false);
    expect(await remove("resp_2")).toBe(false);
    expect(await remove("resp_1")).toBe(true);
    expect(await remove("resp_1")).toBe(false);
    expect(await idsIn(tables())).toEqual(["resp_2"]);
    await expectTotals(tables());
  });

  test("a sweep deletes what has expired, in steps, and nothing else", async () => {
    for (let at = 0; at < 250; at++) {
      const accountId = at % 5 === 0 ? "acct_2" : "acct_1";
      await store().save(sized(`resp_${at}`, 5, { accountId, expiresAtMs: noonMs - 1 }), roomy);
    }
    await store().save(sized("resp_due", 5, { expiresAtMs: noonMs }), roomy);
    await store().save(sized("resp_kept", 5, { expiresAtMs: noonMs + 1 }), roomy);
    let steps = 0;
    while (await store().sweep(noonMs)) steps++;
    expect(steps).toBe(2);
    expect(await idsIn(tables())).toEqual(["resp_kept"]);
    expect(await idsIn(tables(), "acct_2")).toEqual([]);
    await expectTotals(tables());
    await expectTotals(tables(), "acct_2");
  });

  test("large ones are swept one by one, and by several sweeps at once", async () => {
    const large = 8 * 1024 * 1024;
    for (let at = 0; at < 3; at++)
      await store().save(sized(`resp_${at}`, large, { expiresAtMs: noonMs + at }), roomy);
    expect(await store().sweep(noonMs + 5)).toBe(true);
    expect(await idsIn(tables())).toEqual(["resp_1", "resp_2"]);
    await Promise.all([store().sweep(noonMs + 5), store().sweep(noonMs + 5)]);
    while (await store().sweep(noonMs + 5));
    expect(await store().totals("acct_1")).toEqual({ responses: 0, bytes: 0 });
  });

  test("all of an account are removed up to a moment, with one record for all steps", async () => {
    for (let at = 0; at < 450; at++)
      await store().save(sized(`resp_${at}`, 5, { createdAtMs: noonMs - at }), roomy);
    await store().save(sized("resp_later", 5, { createdAtMs: noonMs + 1 }), roomy);
    await store().save(sized("resp_0", 5, { accountId: "acct_2" }), roomy);
    const removeAll = () =>
      store().removeAll(
        { accountId: "acct_1", toMs: noonMs },
        auditOf({ action: "response.purge" }),
      );
    expect(await removeAll()).toEqual({ responses: 450, bytes: 2_250 });
    expect(await removeAll()).toEqual({ responses: 0, bytes: 0 });
    const { audit } = tables().store;
    const { records } = await audit.list({ action: "response.purge", limit: 10 });
    expect(records).toHaveLength(1);
    expect(await idsIn(tables())).toEqual(["resp_later"]);
    expect(await idsIn(tables(), "acct_2")).toEqual(["resp_0"]);
    await expectTotals(tables());
  });
}
