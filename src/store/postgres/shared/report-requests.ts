import type { Pool } from "pg";
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
  #running: Promise<void> | undefined;
  /** For who came after that one was sent. */
  #next: Promise<void> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  run(): Promise<void> {
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

  async #ask(): Promise<void> {
    const [raised] = await query<{ wanted: number }>(this.#pool, {
      text: "update report_requests set wanted = wanted + 1 where id = 1 returning wanted",
      answerMs,
    });
    const untilMs = performance.now() + longestMs;
    while (await this.#isWaiting(raised?.wanted ?? 0)) {
      if (performance.now() + everyMs > untilMs) return;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  /** A node that has gone silent is not waited for. */
  async #isWaiting(wanted: number): Promise<boolean> {
    const [row] = await query<{ waiting: boolean }>(this.#pool, {
      name: "svc_reports_waiting",
      text: `select exists (select from epochs join heartbeats on epoch = id
        where is_open and reports_done < $1 and renewed_at > clock_timestamp() - $2::interval) as waiting`,
      values: [wanted, silentAfter],
      answerMs,
    });
    return row?.waiting === true;
  }
}
