import { sql } from "kysely";
import { idFloor, idTimeMs } from "../../../base/ids.ts";
import { hourMs, toHour } from "../../../ledger/rollups.ts";
import { newestMark } from "../../sql/ledger/retention.ts";
import { readMeta, writeMeta } from "../../sql/meta.ts";
import { type Db, localNode } from "../../sql/schema.ts";
import type { BalanceCheck } from "../../store.ts";

/** Receipts of long calls come late: the next check begins so much before the newest. */
const lateMs = 2 * hourMs;

interface Row {
  readonly account_id: string;
  readonly name: string;
  readonly left: string;
  readonly is_wrong: number;
}

/**
 * What every account has, from its entries and its receipts. Receipts are added up from the hour
 * on that is not trusted yet, the sums of earlier hours are taken as they are: a start must not
 * read the receipts of years again. The first check of a ledger reads them all.
 */
export async function checkBalances(db: Db): Promise<BalanceCheck> {
  // Receipts from before a mark may be gone.
  const fromMs = Math.max(await readFrom(db), await newestMark(db));
  const { rows } = await sql<Row>`with
    money as (select account_id, sum(nano) as nano from entries group by account_id),
    written as (select account_id, sum(charged) as nano from receipts
      where id >= ${idFloor("req", fromMs)} group by account_id),
    summed as (select account_id, sum(charged) as nano from rollups
      where hour_ms >= ${fromMs} group by account_id)
    select accounts.id as account_id, accounts.name as name,
      cast(coalesce(money.nano, 0) - leases.spent + coalesce(summed.nano, 0)
        - coalesce(written.nano, 0) as text) as left,
      coalesce(summed.nano, 0) <> coalesce(written.nano, 0) as is_wrong
    from accounts join leases on leases.account_id = accounts.id and leases.node = ${localNode}
      left join money on money.account_id = accounts.id
      left join written on written.account_id = accounts.id
      left join summed on summed.account_id = accounts.id`.execute(db);
  const below = rows.find(({ left }) => BigInt(left) < 0n);
  const isWrong = rows.some(({ is_wrong }) => is_wrong === 1);
  if (below === undefined && !isWrong) await trustSums(db);
  return {
    belowZero: below && {
      accountId: below.account_id,
      name: below.name,
      missingNano: -BigInt(below.left),
    },
    wrongFromMs: isWrong ? fromMs : undefined,
  };
}

/** All sums were just written by their one owner: the next check may take them as they are. */
export async function trustSums(db: Db): Promise<void> {
  const { rows } = await sql<{ id: string | null }>`select max(id) as id from receipts`.execute(db);
  const newest = rows[0]?.id ?? undefined;
  if (newest === undefined) return;
  const nextMs = toHour(idTimeMs(newest) - lateMs);
  if (nextMs > (await readFrom(db)))
    await writeMeta(db, "balances_checked_from_ms", String(nextMs));
}

async function readFrom(db: Db): Promise<number> {
  return Number((await readMeta(db, "balances_checked_from_ms")) ?? 0);
}
