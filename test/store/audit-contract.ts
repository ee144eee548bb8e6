import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AuditQuery, AuditRecord } from "../../src/base/audit.ts";
import { newId } from "../../src/base/ids.ts";
import type { SavedView } from "../../src/people/preferences.ts";
import type { SharedStore, Store } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import { provider } from "./catalog-samples.ts";
import type { SharedDatabase } from "./contract-database.ts";
import { entryOf, noonMs, setLimits } from "./ledger-samples.ts";
import { inviteOf, sessionOf, tokenOf, userOf } from "./people-samples.ts";
import { sealedOf } from "./response-samples.ts";

const account = { id: "acct_1", name: "default", createdAtMs: 1 };
const key = { id: "key_1", accountId: "acct_1", name: "k", hash: "h", hint: "x", createdAtMs: 1 };
const user = userOf("user_1", { name: "Ada", isOperator: true });
const token = tokenOf("token_1");

const view: SavedView = {
  id: "view_1",
  userId: "user_1",
  page: "overview",
  name: "v",
  search: "",
  createdAtMs: 1,
};

type Write<T> = (store: T, audit: AuditRecord) => Promise<unknown>;
type Writes<T> = Readonly<Record<string, Write<T>>>;

/** In an order in which each finds what it needs. */
const writes: Writes<SharedStore> = {
  account: ({ accounts }, audit) => accounts.insert(account, audit),
  retention: ({ accounts }, audit) => accounts.setReceiptsDays("acct_1", 5, audit),
  suspend: ({ accounts }, audit) => accounts.setSuspended("acct_1", 5, audit),
  key: ({ keys }, audit) => keys.insert(key, audit),
  "key name": ({ keys }, audit) => keys.update("key_1", { name: "other" }, audit),
  "key secret": ({ keys }, audit) =>
    keys.rotate("key_1", { hash: "i", hint: "y", previousUntilMs: undefined }, audit),
  "key paused": ({ keys }, audit) => keys.setPaused("key_1", 5, audit),
  "key resumed": ({ keys }, audit) => keys.setPaused("key_1", undefined, audit),
  "key revoked": ({ keys }, audit) => keys.revoke("key_1", 5, audit),
  responses: async ({ responses }, audit) => {
    const query = { accountId: "acct_1", ids: ["resp_1"], nowMs: 0 };
    if ((await responses.find(query)).length === 0) await responses.save(sealedOf(), 1_000);
    await responses.removeAll({ accountId: "acct_1", toMs: noonMs }, audit);
  },
  catalog: ({ catalog }, audit) => catalog.write({ atMs: 1, saveProviders: [provider] }, audit),
  invite: ({ people }, audit) => people.addInvite(inviteOf("invite_1"), audit),
  join: ({ people }, audit) =>
    people.accept({ inviteId: "invite_1", addUser: user, addSession: sessionOf("s1") }, audit),
  session: ({ people }, audit) => people.addSession(sessionOf("s2"), audit),
  "session ended": ({ people }, audit) => people.endSessions({ userId: "user_1" }, audit),
  name: ({ people }, audit) => people.rename("user_1", "Grace", audit),
  "time zone": ({ people }, audit) => people.setTimeZone("user_1", "utc", audit),
  dismissed: ({ people }, audit) => people.dismiss("user_1", "setup", audit),
  view: ({ people }, audit) => people.addView(view, audit),
  "view name": ({ people }, audit) => people.updateView(view, { name: "other" }, audit),
  "view removed": ({ people }, audit) => people.removeView(view, audit),
  password: ({ people }, audit) =>
    people.setPassword({ userId: "user_1", passwordHash: "y" }, audit),
  token: ({ people }, audit) => people.addToken(token, audit),
  "token revoked": ({ people }, audit) => people.revokeToken("token_1", 5, audit),
};

/** After those above. */
export const ledgerWrites: Writes<Store> = {
  entry: ({ ledger }, audit) => ledger.addEntry(entryOf({ reference: "one" }), audit),
  limits: ({ ledger }, audit) => setLimits(ledger, { limits: { rpm: 1 }, audit }),
};

/** Made a second time they find nothing to change. */
const onceOnly = [
  "account",
  "entry",
  "key paused",
  "key resumed",
  "key revoked",
  "session ended",
  "name",
  "time zone",
  "view removed",
  "token revoked",
];

/** What the audit log relies on, whatever the database. */
export function auditContract<T extends SharedStore>(
  kind: string,
  create: () => Promise<SharedDatabase<T>>,
  more: Writes<T> = {},
): void {
  describe(`audit contract on ${kind}`, () => {
    let database: SharedDatabase<T>;
    let store: T;
    beforeEach(async () => {
      database = await create();
      store = await database.open();
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
    });
    const idsOf = async () => (await store.audit.list({ limit: 100 })).records.map(({ id }) => id);

    test("a change and its record are one: both are written, or neither is", async () => {
      const taken = auditOf({ id: "audit_0" });
      await store.audit.add(taken);
      for (const [name, write] of Object.entries<Write<T>>({ ...writes, ...more })) {
        const before = await idsOf();
        const sequence = await store.feed.latest();
        const outcome = await write(store, taken).catch(() => "refused");
        expect({ name, outcome }).toEqual({ name, outcome: "refused" });
        expect(await store.feed.latest()).toBe(sequence);
        const audit = auditOf();
        await write(store, audit);
        expect((await idsOf()).toSorted()).toEqual([...before, audit.id].toSorted());
        if (!onceOnly.includes(name)) continue;
        await write(store, auditOf());
        expect({ name, ids: (await idsOf()).length }).toEqual({ name, ids: before.length + 1 });
      }
    });

    searchTests(() => store);

    test("failures are counted in one record for each subject and hour", async () => {
      const hourMs = 3_600_000;
      const fail = (subject: string, atMs: number) =>
        store.people.countFailedSignIn(auditOf({ action: "session.failed", subject, atMs }));
      for (const atMs of [hourMs, hourMs + 1, 2 * hourMs - 1, 2 * hourMs]) await fail("ada", atMs);
      await fail("ben", hourMs);
      const { records } = await store.audit.list({ action: "session.failed", limit: 10 });
      const counts = records.map(({ subject, detail }) => [subject, detail["count"]]);
      expect(counts.toSorted()).toEqual([
        ["ada", 1],
        ["ada", 3],
        ["ben", 1],
      ]);
    });
  });
}

function searchTests(store: () => SharedStore): void {
  test("records are found by actor, subject, text and time, whatever the letters", async () => {
    const at = (atMs: number, given: Partial<AuditRecord>) =>
      store().audit.add(auditOf({ atMs, id: newId("audit", atMs), ...given }));
    const ada = { kind: "person", id: "user_1", name: "ada@example.com" } as const;
    const ops = { kind: "operator", id: "user_2", name: "ops@example.com" } as const;
    await at(1_000, {
      actor: ada,
      action: "key.create",
      subject: "Checkout",
      detail: { rpm: 6 },
    });
    await at(2_000, { actor: ops, action: "key.revoke", subject: "100%_done" });
    await at(3_000, { actor: ops, action: "price.set", subject: "mini", detail: { usd: "Ada" } });
    const found = async (query: Partial<AuditQuery>) =>
      (await store().audit.list({ limit: 10, ...query })).records.map(({ atMs }) => atMs / 1_000);
    expect(await found({ actor: "ADA@" })).toEqual([1]);
    expect(await found({ actor: "example" })).toEqual([3, 2, 1]);
    expect(await found({ subject: "checkOUT" })).toEqual([1]);
    // Not patterns: what they would stand for is not found.
    expect(await found({ subject: "%" })).toEqual([2]);
    expect(await found({ subject: "ch_ck" })).toEqual([]);
    expect(await found({ search: "ada" })).toEqual([3, 1]);
    expect(await found({ search: '"rpm":6' })).toEqual([1]);
    expect(await found({ fromMs: 2_000, toMs: 3_000 })).toEqual([2]);
    expect(await found({ search: "ops@", hidesOperators: true })).toEqual([]);
    expect(await found({ actor: "an operator", hidesOperators: true })).toEqual([3, 2]);
  });
}
