import type { Database, SQLQueryBindings } from "bun:sqlite";
import {
  othersName,
  type TimeEnds,
  type UsagePoint,
  type UsageQuery,
} from "../../../ledger/reports.ts";
import { dayMs, type FoldMark, hourMs, toDay, toHour } from "../../../ledger/rollups.ts";
import type { TotalGroup } from "../../../ledger/store.ts";
import { dearestNames, UsageSums } from "../../../ledger/usage-sums.ts";
import { toFoldMark } from "../../sqlite/reports/rollup-fold.ts";
import { withAccount } from "./receipt-reading.ts";
import {
  durationColumns,
  endColumns,
  firstByteColumns,
  mergedOf,
  toEnds,
} from "./rollup-columns.ts";
import { namesFor, readGrain, stepOf, type UsageQuestion } from "./usage-steps.ts";

/**
 * Sums that are kept by day, and totals of all accounts, know closed hours alone; the few hours
 * that are not in them yet are read as they are. Called within one transaction.
 */
export function readUsage(raw: Database, question: UsageQuestion): readonly UsagePoint[] {
  const range = rangeOf(raw, question);
  const by = totalsFor(question);
  return by === undefined
    ? readRows(raw, { question: withAccount(raw, question), range })
    : readTotals(raw, { question, range, by });
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  /** What lies before it is in the totals and in the sums by day. */
  readonly foldedTo: FoldMark;
}

function rangeOf(raw: Database, question: UsageQuestion): Range {
  const { fromMs, toMs } = question;
  const grain = readGrain(question);
  const mark = "select value from meta where key = 'rollups_folded_to_ms'";
  const foldedTo = toFoldMark(raw.query<{ value: string }, []>(mark).get()?.value);
  return {
    fromMs: grain === "hour" ? toHour(fromMs) : toDay(fromMs),
    // A day is told whole.
    toMs: grain === "hour" ? toMs : toDay(toMs - 1) + dayMs,
    foldedTo,
  };
}

/** Which totals say all that is asked for; undefined where none do. */
function totalsFor({ accountId, keyId, model, by }: UsageQuery): TotalGroup | undefined {
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

const columns = [
  "receipts",
  "failures",
  "input_tokens",
  "output_tokens",
  "charged",
  ...endColumns,
  ...durationColumns,
  ...firstByteColumns,
];
const added = columns
  // Money is read as text: a number would lose digits.
  .map((name) => (name === "charged" ? "cast(sum(charged) as text)" : mergedOf(name)))
  .join(", ");

const columnOf = { none: "''", model: "model", key: "key_id", account: "account_id" } as const;

type Row = readonly [startMs: number, name: string, ...sums: (number | string)[]];

/** Of some accounts, keys or models: their own rows, which are looked up step by step of time. */
function readRows(
  raw: Database,
  options: { readonly question: UsageQuestion; readonly range: Range },
): readonly UsagePoint[] {
  const { question, range } = options;
  const { fromMs, toMs } = range;
  const sources: readonly Omit<Rows, "question">[] =
    readGrain(question) === "hour"
      ? [{ table: "rollups", fromMs, toMs }]
      : [{ table: "rollup_days", fromMs, toMs }, freshOf(range)];
  const kept = dearestOf(raw, { question, sources });
  const sums = new UsageSums();
  for (const of of sources)
    for (const row of rowsOf(raw, { ...of, question, kept })) sums.add(toPoint(row));
  return sums.points(namesFor(question));
}

/** Found first, because of thousands of keys every sum would be read; undefined where all are shown. */
function dearestOf(
  raw: Database,
  options: {
    readonly question: UsageQuestion;
    readonly sources: readonly Omit<Rows, "question">[];
  },
): ReadonlySet<string> | undefined {
  const { question, sources } = options;
  if (question.by !== "key" && question.by !== "account") return undefined;
  const names = sources.flatMap((of) => {
    if (of.fromMs >= of.toMs) return [];
    const { sql, values } = sqlOf({ ...of, question, isOfNames: true });
    return raw.query<unknown, SQLQueryBindings[]>(sql).values(...values) as unknown as [
      name: string,
      charged: string,
      receipts: number,
    ][];
  });
  return dearestNames(
    names.map(([name, charged, receipts]) => ({ name, charged: BigInt(charged), receipts })),
    namesFor(question),
  );
}

interface Rows {
  readonly table: "rollups" | "rollup_days";
  readonly question: UsageQuestion;
  readonly fromMs: number;
  readonly toMs: number;
  /** Only what lies behind it. */
  readonly behind?: FoldMark;
  /** The names that are told one by one; all where there is none. */
  readonly kept?: ReadonlySet<string> | undefined;
  /** What each name comes to over the whole time, in place of its steps. */
  readonly isOfNames?: boolean;
}

function rowsOf(raw: Database, rows: Rows): readonly Row[] {
  if (rows.fromMs >= rows.toMs) return [];
  const { sql, values } = sqlOf(rows);
  return all(raw, sql, values);
}

function sqlOf(rows: Rows): { readonly sql: string; readonly values: SQLQueryBindings[] } {
  const { table, question, fromMs, toMs, behind, kept, isOfNames = false } = rows;
  const { accountId, keyId, model, by } = question;
  const [start, stepMs] =
    table === "rollups" ? (["hour_ms", hourMs] as const) : (["day_ms", dayMs] as const);
  const shown = stepOf(question, start);
  const names = [...(kept ?? [])];
  const name =
    kept === undefined
      ? columnOf[by]
      : `case when ${columnOf[by]} in (${names.map(() => "?").join(", ")})
          then ${columnOf[by]} else ? end`;
  const nameValues = kept === undefined ? [] : [...names, othersName];
  const own = (
    [
      ["account_id", accountId],
      ["key_id", keyId],
      ["model", model],
    ] as const
  ).filter(([, value]) => value !== undefined);
  const narrowed = own.map(([column]) => ` and ${column} = ?`).join("");
  const isFresh = behind === undefined ? "" : " and (hour_ms, account_id, key_id) > (?, ?, ?)";
  const endValues = [
    ...own.map(([, value]) => value ?? ""),
    ...(behind === undefined ? [] : [behind.hourMs, behind.accountId, behind.keyId]),
  ];
  const read = isOfNames
    ? `${name}, cast(sum(charged) as text), sum(receipts)`
    : `${shown}, ${name}, ${added}`;
  const group = isOfNames ? "group by 1" : "group by 1, 2";
  // The key begins with the hour, then the account: so one account is found without the others.
  return accountId === undefined
    ? {
        sql: `select ${read} from ${table}
          where ${start} >= ? and ${start} < ?${narrowed}${isFresh} ${group}`,
        values: [...nameValues, fromMs, toMs, ...endValues],
      }
    : {
        sql: `with recursive steps(at) as
          (values (?) union all select at + ${stepMs} from steps where at + ${stepMs} < ?)
          select ${read} from steps cross join ${table}
          on ${start} = at${narrowed}${isFresh} ${group}`,
        values: [fromMs, toMs, ...nameValues, ...endValues],
      };
}

/** Of all accounts: the dearest names one by one, and of the rest what is left of the whole. */
function readTotals(
  raw: Database,
  options: {
    readonly question: UsageQuestion;
    readonly range: Range;
    readonly by: TotalGroup;
  },
): readonly UsagePoint[] {
  const { question, range, by } = options;
  const name = { account: question.accountId, key: question.keyId, model: question.model }[by];
  const fresh = freshRows(raw, { question, range });
  const sums = new UsageSums();
  for (const row of fresh) sums.add(toPoint(row));
  const read = { question, range };
  if (name !== undefined) {
    const shown = question.by === "none" ? "''" : "name";
    for (const row of totalRows(raw, { ...read, by, shown, names: [name] })) sums.add(toPoint(row));
    return sums.points(namesFor(question));
  }
  const kept = question.by === "none" ? undefined : keptNames(raw, { ...read, by, fresh });
  const shown = question.by === "none" ? "''" : "name";
  if (kept === undefined) {
    for (const row of totalRows(raw, { ...read, by, shown })) sums.add(toPoint(row));
    return sums.points(namesFor(question));
  }
  const others = new Map<number, Point>();
  // By model, because these are the fewest.
  for (const row of totalRows(raw, { ...read, by: "model", shown: "''" })) {
    const point = toPoint(row);
    others.set(point.startMs, { ...point, name: othersName });
  }
  for (const row of totalRows(raw, { ...read, by, shown: "name", names: [...kept] })) {
    const point = toPoint(row);
    sums.add(point);
    const left = others.get(point.startMs);
    if (left !== undefined) others.set(point.startMs, minus(left, point));
  }
  const ends = otherEnds(raw, { ...read, by, kept });
  for (const { startMs, name, sums: left } of others.values())
    if (left.receipts > 0) sums.add({ startMs, name, sums: { ...left, ...ends.get(startMs) } });
  return sums.points(namesFor(question));
}

/** Rows that no total has yet. */
function freshRows(
  raw: Database,
  options: { readonly question: UsageQuestion; readonly range: Range },
): readonly Row[] {
  const { question, range } = options;
  return rowsOf(raw, { ...freshOf(range), question });
}

function freshOf({ fromMs, toMs, foldedTo }: Range): Omit<Rows, "question"> {
  return {
    table: "rollups",
    fromMs: Math.max(fromMs, foldedTo.hourMs),
    toMs,
    behind: foldedTo,
  };
}

interface Totals {
  readonly question: UsageQuestion;
  readonly range: Range;
  readonly by: TotalGroup;
}

function totalRows(
  raw: Database,
  options: Totals & { readonly shown: string; readonly names?: readonly string[] },
): readonly Row[] {
  const { question, range, by, shown, names } = options;
  const { fromMs, toMs } = range;
  if (fromMs >= toMs) return [];
  const grain = readGrain(question);
  const step = stepOf(question, "start_ms");
  const group = `group by 1${shown === "''" ? "" : ", name"}`;
  if (names === undefined) {
    const sql = `select ${step}, ${shown}, ${added} from rollup_totals
      where grain = ? and kind = ? and start_ms >= ? and start_ms < ? ${group}`;
    return all(raw, sql, [grain, by, fromMs, toMs]);
  }
  const stepMs = grain === "hour" ? hourMs : dayMs;
  const sql = `with recursive steps(at) as
      (values (?) union all select at + ${stepMs} from steps where at + ${stepMs} < ?)
    select ${step}, ${shown}, ${added} from steps cross join rollup_totals
    on grain = ? and kind = ? and start_ms = at
      and name in (${names.map(() => "?").join(", ")}) ${group}`;
  return all(raw, sql, [fromMs, toMs, grain, by, ...names]);
}

/** What is left of the whole does not say how short and long its times were. */
function otherEnds(
  raw: Database,
  options: Totals & { readonly kept: ReadonlySet<string> },
): ReadonlyMap<number, TimeEnds> {
  const { question, range, by, kept } = options;
  const names = [...kept];
  const step = stepOf(question, "start_ms");
  const sql = `select ${step}, '', ${endColumns.map(mergedOf).join(", ")} from rollup_totals
    where grain = ? and kind = ? and start_ms >= ? and start_ms < ?
      and name not in (${names.map(() => "?").join(", ")}) group by 1`;
  const rows = all(raw, sql, [readGrain(question), by, range.fromMs, range.toMs, ...names]);
  return new Map(rows.map(([startMs, , ...ends]) => [startMs, toEnds(ends as number[])]));
}

/** Undefined where all names can be shown. */
function keptNames(
  raw: Database,
  options: Totals & { readonly fresh: readonly Row[] },
): ReadonlySet<string> | undefined {
  const { question, range, by, fresh } = options;
  const sql = `select name, cast(sum(charged) as text) as charged, sum(receipts) as receipts
    from rollup_totals where grain = ? and kind = ? and start_ms >= ? and start_ms < ?
    group by name`;
  const rows = raw
    .query<{ name: string; charged: string; receipts: number }, SQLQueryBindings[]>(sql)
    .all(readGrain(question), by, range.fromMs, range.toMs);
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

function all(raw: Database, sql: string, values: readonly SQLQueryBindings[]): readonly Row[] {
  return raw.query<unknown, SQLQueryBindings[]>(sql).values(...values) as unknown as Row[];
}

interface Point {
  readonly startMs: number;
  readonly name: string;
  readonly sums: Omit<UsagePoint, "startMs" | "name">;
}

const endsFrom = 5;
const countsFrom = endsFrom + endColumns.length;
const countsEach = durationColumns.length;

function toPoint([startMs, name, ...sums]: Row): Point {
  const counts = sums as number[];
  const [receipts = 0, failures = 0, inputTokens = 0, outputTokens = 0] = counts;
  return {
    startMs,
    name,
    sums: {
      receipts,
      failures,
      inputTokens,
      outputTokens,
      charged: BigInt(sums[4] ?? 0),
      ...toEnds(counts.slice(endsFrom, countsFrom)),
      durations: counts.slice(countsFrom, countsFrom + countsEach),
      firstBytes: counts.slice(countsFrom + countsEach),
    },
  };
}

/** The ends of its times stay those of the whole. */
function minus(whole: Point, part: Point): Point {
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
