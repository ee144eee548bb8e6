import type { Pool, PoolClient } from "pg";
import type { AuditRecord } from "../../../base/audit.ts";
import { maxEntryNano } from "../../../base/money.ts";
import type { Entry, EntryOutcome } from "../../../ledger/store.ts";
import { type EntryRow, toEntry } from "../../sql/ledger/entry-row.ts";
import { announceChange, writeAudit } from "../changes.ts";
import { brief, transact } from "../transaction.ts";

export const entryFields =
  "id, account_id, kind, cast(nano as text) as nano, reference, note, created_at_ms";

/** How often a withdrawal looks whether processes have given back what they do not use. */
const attempts = 8;
const waitMs = 250;

/** Of what other processes have lent, they are asked to give back what their calls do not hold. */
export async function addEntry(
  pool: Pool,
  entry: Entry,
  audit: AuditRecord,
): Promise<EntryOutcome> {
  for (let left = attempts; ; left--) {
    const outcome = await transact(pool, (client) => tryEntry(client, entry, audit), brief);
    if (outcome.result !== "lent" || left === 0) return outcome;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

interface Funds {
  readonly unleased: string;
  readonly lent: string;
  readonly total: string;
}

async function tryEntry(
  client: PoolClient,
  entry: Entry,
  audit: AuditRecord,
): Promise<EntryOutcome> {
  const { id, accountId, kind, nano, reference, note, createdAtMs } = entry;
  const locked = await client.query("select 1 from accounts where id = $1 for update", [accountId]);
  if (locked.rowCount === 0) throw new Error(`account ${accountId} does not exist`);
  const known = await client.query<EntryRow>(
    `select ${entryFields} from entries where account_id = $1 and reference = $2`,
    [accountId, reference],
  );
  const [before] = known.rows.map(toEntry);
  if (before !== undefined) {
    const isSame = before.kind === kind && before.nano === nano;
    return { result: isSame ? "known" : "other", entry: before };
  }
  const { unleased, lent, total } = await fundsOf(client, accountId);
  if (unleased + lent + nano < 0n) return { result: "short", balance: unleased + lent };
  if (total + nano > maxEntryNano) return { result: "too-much", balance: unleased + lent };
  if (unleased + nano < 0n) {
    await client.query(
      `insert into recalls (owner_id, until)
        values ($1, clock_timestamp() + interval '1 second')
        on conflict (owner_id) do update set until = excluded.until`,
      [accountId],
    );
    return { result: "lent", balance: unleased, lent };
  }
  await client.query("update accounts set unleased = unleased + $2 where id = $1", [
    accountId,
    nano,
  ]);
  await client.query(
    `insert into entries (id, account_id, kind, nano, reference, note, created_at_ms)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, accountId, kind, nano, reference, note, createdAtMs],
  );
  await writeAudit(client, audit);
  await announceChange(client, { topic: "accounts", subject: accountId });
  return { result: "added", entry };
}

async function fundsOf(client: PoolClient, accountId: string) {
  const { rows } = await client.query<Funds>(
    `select cast(unleased as text) as unleased,
        cast(unleased + settled + coalesce(sum(granted), 0) as text) as total,
        cast(coalesce(sum(granted - spent), 0) as text) as lent
      from accounts left join leases on leases.account_id = accounts.id
      where accounts.id = $1 group by accounts.id`,
    [accountId],
  );
  const { unleased = "0", lent = "0", total = "0" } = rows[0] ?? {};
  return { unleased: BigInt(unleased), lent: BigInt(lent), total: BigInt(total) };
}
