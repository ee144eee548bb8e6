import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { FeedFollower } from "../../src/base/feed.ts";
import type { Limits } from "../../src/call/limits.ts";
import type { Price } from "../../src/call/price.ts";
import type { Model } from "../../src/catalog/model.ts";
import type { KeyRecord } from "../../src/keys/directory.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import { model, price, provider } from "./catalog-samples.ts";
import type { SharedDatabase } from "./contract-database.ts";

const account = { id: "acct_1", name: "default", createdAtMs: 1 };
const key: KeyRecord = {
  id: "key_1",
  accountId: "acct_1",
  name: "k",
  hash: "h1",
  hint: "sk-svc-…abcd",
  createdAtMs: 2,
};
const limits: Limits = {
  rpm: 60,
  tpm: 1_000,
  concurrency: 2,
  budget: { nano: 9_007_199_254_740_993n, period: "month" },
};

/** As it is read after it was first written. */
const withCosts = (saved: Model): Model => ({
  ...saved,
  costs: { version: 1, routes: saved.routes },
});

/** Every database behind the ports passes this suite: it is what the domains rely on. */
export function storeContract(name: string, create: () => Promise<SharedDatabase>): void {
  describe(`store contract on ${name}`, () => {
    let database: SharedDatabase;
    let store: SharedStore;
    beforeEach(async () => {
      database = await create();
      store = await database.open();
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
    });

    test("keeps accounts, found by id and by name, with unique names", async () => {
      expect(await store.accounts.insert(account, auditOf())).toBe(true);
      expect(await store.accounts.insert({ ...account, id: "acct_2" }, auditOf())).toBe(false);
      expect(await store.accounts.find("acct_1")).toEqual(account);
      expect(await store.accounts.find("default")).toEqual(account);
      expect(await store.accounts.find("acct_2")).toBeUndefined();
      expect(await store.accounts.list()).toEqual([account]);
    });

    test("sets how long receipts of one account are kept, and changes nothing else", async () => {
      await store.accounts.insert(account, auditOf());
      const other = { ...account, id: "acct_2", name: "other", receiptsDays: 7 };
      await store.accounts.insert(other, auditOf());
      await store.accounts.setReceiptsDays("acct_1", 30, auditOf());
      expect(await store.accounts.list()).toEqual([{ ...account, receiptsDays: 30 }, other]);
      await store.accounts.setReceiptsDays("acct_1", undefined, auditOf());
      expect(await store.accounts.list()).toEqual([account, other]);
    });

    test("suspends and resumes one account, and changes nothing else of it", async () => {
      const full = { ...account, suspendedAtMs: 7, limits };
      await store.accounts.insert(full, auditOf());
      const other = { ...account, id: "acct_2", name: "other" };
      await store.accounts.insert(other, auditOf());
      const known = { ...full, limitsVersion: 1 };
      expect(await store.accounts.find("default")).toEqual(known);
      const before = await store.feed.latest();
      await store.accounts.setSuspended("acct_1", undefined, auditOf());
      const { suspendedAtMs: _suspended, ...resumed } = known;
      expect(await store.accounts.list()).toEqual([resumed, other]);
      expect((await store.feed.since(before))?.map(({ subject }) => subject)).toEqual(["acct_1"]);
      await store.accounts.setSuspended("acct_1", 9, auditOf());
      expect(await store.accounts.list()).toEqual([{ ...known, suspendedAtMs: 9 }, other]);
    });

    test("keeps keys with and without their optional parts", async () => {
      await store.accounts.insert(account, auditOf());
      const full: KeyRecord = {
        ...key,
        id: "key_2",
        hash: "h2",
        models: new Set(["a", "b"]),
        expiresAtMs: 9_999_999_999_999,
      };
      await store.keys.insert(key, auditOf());
      await store.keys.insert(full, auditOf());
      expect(await store.keys.all()).toEqual([key, full]);
      expect(await store.keys.get("key_2")).toEqual(full);
      expect(await store.keys.get("key_3")).toBeUndefined();
    });

    test("refuses a key of no account and a hash that is taken, and keeps nothing of it", async () => {
      await expect(store.keys.insert(key, auditOf())).rejects.toThrow();
      await store.accounts.insert(account, auditOf());
      await store.keys.insert(key, auditOf());
      const before = await store.feed.latest();
      await expect(store.keys.insert({ ...key, id: "key_2" }, auditOf())).rejects.toThrow();
      expect(await store.keys.all()).toEqual([key]);
      expect(await store.feed.latest()).toBe(before);
    });

    test("revokes once: the first time stands", async () => {
      await store.accounts.insert(account, auditOf());
      await store.keys.insert(key, auditOf());
      expect(await store.keys.revoke("key_1", 50, auditOf())).toBe(true);
      expect(await store.keys.revoke("key_1", 60, auditOf())).toBe(true);
      expect((await store.keys.get("key_1"))?.revokedAtMs).toBe(50);
      expect(await store.keys.revoke("key_9", 50, auditOf())).toBe(false);
    });

    test("renames a key and changes its models, and leaves what is not named", async () => {
      await store.accounts.insert(account, auditOf());
      await store.keys.insert({ ...key, limits }, auditOf());
      await store.keys.insert({ ...key, id: "key_2", hash: "h2" }, auditOf());
      const before = await store.feed.latest();
      expect(await store.keys.update("key_1", { name: "laptop" }, auditOf())).toBe(true);
      expect(await store.keys.update("key_1", { models: new Set(["a", "b"]) }, auditOf())).toBe(
        true,
      );
      const kept = { ...key, limits, limitsVersion: 1 };
      const changed = { ...kept, name: "laptop", models: new Set(["a", "b"]) };
      expect(await store.keys.get("key_1")).toEqual(changed);
      expect(await store.keys.update("key_1", { name: "", models: null }, auditOf())).toBe(true);
      expect(await store.keys.get("key_1")).toEqual({ ...kept, name: "" });
      expect((await store.keys.get("key_2"))?.name).toBe("k");
      expect((await store.feed.since(before))?.map(({ subject }) => subject)).toEqual([
        "key_1",
        "key_1",
        "key_1",
      ]);
    });

    test("rotates: the secret before is kept until its time, and only the last one", async () => {
      await store.accounts.insert(account, auditOf());
      await store.keys.insert(key, auditOf());
      const before = await store.feed.latest();
      const rotate = (hash: string, previousUntilMs: number | undefined) =>
        store.keys.rotate("key_1", { hash, hint: `hint of ${hash}`, previousUntilMs }, auditOf());
      expect(await rotate("h2", 70)).toBe(true);
      const { hash, hint } = key;
      const second = { ...key, hash: "h2", hint: "hint of h2" };
      expect(await store.keys.get("key_1")).toEqual({
        ...second,
        previous: { hash, hint, expiresAtMs: 70 },
      });
      expect(await rotate("h3", 80)).toBe(true);
      expect((await store.keys.get("key_1"))?.previous).toEqual({
        hash: "h2",
        hint: "hint of h2",
        expiresAtMs: 80,
      });
      expect(await rotate("h4", undefined)).toBe(true);
      const last = { ...key, hash: "h4", hint: "hint of h4" };
      expect(await store.keys.all()).toEqual([last]);
      expect((await store.feed.since(before))?.map(({ subject }) => subject)).toEqual([
        "key_1",
        "key_1",
        "key_1",
      ]);
    });

    test("neither rotates nor renames a key that is revoked or unknown", async () => {
      await store.accounts.insert(account, auditOf());
      await store.keys.insert(key, auditOf());
      await store.keys.revoke("key_1", 50, auditOf());
      const before = await store.feed.latest();
      const secret = { hash: "h2", hint: "x", previousUntilMs: undefined };
      for (const id of ["key_1", "key_9"]) {
        expect(await store.keys.rotate(id, secret, auditOf())).toBe(false);
        expect(await store.keys.update(id, { name: "x" }, auditOf())).toBe(false);
      }
      expect(await store.keys.get("key_1")).toEqual({ ...key, revokedAtMs: 50 });
      expect(await store.feed.latest()).toBe(before);
    });

    test("keeps the latest use of each key, of those that it knows, without a change told", async () => {
      await store.accounts.insert(account, auditOf());
      await store.keys.insert(key, auditOf());
      await store.keys.insert({ ...key, id: "key_2", hash: "h2" }, auditOf());
      const before = await store.feed.latest();
      await store.keys.noteUses(
        new Map([
          ["key_1", 1_893_456_000_500],
          ["key_temporary", 8],
        ]),
      );
      await store.keys.noteUses(
        new Map([
          ["key_1", 7],
          ["key_2", 9],
        ]),
      );
      await store.keys.noteUses(new Map());
      expect(await store.keys.lastUses()).toEqual(
        new Map([
          ["key_1", 1_893_456_000_500],
          ["key_2", 9],
        ]),
      );
      expect(await store.feed.latest()).toBe(before);
    });

    test("writes the catalogue whole, costs to the last digit", async () => {
      const origin = { file: "svc.yaml", fields: ["kind"] };
      const secret = { apiKey: { sealed: "x" }, allowPrivate: true };
      const sealed = { ...provider, ...secret, name: "b", origin };
      const speech: Model = {
        id: "tts",
        endpoint: "speech",
        input: "text",
        ownedBy: "svc",
        createdAtMs: 4,
        maxAudioSeconds: 30,
        prices: [],
        routes: [{ provider: "b", model: "t", weight: 2, voices: "same" }],
        lifecycle: { deprecatedAtMs: 5, retiresAtMs: 6, replacement: "other" },
        origin: { ...origin, costs: [{ provider: "b", model: "t" }] },
      };
      await store.catalog.write(
        {
          atMs: 1,
          saveProviders: [provider, sealed],
          saveModels: [model, speech],
          manifestHash: "abc",
        },
        auditOf(),
      );
      expect(await store.catalog.load()).toEqual({
        providers: [provider, sealed],
        models: [model, speech].map(withCosts),
      });
      expect(await store.catalog.manifestState()).toEqual({ hash: "abc", adopts: false });
      const changed = { ...provider, apiKey: { variable: "ACME_KEY" } };
      const { maxImageTokens: _bound, ...unbound } = model;
      await store.catalog.write(
        {
          atMs: 1,
          saveProviders: [changed],
          removeProviders: ["b"],
          saveModels: [unbound],
        },
        auditOf(),
      );
      const { providers, models } = await store.catalog.load();
      expect(providers).toEqual([changed]);
      expect(models).toEqual([unbound, speech].map(withCosts));
      expect((await store.catalog.manifestState()).hash).toBe("abc");
    });

    test("numbers the costs of a model's routes, and those alone", async () => {
      const [first, second] = model.routes;
      if (first === undefined || second === undefined) throw new Error("there are two");
      const saved: Model[] = [
        model,
        { ...model, ownedBy: "other", routes: [{ ...first, weight: 9 }, second] },
        { ...model, routes: [second, first] },
        { ...model, routes: [second] },
        { ...model, routes: [{ ...second, cost: { input: 0n } }] },
      ];
      const seen: (number | undefined)[] = [];
      for (const [at, next] of saved.entries()) {
        await store.catalog.write({ atMs: 100 + at, saveModels: [next] }, auditOf());
        const [loaded] = (await store.catalog.load()).models;
        expect(loaded?.costs?.routes).toEqual(next.routes);
        seen.push(loaded?.costs?.version);
      }
      expect(seen).toEqual([1, 1, 2, 3, 4]);
    });

    test("numbers the prices of a model, and tells them in the order of their moments", async () => {
      const other = { ...model, id: "other" };
      const add = (modelId: string, effectiveAtMs: number, of: Price | undefined) => ({
        modelId,
        effectiveAtMs,
        createdAtMs: 7,
        price: of,
      });
      await store.catalog.write(
        {
          atMs: 1,
          saveModels: [model, other],
          addPrices: [add(model.id, 100, price), add(model.id, 300, { input: 0n })],
        },
        auditOf(),
      );
      await store.catalog.write(
        {
          atMs: 1,
          addPrices: [add(model.id, 200, undefined), add(other.id, 50, { input: 1n })],
        },
        auditOf(),
      );
      // What a model is saved with leaves its prices as they are.
      await store.catalog.write({ atMs: 1, saveModels: [{ ...model, prices: [] }] }, auditOf());
      const { models } = await store.catalog.load();
      expect(models.map(({ prices }) => prices)).toEqual([
        [{ version: 1, effectiveAtMs: 50, createdAtMs: 7, price: { input: 1n } }],
        [
          { version: 1, effectiveAtMs: 100, createdAtMs: 7, price },
          { version: 3, effectiveAtMs: 200, createdAtMs: 7, price: undefined },
          { version: 2, effectiveAtMs: 300, createdAtMs: 7, price: { input: 0n } },
        ],
      ]);
    });

    test("a price of no model is refused, and nothing of the write stands", async () => {
      const lost = { modelId: "none", effectiveAtMs: 1, createdAtMs: 1, price };
      await expect(
        store.catalog.write({ atMs: 1, saveModels: [model], addPrices: [lost] }, auditOf()),
      ).rejects.toThrow();
      expect((await store.catalog.load()).models).toEqual([]);
    });

    test("shows what one process changed to every other, in order", async () => {
      const other = await database.open();
      const seen: string[] = [];
      // The newest to open a database is the one that writes it.
      const follower = new FeedFollower(store.feed, {
        changed: async (changes) =>
          void seen.push(...changes.map(({ topic, subject }) => `${topic}:${subject}`)),
        reloadAll: async () => void seen.push("all"),
      });
      await follower.start();
      await other.accounts.insert(account, auditOf());
      await other.keys.insert(key, auditOf());
      await other.catalog.write({ atMs: 1, saveProviders: [provider] }, auditOf());
      await follower.catchUp();
      await other.keys.revoke("key_1", 5, auditOf());
      await Promise.all([follower.catchUp(), follower.catchUp()]);
      expect(seen).toEqual(["all", "accounts:acct_1", "keys:key_1", "catalog:", "keys:key_1"]);
      expect((await store.keys.get("key_1"))?.revokedAtMs).toBe(5);
      await other.close();
    });

    test("numbers concurrent changes without a gap and without losing one", async () => {
      await store.accounts.insert(account, auditOf());
      const records = Array.from({ length: 50 }, (_, at) => ({
        ...key,
        id: `key_${at}`,
        hash: `h${at}`,
      }));
      await Promise.all(records.map((record) => store.keys.insert(record, auditOf())));
      const changes = (await store.feed.since(1)) ?? [];
      expect(changes.map(({ sequence }) => sequence)).toEqual(records.map((_, at) => at + 2));
      expect(new Set(changes.map(({ subject }) => subject)).size).toBe(50);
    });

    test("a process with another master secret is refused", async () => {
      await expect(database.open("another")).rejects.toThrow("another master secret");
      await store.check();
    });

    test("is there after closing and opening again", async () => {
      await store.accounts.insert(account, auditOf());
      await store.close();
      store = await database.open();
      expect(await store.accounts.list()).toEqual([account]);
    });
  });
}
