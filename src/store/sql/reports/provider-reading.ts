import type { ProviderFailureStore } from "../../../ledger/provider-failures.ts";
import type { ProviderSums } from "../../../ledger/reports.ts";
import { lockFor } from "../dialect.ts";
import type { Db } from "../schema.ts";
import { durationColumns, mergedOf } from "./rollup-columns.ts";
import type { SqlReader } from "./sql-reader.ts";

export function createProviderFailureStore(db: Db): ProviderFailureStore {
  return {
    async add(rows, keepFromMs) {
      await db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "provider failures");
        for (const { hourMs, provider, failures } of rows)
          await transaction
            .insertInto("provider_failures")
            .values({ hour_ms: hourMs, provider, failures })
            .onConflict((conflict) =>
              conflict.columns(["hour_ms", "provider"]).doUpdateSet((row) => ({
                failures: row("provider_failures.failures", "+", failures),
              })),
            )
            .execute();
        await transaction
          .deleteFrom("provider_failures")
          .where("hour_ms", "<", keepFromMs)
          .execute();
      });
    },
  };
}

const read = ["receipts", "failures", "vendor_known", "shortest_ms", "longest_ms"];
const sums = [...read, ...durationColumns].map(mergedOf).join(", ");

type Row = readonly [provider: string, vendorCost: string, shortfall: string, ...sums: number[]];

/** Whole hours from this moment on; the key of the sums begins with the hour. */
export async function readProviders(
  reader: SqlReader,
  fromMs: number,
): Promise<readonly ProviderSums[]> {
  const rows = await reader.lists<Row>(
    `select provider, cast(sum(vendor_cost) as text), cast(sum(cost - charged) as text), ${sums}
      from rollups
      where hour_ms >= ? and provider <> '' group by provider`,
    [fromMs],
  );
  const failures = await reader.rows<{ provider: string; failures: number }>(
    `select provider, sum(failures) as failures from provider_failures
      where hour_ms >= ? group by provider`,
    [fromMs],
  );
  const failed = new Map(failures.map((row) => [row.provider, row.failures]));
  const served = new Map(rows.map((row) => [row[0], toSums(row)]));
  const names = new Set([...served.keys(), ...failed.keys()]);
  return [...names].map((provider) => ({
    ...(served.get(provider) ?? nothing),
    provider,
    fallbacks: failed.get(provider) ?? 0,
  }));
}

const nothing = {
  receipts: 0,
  failures: 0,
  vendorCost: 0n,
  vendorKnown: 0,
  shortfall: 0n,
  shortestMs: 0,
  longestMs: 0,
  durations: [],
};

function toSums([, vendorCost, shortfall, ...counts]: Row) {
  const [receipts = 0, failures = 0, vendorKnown = 0, shortestMs = 0, longestMs = 0] = counts;
  return {
    receipts,
    failures,
    vendorCost: BigInt(vendorCost),
    vendorKnown,
    shortfall: BigInt(shortfall),
    shortestMs,
    longestMs,
    durations: counts.slice(read.length),
  };
}
