import { newId } from "../../src/base/ids.ts";
import { costOf, type Price } from "../../src/call/price.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import { model, plainModel, provider } from "./catalog-samples.ts";
import {
  above2to53,
  claimOf,
  entryOf,
  noonMs,
  receiptOf,
  setLimits,
  startSums,
  write,
} from "./ledger-samples.ts";
import { inviteOf, sessionOf, tokenOf, userOf } from "./people-samples.ts";
import { sealedOf } from "./response-samples.ts";
import { order } from "./sums-contract.ts";

const price: Price = { input: 300_000_000n, output: 2_500_000_001n };
const units = { input: 7, output: 11 };
const cost = costOf(units, price);
const weekMs = 7 * 24 * hourMs;

/** In three weeks, so that they need several partitions; the newest are in an open hour. */
export function receiptsOf(count: number): Receipt[] {
  return Array.from({ length: count }, (_, at) =>
    receiptOf({
      id: newId("req", noonMs - Math.floor((3 * weekMs * (count - at)) / count)),
      ...(at % 3 === 0 ? { accountId: "acct_2", keyId: "key_2" } : {}),
      units,
      cost,
      charged: at % 5 === 0 ? 0n : cost,
      hold: cost,
      outcome: at % 7 === 0 ? "upstream_error" : "ok",
    }),
  );
}

/** Something in every table, with a ledger that is right. */
export async function fillStore(store: Store, receipts: readonly Receipt[]): Promise<void> {
  for (const id of ["acct_1", "acct_2"]) {
    await store.accounts.insert({ id, name: `name of ${id}`, createdAtMs: 1 }, auditOf());
    await store.ledger.addEntry(entryOf({ accountId: id, nano: above2to53 }), auditOf());
    const keyId = id.replace("acct", "key");
    const key = { id: keyId, accountId: id, name: "k", hash: `hash of ${keyId}`, hint: "x" };
    await store.keys.insert({ ...key, createdAtMs: 1 }, auditOf());
  }
  await store.ledger.addEntry(entryOf({ kind: "withdrawal", nano: -3n }), auditOf());
  await store.catalog.write(
    {
      atMs: 1,
      saveProviders: [provider],
      saveModels: [model, plainModel],
      addPrices: [{ modelId: "m", effectiveAtMs: 1, createdAtMs: 1, price }],
      manifestHash: "hash of a file",
    },
    auditOf(),
  );
  await fillPeople(store);
  await fillLedger(store, receipts);
  await fillReports(store);
  await fillExports(store);
}

async function fillExports({ exports }: Store): Promise<void> {
  await exports.add(
    {
      id: "export_1",
      name: "archive",
      streams: ["receipts"],
      format: "jsonl",
      target: { kind: "file", dir: "/exports" },
      fromMs: 0,
      createdAtMs: 1,
      pausedAtMs: undefined,
    },
    auditOf(),
  );
  const at = (ms: number) => ({ hourMs: ms, afterId: "", part: 1, hourRows: 0 });
  await exports.advance(
    { destinationId: "export_1", stream: "receipts" },
    {
      from: at(0),
      to: at(hourMs),
      rows: 3,
      atMs: 7,
      hour: { hourMs: 0, rows: 3, known: 3 },
    },
  );
}

async function fillPeople({ people }: Store): Promise<void> {
  await people.addInvite(inviteOf("invite_1"), auditOf());
  const user = userOf("user_1", { name: "Ada", isOperator: true });
  const membership = {
    userId: "user_1",
    accountId: "acct_1",
    role: "owner",
    createdAtMs: 1,
  } as const;
  await people.accept(
    {
      inviteId: "invite_1",
      addUser: user,
      addMembership: membership,
      addSession: sessionOf("session_1"),
    },
    auditOf(),
  );
  await people.addInvite(inviteOf("invite_2"), auditOf());
  await people.addToken(tokenOf("token_1"), auditOf());
  await people.setTimeZone("user_1", "utc", auditOf());
  const view = { id: "view_1", userId: "user_1", page: "overview", name: "v", search: "" } as const;
  await people.addView({ ...view, createdAtMs: 1 }, auditOf());
  await fillFactors(people);
}

async function fillFactors(people: Store["people"]): Promise<void> {
  const userId = "user_1";
  const ticketOf = (id: string) => ({ id, expiresAtMs: noonMs, atMs: noonMs });
  const totp = { userId, sealedSecret: "sealed", lastStep: 7, createdAtMs: 1 };
  await people.addTotp(
    { totp, recoveryHashes: ["h1", "h2"], ticket: ticketOf("t1"), sessionId: "session_1" },
    auditOf(),
  );
  const passkey = {
    id: "passkey_1",
    userId,
    name: "Phone",
    publicKey: "key",
    counter: 3,
    transports: ["internal"],
    rpId: "localhost",
    isBackedUp: true,
    createdAtMs: 1,
  };
  await people.addPasskey(
    { passkey, recoveryHashes: [], ticket: ticketOf("t2"), sessionId: "session_1" },
    auditOf(),
  );
  const identity = {
    issuer: "https://login.example",
    subject: "person-1",
    userId,
    email: "ada@example.com",
    sealedIdToken: "sealed",
    createdAtMs: 1,
    lastUsedMs: 2,
  };
  await people.connectIdentity(identity, ticketOf("t3"), auditOf());
}

async function fillLedger({ ledger }: Store, receipts: readonly Receipt[]): Promise<void> {
  const sums = await startSums(ledger, noonMs - 4 * weekMs);
  for (let at = 0; at < receipts.length; at += 1_000)
    await ledger.commit(receipts.slice(at, at + 1_000).map((receipt) => write(receipt)));
  await sums.flush(noonMs, true);
  while (await ledger.rollups.fold(noonMs - hourMs));
  await setLimits(ledger, { limits: { rpm: 5, budget: { nano: above2to53, period: "total" } } });
  const reply = new Uint8Array([0, 1, 92, 255]);
  await ledger.commit([
    { type: "claim", claim: claimOf({ id: "claim_done", isDone: true, reply }) },
    { type: "claim", claim: claimOf({ id: "claim_running" }) },
  ]);
}

async function fillReports(store: Store): Promise<void> {
  await store.keys.noteUses(new Map([["key_1", noonMs]]));
  await store.targetChecks.save({
    provider: "acme",
    key: "default",
    model: "m",
    digest: "d",
    isOk: true,
    atMs: 7,
  });
  // A mark from before all receipts.
  await store.retention.advance({ nowMs: noonMs, days: 60 });
  await store.providerFailures.add([{ hourMs: noonMs, provider: "acme", failures: 2 }], 0);
  // Large enough for a batch of its own.
  for (const given of [
    {},
    { id: "resp_2", previousId: "resp_1", items: new Uint8Array(5_000_000) },
  ])
    await store.responses.save(sealedOf(given), 2 ** 30);
  const of = { accountId: "acct_1", keyId: "key_1", model: "m", code: "rate", status: 429 };
  const row = {
    ...of,
    id: newId("req", noonMs),
    endpoint: "chat" as const,
    dialect: "messages",
    reason: "" as const,
    count: 1,
  };
  await store.rejections.add({
    // SQLite keeps a NUL; PostgreSQL cannot.
    rows: [{ ...row, message: "a\0b" }],
    counts: [{ ...of, minuteMs: noonMs, count: 1 }],
    keys: [{ keyId: "key_1", lastMs: noonMs }],
  });
}

/** What the ports return of accounts, keys, catalog and people. */
export async function contentOf(store: Store) {
  const { accounts, keys, catalog, people, feed, ledger, targetChecks, audit, responses } = store;
  return {
    accounts: await accounts.list(),
    keys: await keys.all(),
    uses: await keys.lastUses(),
    catalog: await catalog.load(),
    manifest: await catalog.manifestState(),
    users: await people.users(),
    memberships: await people.allMemberships(),
    invites: await people.allInvites(),
    tokens: await people.tokens(undefined),
    session: await people.sessions("user_1"),
    identity: await people.identityOf("user_1"),
    checks: await targetChecks.list(),
    audit: await audit.list({ limit: 100 }),
    feed: await feed.latest(),
    changes: (await feed.since(1))?.map(({ topic, subject }) => ({ topic, subject })),
    entries: await ledger.entries("acct_1"),
    budgets: await ledger.budgetSpends(0),
    claim: await ledger.findClaim("claim_done"),
    responses: await storedIn(store),
    responseTotals: await responses.totals("acct_1"),
    rollups: order(await ledger.rollups.list({})),
  };
}

async function storedIn({ responses }: Store) {
  const ids = ["resp_1", "resp_2"];
  const found = await responses.find({ accountId: "acct_1", ids, nowMs: 0 });
  return found
    .toSorted((one, other) => one.id.localeCompare(other.id))
    .map(({ items, reply, ...head }) => [
      head,
      Bun.hash(new Uint8Array(items)),
      Bun.hash(new Uint8Array(reply)),
    ]);
}
