/**
 * A store with many keys, written in bulk: through the control socket a million would take an hour.
 * Accounts go through the store's own methods; keys are rows of its tables, as its insert writes them.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSecrets } from "../../src/app/secret.ts";
import { newId } from "../../src/base/ids.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { hashKeySecret, keyHint, newKeySecret } from "../../src/keys/secret.ts";
import { openSqlite, type Sqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import type { Children } from "../load/processes.ts";
import { prepareStock, type Stock } from "./gateway.ts";

export type BulkStock = {
  readonly accounts: number;
  readonly keys: number;
  /** How many of them the load uses, spread over all; only these have a secret. */
  readonly used: number;
};

const keysAtOnce = 20_000;
/** As those of the other benchmarks: computed for every request, never reached. */
const limits = { rpm: 1_000_000, tpm: 1_000_000_000, concurrency: 10_000 };
const limitsText = JSON.stringify(limits);

/** A data directory with accounts and keys in it; `dir` is removed by its owner. */
export async function prepareBulkStock(
  options: BulkStock & {
    readonly children: Children;
    readonly dir: string;
    readonly upstreamPort: number;
    readonly env: Readonly<Record<string, string>>;
    readonly tell: (line: string) => void;
  },
): Promise<Stock> {
  const { accounts, keys, used, tell, ...more } = options;
  // The gateway of this one brings the schema, the secret and the model.
  const stock = await prepareStock({ ...more, tell: () => {}, accounts: 1, keys: 1 });
  tell(`writing ${accounts} accounts and ${keys} keys`);
  return { ...stock, keys: await addInBulk({ dataDir: stock.dataDir, accounts, keys, used }) };
}

/** The secrets of the keys that the load uses. */
async function addInBulk(
  options: BulkStock & { readonly dataDir: string },
): Promise<readonly string[]> {
  const { dataDir, accounts } = options;
  const { settings } = loadConfiguration({ SVC_DATA_DIR: dataDir });
  const text = readFileSync(join(dataDir, "secret"), "utf8").trim();
  const sqlite = openSqlite(join(dataDir, "svc.db"));
  const { secrets } = await openSecrets({ db: sqlite.db, settings, text, advice: "" });
  const store = await createStore(sqlite, secrets.fingerprint);
  try {
    const accountIds = await addAccounts(store, accounts);
    return addKeys(sqlite, { ...options, accountIds, hashKey: secrets.keyHashKey });
  } finally {
    sqlite.raw.run("PRAGMA wal_checkpoint(TRUNCATE)");
    await store.close();
  }
}

async function addAccounts(store: Store, count: number): Promise<readonly string[]> {
  const createdAtMs = Date.now();
  const ids = Array.from({ length: count }, () => newId("acct"));
  for (const [at, id] of ids.entries()) {
    const name = `bulk-${at}`;
    await store.accounts.insert({ id, name, createdAtMs, limits }, auditOf());
    const entry = { id: newId("entry"), accountId: id, kind: "credit", reference: name } as const;
    const nano = 100_000_000_000_000n;
    await store.ledger.addEntry({ ...entry, nano, note: "", createdAtMs }, auditOf());
  }
  return ids;
}

function addKeys(
  { raw }: Sqlite,
  options: BulkStock & { readonly accountIds: readonly string[]; readonly hashKey: Uint8Array },
): readonly string[] {
  const { accountIds, hashKey, keys, used } = options;
  const addKey = raw.query(
    "insert into keys (id, account_id, name, hash, hint, created_at_ms, limits, limits_version, created_by) values (?, ?, ?, ?, ?, ?, ?, 1, 'bench')",
  );
  const addLimits = raw.query(
    "insert into limit_versions (owner_id, version, effective_at_ms, limits) values (?, 1, ?, ?)",
  );
  const shown: string[] = [];
  const every = Math.max(1, Math.floor(keys / used));
  const add = (index: number) => {
    const isUsed = index % every === 0 && shown.length < used;
    const secret = isUsed ? newKeySecret() : undefined;
    if (secret !== undefined) shown.push(secret);
    const hash =
      secret === undefined ? randomBytes(32).toString("base64") : hashKeySecret(secret, hashKey);
    const hint = secret === undefined ? "sk-svc-…none" : keyHint(secret);
    const id = newId("key");
    const nowMs = Date.now();
    const accountId = accountIds[index % accountIds.length] ?? "";
    addKey.run(id, accountId, `bulk-${index}`, hash, hint, nowMs, limitsText);
    addLimits.run(id, nowMs, limitsText);
  };
  for (let first = 0; first < keys; first += keysAtOnce)
    raw.transaction(() => {
      for (let index = first; index < Math.min(keys, first + keysAtOnce); index++) add(index);
    })();
  return shown;
}
