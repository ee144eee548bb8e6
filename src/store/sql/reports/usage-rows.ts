import { minuteMs } from "../../../ledger/minutes.ts";
import { othersName, type UsagePoint, type UsageQuery } from "../../../ledger/reports.ts";
import { dayMs, type FoldMark, hourMs } from "../../../ledger/rollups.ts";
import {
  durationColumns,
  endColumns,
  firstByteColumns,
  mergedOf,
  toEnds,
} from "./rollup-columns.ts";
import type { SqlReader, SqlWords, Value } from "./sql-reader.ts";
import { stepOf, stepsSql } from "./usage-steps.ts";

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
export const addedSums = columns
  // Money is read as text: a number would lose digits.
  .map((name) => (name === "charged" ? "cast(sum(charged) as text)" : mergedOf(name)))
  .join(", ");

const columnOf = { none: "''", model: "model", key: "key_id", account: "account_id" } as const;
/** Rows of minutes beyond those that one process tells apart are of no key. */
const minuteKey = `case when key_id like '${othersName} %' then '${othersName}' else key_id end`;

export type UsageRow = readonly [startMs: number, name: string, ...sums: (number | string)[]];

export interface UsageRows {
  readonly table: "minute_sums" | "rollups" | "rollup_days";
  readonly question: UsageQuery;
  readonly fromMs: number;
  readonly toMs: number;
  /** Only what lies behind it. */
  readonly behind?: FoldMark;
  /** The names that are told one by one; all where there is none. */
  readonly kept?: ReadonlySet<string> | undefined;
  /** What each name comes to over the whole time, in place of its steps. */
  readonly isOfNames?: boolean;
}

export async function readUsageRows(
  reader: SqlReader,
  rows: UsageRows,
): Promise<readonly UsageRow[]> {
  if (rows.fromMs >= rows.toMs) return [];
  const { sql, values } = usageSql(rows, reader.words);
  return reader.lists<UsageRow>(sql, values);
}

const stepOfTable = {
  minute_sums: ["start_ms", minuteMs],
  rollups: ["hour_ms", hourMs],
  rollup_days: ["day_ms", dayMs],
} as const;

export function usageSql(
  rows: UsageRows,
  words: SqlWords,
): { readonly sql: string; readonly values: readonly Value[] } {
  const { table, question, fromMs, toMs, behind, kept, isOfNames = false } = rows;
  const { accountId, keyId, model, by } = question;
  const [start, stepMs] = stepOfTable[table];
  const shown = stepOf(question, start);
  const names = [...(kept ?? [])];
  const column = table === "minute_sums" && by === "key" ? minuteKey : columnOf[by];
  const name =
    kept === undefined
      ? column
      : `case when ${column} in (${names.map(() => "?").join(", ")}) then ${column} else ? end`;
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
    : `${shown}, ${name}, ${addedSums}`;
  const group = isOfNames ? "group by 1" : "group by 1, 2";
  // The key begins with the hour, then the account: so one account is found without the others.
  return accountId === undefined
    ? {
        sql: `select ${read} from ${table}
          where ${start} >= ? and ${start} < ?${narrowed}${isFresh} ${group}`,
        values: [...nameValues, fromMs, toMs, ...endValues],
      }
    : {
        sql: `with recursive ${stepsSql(stepMs)}
          select ${read} from steps ${words.join} ${table}
          on ${start} = at and ${start} >= ? and ${start} < ?${narrowed}${isFresh} ${group}`,
        // The range twice: who looks up the account first has no other end of time.
        values: [fromMs, toMs, ...nameValues, fromMs, toMs, ...endValues],
      };
}

export interface StepPoint {
  readonly startMs: number;
  readonly name: string;
  readonly sums: Omit<UsagePoint, "startMs" | "name">;
}

const endsFrom = 5;
const countsFrom = endsFrom + endColumns.length;
const countsEach = durationColumns.length;

export function toPoint([startMs, name, ...sums]: UsageRow): StepPoint {
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
