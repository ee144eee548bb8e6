import type { ClientBase } from "pg";
import { dayMs, type FoldMark, isFolded, mergeInto, type Rollup } from "../../../ledger/rollups.ts";
import { totalGroups } from "../../../ledger/store.ts";
import { foldMarkSql, toFoldMark } from "../../sql/reports/fold-mark.ts";
import {
  addInConflict,
  dayKeys,
  mergedOf,
  rollupKeys,
  rollupValues,
  sumColumns,
  totalColumn,
  totalKeys,
} from "../../sql/reports/rollup-columns.ts";
import { shareHoursSql, shareSql } from "../locks.ts";
import { postgresWords as words } from "./postgres-reader.ts";
import { unnestSql } from "./unnest.ts";

const sums = sumColumns.join(", ");
const merged = sumColumns.map((name) => `${mergedOf(name)} as ${name}`).join(", ");
export const epochKeys = [...rollupKeys, "epoch"];

/** To the rows of one epoch, and to days and totals where these hours are in them already. */
export async function addRollups(
  client: ClientBase,
  { epoch, rollups }: { readonly epoch: number; readonly rollups: readonly Rollup[] },
): Promise<void> {
  if (rollups.length === 0) return;
  // Shared by all who add: from here to the commit nobody folds these hours, nor skips any.
  await client.query(shareSql("sums"));
  await client.query(shareHoursSql(new Set(rollups.map(({ hourMs }) => hourMs))));
  const mark = await readMark(client);
  const rows = mergeSame(rollups);
  const fresh = unnestSql([...rollupKeys, ...sumColumns], rows.map(rollupValues));
  await client.query(
    `insert into rollups (${epochKeys.join(", ")}, ${sums})
      select ${rollupKeys.join(", ")}, ${Number(epoch)}, ${sums} from ${fresh.sql}
      ${addInConflict({ table: "rollups", keys: epochKeys, words })}`,
    fresh.values,
  );
  const late = rows.filter((row) => isFolded(row, mark));
  if (late.length === 0) return;
  const { sql, values } = unnestSql([...rollupKeys, ...sumColumns], late.map(rollupValues));
  await addFolded(client, { sql: `select * from ${sql}`, values });
}

export async function readMark(client: ClientBase): Promise<FoldMark> {
  const { rows } = await client.query<{ value: string }>(foldMarkSql);
  return toFoldMark(rows[0]?.value);
}

/**
 * Rows of hours, to their days and to the totals. In the order of the keys: of two that add at the
 * same time one waits for the other, and never each for the other.
 */
export async function addFolded(
  client: ClientBase,
  of: { readonly sql: string; readonly values: unknown[] },
): Promise<void> {
  const fresh = `with fresh as materialized (${of.sql})`;
  const day = `hour_ms / ${dayMs} * ${dayMs}`;
  await client.query(
    `${fresh} insert into rollup_days (${dayKeys.join(", ")}, ${sums})
      select ${day}, account_id, key_id, model, provider, ${merged} from fresh
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      ${addInConflict({ table: "rollup_days", keys: dayKeys, words })}`,
    of.values,
  );
  const totals = totalGroups.flatMap((by) =>
    [
      { grain: "hour", start: "hour_ms" },
      { grain: "day", start: day },
    ].map(
      ({ grain, start }) => `select '${grain}', '${by}', ${start}, ${totalColumn[by]}, ${merged}
        from fresh group by 3, 4`,
    ),
  );
  await client.query(
    `${fresh} insert into rollup_totals (${totalKeys.join(", ")}, ${sums})
      ${totals.join(" union all ")} order by 1, 2, 3, 4
      ${addInConflict({ table: "rollup_totals", keys: totalKeys, words })}`,
    of.values,
  );
}

/** One statement may add to a row only once. */
function mergeSame(rollups: readonly Rollup[]): readonly Rollup[] {
  const rows = new Map<string, Rollup>();
  for (const rollup of rollups) {
    const { hourMs, accountId, keyId, model, provider } = rollup;
    const name = JSON.stringify([hourMs, accountId, keyId, model, provider]);
    const known = rows.get(name);
    if (known === undefined) rows.set(name, { ...rollup });
    else mergeInto(known, rollup);
  }
  return [...rows.values()];
}
