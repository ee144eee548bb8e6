import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { KeyRecord } from "../../src/keys/directory.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createRejectionStore } from "../../src/store/postgres/rejections/store.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { auditOf } from "../store/audit-sample.ts";
import { model, price, provider } from "../store/catalog-samples.ts";
import { noonMs } from "../store/ledger-samples.ts";
import { join } from "../store/people-contract.ts";
import { inviteOf, sessionOf, userOf } from "../store/people-samples.ts";
import { rejectionCountOf, rejectionOf } from "../store/rejection-samples.ts";
import { sealedOf } from "../store/response-samples.ts";

/** Each has connections of its own, as a process has. */
async function openStore(url: string, fingerprint = "x"): Promise<SharedStore> {
  const postgres = await openPostgres({ url, connections: 4 });
  try {
    return await createPostgresStore(postgres, fingerprint);
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

const account = { id: "acct_1", name: "default", createdAtMs: 1 };
const keyOf = (id: string, rest: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  accountId: "acct_1",
  name: "",
  hash: `hash of ${id}`,
  hint: "x",
  createdAtMs: 1,
  ...rest,
});
const countOf = <T>(list: readonly T[], wanted: T) => list.filter((one) => one === wanted).length;

describe("processes that start together on an empty database", () => {
  let url: string;
  beforeEach(async () => {
    url = await createDatabase();
  });
  afterEach(() => dropDatabase(url));

  test("all open it, and its tables are created once", async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(url)));
    for (const store of stores) expect(await store.feed.latest()).toBe(0);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("only those with the first secret open it", async () => {
    const secrets = ["a", "b", "a", "b", "a", "b"];
    const opened = await Promise.allSettled(secrets.map((secret) => openStore(url, secret)));
    const winners = new Set<string | undefined>();
    for (const [at, outcome] of opened.entries()) {
      if (outcome.status === "rejected")
        expect(String(outcome.reason)).toContain("another master secret");
      else {
        winners.add(secrets[at]);
        await outcome.value.close();
      }
    }
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(winners.size).toBe(1);
  });
});

describe("eight processes on one database", () => {
  let url: string;
  let stores: readonly SharedStore[];
  let first: SharedStore;
  beforeAll(async () => {
    url = await createMigratedDatabase();
    stores = await Promise.all(Array.from({ length: 8 }, () => openStore(url)));
    const [one] = stores;
    if (one === undefined) throw new Error("there are eight");
    first = one;
    await first.accounts.insert(account, auditOf());
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await dropDatabase(url);
  });
  const all = <T>(work: (store: SharedStore, at: number) => Promise<T>) =>
    Promise.all(stores.map(work));

  test("create an account of one name once", async () => {
    const before = await first.feed.latest();
    const inserted = await all(({ accounts }, at) =>
      accounts.insert({ ...account, id: `acct_raced_${at}`, name: "raced" }, auditOf()),
    );
    expect(countOf(inserted, true)).toBe(1);
    const list = await first.accounts.list();
    expect(list.map(({ name }) => name)).toEqual(["default", "raced"]);
    expect(await first.feed.latest()).toBe(before + 1);
  });

  test("create a key with one secret once, and the others leave nothing behind", async () => {
    const before = await first.feed.latest();
    const audits = stores.map(() => auditOf({ action: "key.race" }));
    const outcomes = await Promise.allSettled(
      stores.map(({ keys }, at) =>
        keys.insert(keyOf(`key_race_${at}`, { hash: "same" }), audits[at] ?? auditOf()),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await first.feed.latest()).toBe(before + 1);
    const { records } = await first.audit.list({ action: "key.race", limit: 10 });
    expect(records).toHaveLength(1);
  });

  test("revoke a key once: one moment and one record", async () => {
    await first.keys.insert(keyOf("key_revoked"), auditOf());
    const revoked = await all(({ keys }, at) =>
      keys.revoke("key_revoked", 100 + at, auditOf({ action: "key.revoke_race" })),
    );
    expect(countOf(revoked, true)).toBe(stores.length);
    const { records } = await first.audit.list({ action: "key.revoke_race", limit: 10 });
    expect(records).toHaveLength(1);
  });

  test("apply one file of many models in any order, and number each price", async () => {
    const models = Array.from({ length: 12 }, (_, at) => ({ ...model, id: `model_${at}` }));
    // Beforehand: otherwise they would wait for each other at the row of the provider.
    await first.catalog.write({ atMs: 1, saveProviders: [provider] }, auditOf());
    await all(({ catalog }, at) => {
      const saveModels = at % 2 === 0 ? models : models.toReversed();
      return catalog.write(
        {
          atMs: 1,
          saveModels,
          addPrices: saveModels.map(({ id }) => ({
            modelId: id,
            price,
            effectiveAtMs: 5,
            createdAtMs: 5,
          })),
          manifestHash: "same",
        },
        auditOf(),
      );
    });
    const { models: loaded } = await first.catalog.load();
    expect(loaded).toHaveLength(models.length);
    for (const { prices, costs } of loaded) {
      expect(prices.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(costs?.version).toBe(1);
    }
    expect((await first.catalog.manifestState()).hash).toBe("same");
  });

  test("number changes so that a follower sees each in order, and none late", async () => {
    const each = 25;
    const start = await first.feed.latest();
    const last = start + each * stores.length;
    const write = async ({ keys }: SharedStore, at: number) => {
      for (let count = 0; count < each; count++)
        await keys.insert(keyOf(`key_${at}_${count}`), auditOf());
    };
    const follow = async ({ feed, keys }: SharedStore) => {
      const seen: number[] = [];
      for (let sequence = start; sequence < last; ) {
        const changes = await feed.since(sequence);
        // Never undefined: nothing is missing, however many write meanwhile.
        if (changes === undefined) throw new Error(`a gap after ${sequence}`);
        seen.push(...changes.map((change) => change.sequence));
        const newest = changes.at(-1);
        if (newest === undefined) continue;
        ({ sequence } = newest);
        expect(await keys.get(newest.subject)).toBeDefined();
      }
      return seen;
    };
    const [seen] = await Promise.all([Promise.all(stores.map(follow)), all(write)]);
    const expected = Array.from({ length: last - start }, (_, at) => start + at + 1);
    for (const numbers of seen) expect(numbers).toEqual(expected);
  });

  test("let one of two take a link, and one of two take an address", async () => {
    await first.people.addInvite(inviteOf("invite_once"), auditOf());
    const accepted = await all(({ people }, at) =>
      people.accept(
        {
          inviteId: "invite_once",
          addUser: userOf(`user_once_${at}`),
          addSession: sessionOf(`session_once_${at}`),
        },
        auditOf(),
      ),
    );
    expect(countOf(accepted, "accepted")).toBe(1);
    expect(countOf(accepted, "used")).toBe(7);
    for (const at of stores.keys())
      await first.people.addInvite(inviteOf(`invite_${at}`), auditOf());
    const joined = await all(({ people }, at) =>
      people.accept(
        {
          inviteId: `invite_${at}`,
          addUser: userOf(`user_same_${at}`, { email: "same@example.com" }),
          addSession: sessionOf(`session_same_${at}`),
        },
        auditOf(),
      ),
    );
    expect(countOf(joined, "accepted")).toBe(1);
    expect(countOf(joined, "email-taken")).toBe(7);
  });

  test("leave an account one owner and the platform one operator", async () => {
    for (const at of stores.keys())
      await join(first.people, userOf(`owner_${at}`, { isOperator: true }), {
        accountId: "acct_1",
        role: "owner",
      });
    const change = { accountId: "acct_1", isForced: false, nowMs: 5 };
    const left = await all(({ people }, at) => {
      const own = { ...change, userId: `owner_${at}` };
      return at % 2 === 0
        ? people.removeMembership(own, auditOf())
        : people.setRole({ ...own, role: "viewer" }, auditOf());
    });
    expect([countOf(left, "done"), countOf(left, "last")]).toEqual([7, 1]);
    const removed = await all(({ people }, at) =>
      people.removeOperator(`owner_${at}`, 5, auditOf()),
    );
    expect([countOf(removed, "removed"), countOf(removed, "last")]).toEqual([7, 1]);
  });

  test("keep the bound of stored responses together, and count each deletion once", async () => {
    const [accountBytes, large] = [6 * 1024 * 1024, 1024 * 1024 + 1];
    const find = ({ responses }: SharedStore, ids: readonly string[]) =>
      responses.find({ accountId: "acct_1", ids, nowMs: noonMs });
    const ids = stores.map((_, at) => `resp_${at}`);
    await all(async ({ responses }, at) => {
      const given = { createdAtMs: noonMs + at, items: new Uint8Array(large).fill(at) };
      await responses.save(sealedOf({ id: `resp_${at}`, ...given }), accountBytes);
    });
    const kept = await find(first, ids);
    expect(kept.length).toBeLessThanOrEqual(5);
    expect(kept.length).toBeGreaterThan(0);
    for (const { id, items } of kept)
      expect([items.length, `resp_${items.at(-1)}`]).toEqual([large, id]);
    const [one] = kept;
    const removed = await all(({ responses }) =>
      responses.remove({ accountId: "acct_1", id: one?.id ?? "", nowMs: noonMs }),
    );
    expect(countOf(removed, true)).toBe(1);
    const { responses: count } = await first.responses.totals("acct_1");
    expect(count).toBe(kept.length - 1);
    const afterAllMs = noonMs + 999 * 86_400_000;
    await all(async ({ responses }) => {
      while (await responses.sweep(afterAllMs));
    });
    expect(await first.responses.totals("acct_1")).toEqual({ responses: 0, bytes: 0 });
    expect(await find(first, ids)).toEqual([]);
  });

  test("lose no hint and no failed sign-in, and keep one record of each hour", async () => {
    await all(({ people }, at) => people.dismiss("user_1", `hint ${at}`, auditOf()));
    expect((await first.people.preferences("user_1")).dismissed.toSorted()).toEqual(
      [...stores.keys()].map((at) => `hint ${at}`),
    );
    await all(({ people }) =>
      people.countFailedSignIn(auditOf({ action: "session.failed", subject: "ada" })),
    );
    const { records } = await first.audit.list({ action: "session.failed", limit: 10 });
    expect(records.map(({ detail }) => detail)).toEqual([{ count: 8 }]);
  });

  test("write uses, checks and failures of the same names in any order", async () => {
    const ids = Array.from({ length: 25 }, (_, at) => `key_0_${at}`);
    const rows = Array.from({ length: 20 }, (_, at) => ({
      hourMs: at,
      provider: "p",
      failures: 1,
    }));
    await all(async ({ keys, targetChecks, providerFailures }, at) => {
      const inOrder = <T>(list: readonly T[]) => (at % 2 === 0 ? list : list.toReversed());
      for (let round = 0; round < 5; round++) {
        await keys.noteUses(new Map(inOrder(ids).map((id) => [id, 10 * round + at])));
        await providerFailures.add(inOrder(rows), round);
        const check = { provider: "acme", key: "default", model: `m${round}`, digest: "d" };
        await targetChecks.save({ ...check, isOk: at % 2 === 0, atMs: at });
        await targetChecks.forgetFailures({ provider: "acme" }, auditOf());
      }
    });
    const uses = await first.keys.lastUses();
    expect(new Set(ids.map((id) => uses.get(id)))).toEqual(new Set([47]));
  });
});

describe("processes that count refused calls", () => {
  const dayMs = 86_400_000;

  test("add to the same sums, and erase together no more than one would", async () => {
    const url = await createMigratedDatabase();
    const open = () => openPostgres({ url, connections: 2 });
    const opened = await Promise.all([open(), open(), open(), open()]);
    const bounds = { rows: 9_999, rowsOfAccount: 900, counts: 9_999, countsOfAccount: 20 };
    const counts = Array.from({ length: 30 }, (_, at) => rejectionCountOf({ keyId: `key_${at}` }));
    const add = async ({ db }: Postgres, at: number) => {
      const store = createRejectionStore(db);
      for (let round = 0; round < 10; round++) {
        const rows = Array.from({ length: 50 }, (_, row) =>
          rejectionOf({ atMs: noonMs + round * 50 + row }),
        );
        const old = rows.map((_, row) => rejectionOf({ atMs: noonMs + row - 31 * dayMs }));
        const inOrder = at % 2 === 0 ? counts : counts.toReversed();
        await store.add({ rows: [...rows, ...old], counts: inOrder, keys: [] });
        while (await store.erase(noonMs));
      }
    };
    const [{ db }] = opened;
    const idsOf = async () => {
      const rows = await db.selectFrom("rejections").select("id").orderBy("id").execute();
      return rows.map(({ id }) => id);
    };
    const sums = async () =>
      (await db.selectFrom("rejection_hours").select("count").execute()).map(({ count }) => count);
    await Promise.all(opened.map(add));
    const all = await idsOf();
    expect(all).toHaveLength(2_000);
    expect(await sums()).toEqual(counts.map(() => 40));
    const stores = opened.map((one) => createRejectionStore(one.db, bounds));
    for (const store of stores) await store.add({ rows: [], counts, keys: [] });
    await Promise.all(
      stores.map(async (store) => {
        while (await store.erase(noonMs));
      }),
    );
    expect(await idsOf()).toEqual(all.slice(-900));
    expect(await sums()).toHaveLength(20);
    await Promise.all(opened.map((one) => one.close()));
    await dropDatabase(url);
  });
});
