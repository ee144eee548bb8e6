import { LateError, within } from "../base/within.ts";
import type { Opened } from "./opened.ts";

interface Step {
  readonly run: () => Promise<void>;
  readonly withinMs: number | undefined;
}

/** What a start has opened, to be closed in reverse order: when a later step fails, and at the end. */
export class Undo {
  readonly #steps: Step[] = [];

  /** With a limit, the next step follows when this one takes longer: nobody waits for its end. */
  push(run: () => Promise<void>, withinMs?: number): void {
    this.#steps.push({ run, withinMs });
  }

  /** A step that fails does not keep the others from running; the first failure is thrown. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const { run, withinMs } of this.#steps.toReversed()) {
      const step = withinMs === undefined ? run() : within(run(), withinMs, "not closed in time");
      await step.catch((error: unknown) => {
        if (!(error instanceof LateError)) failures.push(error);
      });
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * How long closing may wait for a database server, which may never answer again; all together less
 * than what service managers allow beyond SVC_GRACE_S. SQLite has no such limits: it is this process.
 */
const closeWithinMs = {
  /** What reads and writes beside calls. Others do it, or the next start. */
  beside: 500,
  /** A delivery that ends well is not repeated by the next start. */
  exports: 2_000,
  /** Receipts that are in line still have to be written, or logged as lost. */
  money: 5_500,
  /** Gives all leases back; otherwise the others close them when this node is silent for long. */
  store: 5_500,
} as const;

export const closeWithin = (
  { shared }: Pick<Opened, "shared">,
  what: keyof typeof closeWithinMs,
): number | undefined => (shared === undefined ? undefined : closeWithinMs[what]);
