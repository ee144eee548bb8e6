/** What one question, reply or page took, and the table of all of them. */
import { aligned, number, spreadOf } from "../gateway/report.ts";

/** What the overview is to stay below. */
const wantedMs = 200;

export type Result = {
  readonly name: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly worstMs: number;
  /** Of the gateway's process, all threads: says something on a busy machine too. */
  readonly cpuMs: number | undefined;
  /** Rows of a report, bytes of the replies. */
  readonly size: number | undefined;
  /** Rows that the database read for it, where it counts them. */
  readonly rowsRead?: number;
  /** Of 8 kB, of tables and indexes, whether they were in memory or not. */
  readonly pagesRead?: number;
};

export function resultOf(options: {
  readonly name: string;
  readonly tookMs: readonly number[];
  readonly cpuMs?: number;
  readonly size?: number;
}): Result {
  const { name, tookMs, cpuMs, size } = options;
  const { median = 0, max = 0 } = spreadOf(tookMs) ?? {};
  return { name, firstMs: tookMs[0] ?? 0, medianMs: median, worstMs: max, cpuMs, size };
}

function verdictOf({ medianMs, worstMs }: Result): string {
  if (worstMs <= wantedMs) return "ok";
  return medianMs <= wantedMs ? "ok, not always" : "too slow";
}

export function resultTable(options: {
  readonly title: string;
  readonly results: readonly Result[];
  readonly sizeName: string;
}): string {
  const { title, results, sizeName } = options;
  const ms = (value: number | undefined) => (value === undefined ? "–" : number(value, 1));
  const isCounted = results.some(({ rowsRead }) => rowsRead !== undefined);
  return aligned([
    [
      `${title}, ms`,
      "first",
      "median",
      "worst",
      "CPU",
      sizeName,
      ...(isCounted ? ["rows read", "pages"] : []),
      `${wantedMs} or less`,
    ],
    ...results.map((result) => [
      result.name,
      ms(result.firstMs),
      ms(result.medianMs),
      ms(result.worstMs),
      ms(result.cpuMs),
      result.size === undefined ? "–" : number(result.size, 0),
      ...(isCounted ? [number(result.rowsRead ?? 0, 0), number(result.pagesRead ?? 0, 0)] : []),
      verdictOf(result),
    ]),
  ]);
}
