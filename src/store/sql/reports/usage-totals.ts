import {
  othersName,
  type TimeEnds,
  type UsagePoint,
  type UsageQuery,
} from "../../../ledger/reports.ts";
import { dayMs, type FoldMark, hourMs } from "../../../ledger/rollups.ts";
import type { TotalGroup } from "../../../ledger/store.ts";
import { dearestNames, UsageSums } from "../../../ledger/usage-sums.ts";
import { endColumns, mergedOf, toEnds } from "./rollup-columns.ts";
import type { SqlReader } from "./sql-reader.ts";
import {
  addedSums,
  readUsageRows,
  type StepPoint,
  toPoint,
  type UsageRow,
  type UsageRows,
} from "./usage-rows.ts";
import { namesFor, readGrain, stepOf, stepsSql } from "./usage-steps.ts";

export interface UsageRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** What lies before it is in the totals and in the sums by day. */
  readonly foldedTo: FoldMark;
}

/** Of all accounts: the dearest names one by one, and of the rest what is left of the whole. */
export async function readTotals(
  reader: SqlReader,
  options: {
    readonly question: UsageQuery;
    readonly range: UsageRange;
    readonly by: TotalGroup;
  },
): Promise<readonly UsagePoint[]> {
  const { question, range, by } = options;
  const name = { account: question.accountId, key: question.keyId, model: question.model }[by];
  const fresh = await readUsageRows(reader, { ...freshOf(range), question });
  const sums = new UsageSums();
  for (const row of fresh) sums.add(toPoint(row));
  const read = { question, range };
  if (name !== undefined) {
    const shown = question.by === "none" ? "''" : "name";
    for (const row of await totalRows(reader, { ...read, by, shown, names: [name] }))
      sums.add(toPoint(row));
    return sums.points(namesFor(question));
  }
  const kept = question.by === "none" ? undefined : await keptNames(reader, { ...read, by, fresh });
  const shown = question.by === "none" ? "''" : "name";
  if (kept === undefined) {
    for (const row of await totalRows(reader, { ...read, by, shown })) sums.add(toPoint(row));
    return sums.points(namesFor(question));
  }
  // By model, because these are the fewest.
  const whole = await totalRows(reader, { ...read, by: "model", shown: "''" });
  const names = [...kept];
  const keptRows = await totalRows(reader, { ...read, by, shown: "name", names });
  const ends = await otherEnds(reader, { ...read, by, kept });
  for (const point of keptAndOthers({ whole, kept: keptRows, ends })) sums.add(point);
  return sums.points(namesFor(question));
}

/** Of all others there is what the whole is more than the kept, but for the ends of their times. */
export function* keptAndOthers(rows: {
  readonly whole: readonly UsageRow[];
  readonly kept: readonly UsageRow[];
  readonly ends: ReadonlyMap<number, TimeEnds>;
}): Generator<StepPoint> {
  const others = new Map<number, StepPoint>();
  for (const row of rows.whole) {
    const point = toPoint(row);
    others.set(point.startMs, { ...point, name: othersName });
  }
  for (const row of rows.kept) {
    const point = toPoint(row);
    yield point;
    const left = others.get(point.startMs);
    if (left !== undefined) others.set(point.startMs, minus(left, point));
  }
  for (const { startMs, name, sums } of others.values())
    if (sums.receipts > 0) yield { startMs, name, sums: { ...sums, ...rows.ends.get(startMs) } };
}

/** Rows that no total has yet. */
export function freshOf({ fromMs, toMs, foldedTo }: UsageRange): Omit<UsageRows, "question"> {
  return {
    table: "rollups",
    fromMs: Math.max(fromMs, foldedTo.hourMs),
    toMs,
    behind: foldedTo,
  };
}

interface Totals {
  readonly question: UsageQuery;
  readonly range: UsageRange;
  readonly by: TotalGroup;
}

export async function totalRows(
  reader: SqlReader,
  options: Totals & { readonly shown: string; readonly names?: readonly string[] },
): Promise<readonly UsageRow[]> {
  const { question, range, by, shown, names } = options;
  const { fromMs, toMs } = range;
  if (fromMs >= toMs) return [];
  const grain = readGrain(question);
  const step = stepOf(question, "start_ms");
  const group = `group by 1${shown === "''" ? "" : ", name"}`;
  if (names === undefined) {
    const sql = `select ${step}, ${shown}, ${addedSums} from rollup_totals
      where grain = ? and kind = ? and start_ms >= ? and start_ms < ? ${group}`;
    return reader.lists<UsageRow>(sql, [grain, by, fromMs, toMs]);
  }
  const stepMs = grain === "hour" ? hourMs : dayMs;
  const sql = `with recursive ${stepsSql(stepMs)}
    select ${step}, ${shown}, ${addedSums} from steps ${reader.words.join} rollup_totals
    on grain = ? and kind = ? and start_ms = at
      and name in (${names.map(() => "?").join(", ")}) ${group}`;
  return reader.lists<UsageRow>(sql, [fromMs, toMs, grain, by, ...names]);
}

/** What is left of the whole does not say how short and long its times were. */
async function otherEnds(
  reader: SqlReader,
  options: Totals & { readonly kept: ReadonlySet<string> },
): Promise<ReadonlyMap<number, TimeEnds>> {
  const { question, range, by, kept } = options;
  const names = [...kept];
  const step = stepOf(question, "start_ms");
  const sql = `select ${step}, '', ${endColumns.map(mergedOf).join(", ")} from rollup_totals
    where grain = ? and kind = ? and start_ms >= ? and start_ms < ?
      and name not in (${names.map(() => "?").join(", ")}) group by 1`;
  const rows = await reader.lists<UsageRow>(sql, [
    readGrain(question),
    by,
    range.fromMs,
    range.toMs,
    ...names,
  ]);
  return endsByStep(rows);
}

export const endsByStep = (rows: readonly UsageRow[]): ReadonlyMap<number, TimeEnds> =>
  new Map(rows.map(([startMs, , ...ends]) => [startMs, toEnds(ends as number[])]));

/** Undefined where all names can be shown. */
async function keptNames(
  reader: SqlReader,
  options: Totals & { readonly fresh: readonly UsageRow[] },
): Promise<ReadonlySet<string> | undefined> {
  const { question, range, by, fresh } = options;
  const sql = `select name, cast(sum(charged) as text) as charged, sum(receipts) as receipts
    from rollup_totals where grain = ? and kind = ? and start_ms >= ? and start_ms < ?
    group by name`;
  const rows = await reader.rows<{ name: string; charged: string; receipts: number }>(sql, [
    readGrain(question),
    by,
    range.fromMs,
    range.toMs,
  ]);
  const known = rows.map(({ name, charged, receipts }) => ({
    name,
    charged: BigInt(charged),
    receipts,
  }));
  if (known.length <= namesFor(question) && fresh.length === 0) return undefined;
  const late = fresh.map(toPoint).map(({ name, sums: { charged, receipts } }) => ({
    name,
    charged,
    receipts,
  }));
  return dearestNames([...known, ...late], namesFor(question));
}

/** The ends of its times stay those of the whole. */
function minus(whole: StepPoint, part: StepPoint): StepPoint {
  const less = (one: readonly number[], other: readonly number[]) =>
    one.map((count, at) => count - (other[at] ?? 0));
  const { sums } = part;
  return {
    startMs: whole.startMs,
    name: whole.name,
    sums: {
      ...whole.sums,
      receipts: whole.sums.receipts - sums.receipts,
      failures: whole.sums.failures - sums.failures,
      inputTokens: whole.sums.inputTokens - sums.inputTokens,
      outputTokens: whole.sums.outputTokens - sums.outputTokens,
      charged: whole.sums.charged - sums.charged,
      durations: less(whole.sums.durations, sums.durations),
      firstBytes: less(whole.sums.firstBytes, sums.firstBytes),
    },
  };
}
