import type { Pool } from "pg";
import type { ReportsAnswer } from "../../../fleet/store.ts";
import { deadlines } from "../deadlines.ts";
import { silentAfter } from "../ledger/leases.ts";
import { query } from "../query.ts";

const longestMs = 1_000;
const everyMs = 40;
const answerMs = deadlines.tick;

/**
 * Asks all nodes to write the sums they have, and waits for them. One request serves all who come
 * before it is sent: a page asks for several reports at once.
 */
export class ReportRequests {
  readonly #pool: Pool;
  /** Under way. */
  #running: Promise<ReportsAnswer> | undefined;
  /** For who came after that one was sent. */
  #next: Promise<ReportsAnswer> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  run(): Promise<ReportsAnswer> {
    if (this.#running === undefined) {
      this.#running = this.#ask().finally(() => (this.#running = undefined));
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.run();
      });
    return this.#next;
  }

  async #ask(): Promise<ReportsAnswer> {
    const [raised] = await query<{ wanted: number; asked_ms: number }>(this.#pool, {
      text: `update report_requests set wanted = wanted + 1 where id = 1
        returning wanted, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as asked_ms`,
      answerMs,
    });
    if (raised === undefined) throw new Error("the database has no report_requests");
    const untilMs = performance.now() + longestMs;
    while (true) {
      const { waiting, missing_since_ms: sinceMs } = await this.#look(raised.wanted);
      if (!waiting || performance.now() + everyMs > untilMs)
        return { askedMs: raised.asked_ms, missingSinceMs: sinceMs ?? undefined };
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  /**
   * A node that has gone silent is not waited for, but its sums lack what it had. So do those of a
   * closed epoch until they are counted again.
   */
  async #look(wanted: number): Promise<Look> {
    const [row] = await query<Look>(this.#pool, {
      name: "svc_reports_waiting",
      text: lookSql,
      values: [wanted, silentAfter],
      answerMs,
    });
    if (row === undefined) throw new Error("an aggregate has one row");
    return row;
  }
}

interface Look {
  readonly waiting: boolean;
  readonly missing_since_ms: number | null;
}

/** A node that has not ticked yet, or is of an older version, does not report how far its sums reach. */
const lookSql = `select
    coalesce(bool_or(is_open and reports_done < $1
      and renewed_at > clock_timestamp() - $2::interval), false) as waiting,
    min(coalesce((load::jsonb->>'sumsToMs')::bigint, open_from_ms,
        floor(extract(epoch from opened_at) * 1000)::bigint))
      filter (where not is_open or reports_done < $1) as missing_since_ms
  from epochs left join heartbeats on epoch = id
  where is_open or open_from_ms is not null`;
