import { toMinute } from "../../../ledger/minutes.ts";
import type { UsagePoint, UsageQuery } from "../../../ledger/reports.ts";
import { dayMs, toDay, toHour } from "../../../ledger/rollups.ts";
import type { TotalGroup } from "../../../ledger/store.ts";
import { dearestNames, UsageSums } from "../../../ledger/usage-sums.ts";
import { readFoldMark } from "./fold-mark.ts";
import { withAccount } from "./receipt-filter.ts";
import { endColumns, mergedOf } from "./rollup-columns.ts";
import type { SqlReader } from "./sql-reader.ts";
import {
  addedSums,
  readUsageRows,
  type StepPoint,
  toPoint,
  type UsageRow,
  type UsageRows,
  usageSql,
} from "./usage-rows.ts";
import { namesFor, readGrain, stepOf } from "./usage-steps.ts";
import {
  endsByStep,
  freshOf,
  keptAndOthers,
  readTotals,
  totalRows,
  type UsageRange,
} from "./usage-totals.ts";

/**
 * Sums that are kept by day, and totals of all accounts, know closed hours alone; the few hours
 * that are not in them yet are read as they are. Called within one transaction.
 */
export async function readUsage(
  reader: SqlReader,
  question: UsageQuery,
): Promise<readonly UsagePoint[]> {
  const range = await rangeOf(reader, question);
  const by = totalsFor(question);
  return by === undefined
    ? readRows(reader, { question: await withAccount(reader, question), range })
    : readTotals(reader, { question, range, by });
}

async function rangeOf(reader: SqlReader, question: UsageQuery): Promise<UsageRange> {
  const { fromMs, toMs } = question;
  const grain = readGrain(question);
  return {
    fromMs: { minute: toMinute, hour: toHour, day: toDay }[grain](fromMs),
    // A day is told whole.
    toMs: grain === "day" ? toDay(toMs - 1) + dayMs : Math.ceil(toMs),
    foldedTo: await readFoldMark(reader),
  };
}

/** Which totals say all that is asked for; undefined where none do. */
function totalsFor(question: UsageQuery): TotalGroup | undefined {
  const { accountId, keyId, model, by, grain } = question;
  if (grain === "minute") return undefined;
  const filters = [
    ...(accountId === undefined ? [] : (["account"] as const)),
    ...(keyId === undefined ? [] : (["key"] as const)),
    ...(model === undefined ? [] : (["model"] as const)),
  ];
  const [only] = filters;
  if (filters.length > 1) return undefined;
  if (only === undefined) return by === "none" ? "model" : by;
  return by === "none" || by === only ? only : undefined;
}

type Source = Omit<UsageRows, "question">;

/** Of some accounts, keys or models: their own rows, which are looked up step by step of time. */
async function readRows(
  reader: SqlReader,
  options: { readonly question: UsageQuery; readonly range: UsageRange },
): Promise<readonly UsagePoint[]> {
  const { question, range } = options;
  const sources = sourcesOf(question, range);
  const kept = await dearestOf(reader, { question, sources });
  if (kept?.size === 0) return [];
  const sums = new UsageSums();
  for (const of of sources) {
    const isShort =
      kept !== undefined && isOfModelAlone(of, question) && reader.words.hasMoreIndexes;
    const points = isShort
      ? await readDaysOfModel(reader, { ...options, kept })
      : (await readUsageRows(reader, { ...of, question, kept })).map(toPoint);
    for (const point of points) sums.add(point);
  }
  return sums.points(namesFor(question));
}

const isOfModelAlone = ({ table }: Source, { accountId, keyId }: UsageQuery) =>
  table === "rollup_days" && accountId === undefined && keyId === undefined;

/** One model by key or account: only the sums of those that are shown one by one are read. */
async function readDaysOfModel(
  reader: SqlReader,
  options: {
    readonly question: UsageQuery;
    readonly range: UsageRange;
    readonly kept: ReadonlySet<string>;
  },
): Promise<readonly StepPoint[]> {
  const { question, range, kept } = options;
  const { model = "" } = question;
  const column = question.by === "key" ? "key_id" : "account_id";
  const step = stepOf(question, "day_ms");
  const values = [range.fromMs, range.toMs, model, ...kept];
  const marks = [...kept].map(() => "?").join(", ");
  const from = "from rollup_days where day_ms >= ? and day_ms < ? and model = ?";
  const keptRows = await reader.lists<UsageRow>(
    `select ${step}, ${column}, ${addedSums} ${from} and ${column} in (${marks}) group by 1, 2`,
    values,
  );
  const ends = await reader.lists<UsageRow>(
    `select ${step}, '', ${endColumns.map(mergedOf).join(", ")} ${from}
      and ${column} not in (${marks}) group by 1`,
    values,
  );
  const total = { question, range, by: "model", shown: "''", names: [model] } as const;
  const whole = await totalRows(reader, total);
  return [...keptAndOthers({ whole, kept: keptRows, ends: endsByStep(ends) })];
}

function sourcesOf(question: UsageQuery, range: UsageRange): readonly Source[] {
  const { fromMs, toMs } = range;
  switch (readGrain(question)) {
    case "minute":
      return [{ table: "minute_sums", fromMs, toMs }];
    case "hour":
      return [{ table: "rollups", fromMs, toMs }];
    default:
      return [{ table: "rollup_days", fromMs, toMs }, freshOf(range)];
  }
}

/** Found first, because of thousands of keys every sum would be read; undefined where all are shown. */
async function dearestOf(
  reader: SqlReader,
  options: { readonly question: UsageQuery; readonly sources: readonly Source[] },
): Promise<ReadonlySet<string> | undefined> {
  const { question, sources } = options;
  if (question.by !== "key" && question.by !== "account") return undefined;
  const names: (readonly [name: string, charged: string, receipts: number])[] = [];
  for (const of of sources) {
    if (of.fromMs >= of.toMs) continue;
    const { sql, values } = usageSql({ ...of, question, isOfNames: true }, reader.words);
    names.push(...(await reader.lists<(typeof names)[number]>(sql, values)));
  }
  return dearestNames(
    names.map(([name, charged, receipts]) => ({ name, charged: BigInt(charged), receipts })),
    namesFor(question),
  );
}
