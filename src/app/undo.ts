import { monotonicMs } from "../base/clock.ts";
import { LateError, within } from "../base/within.ts";
import type { Opened } from "./opened.ts";

/** `withinMs` is undefined for a step without a deadline. */
type CloseStep = (withinMs: number | undefined) => Promise<void>;

interface Step {
  readonly run: CloseStep;
  readonly share: number;
}

/** What a start has opened, to be closed in reverse order: when a later step fails, and at the end. */
export class Undo {
  readonly #steps: Step[] = [];
  readonly #elapsedMs: () => number;

  constructor(elapsedMs = monotonicMs) {
    this.#elapsedMs = elapsedMs;
  }

  /** With a share, the step gets a part of the time for closing, and the next one begins after it. */
  push(run: CloseStep, share = 0): void {
    this.#steps.push({ run, share });
  }

  /**
   * A step that fails does not keep the others from running; the first failure is thrown. All steps
   * with a share have one deadline: what a step leaves over is for those that follow.
   */
  async run(closingMs = longestClosingMs): Promise<void> {
    const failures: unknown[] = [];
    const steps = this.#steps.toReversed();
    let leftMs = closingMs;
    let shares = steps.reduce((sum, { share }) => sum + share, 0);
    for (const { run, share } of steps) {
      const startMs = this.#elapsedMs();
      const limitMs = share === 0 ? undefined : Math.floor((leftMs * share) / shares);
      const work = run(limitMs);
      const step = limitMs === undefined ? work : within(work, limitMs, "not closed in time");
      await step.catch((error: unknown) => {
        if (!(error instanceof LateError)) failures.push(error);
      });
      if (limitMs === undefined) continue;
      leftMs = Math.max(0, leftMs - (this.#elapsedMs() - startMs));
      shares -= share;
    }
    if (failures.length > 0) throw failures[0];
  }
}

const longestClosingMs = 8_000;
const shortestClosingMs = 1_000;

/**
 * How long closing may wait for a database server, which may never answer again: as long as calls in
 * flight may (SVC_GRACE_S), and less than what service managers allow beyond it. A server that is
 * well needs a fraction of a second, which a grace time of 0 does not take away.
 */
export const closingMs = (graceMs: number, spentMs = 0): number =>
  Math.max(shortestClosingMs, Math.min(graceMs, longestClosingMs) - spentMs);

/** Parts of that time. SQLite has no such limits: it is this process. */
const shares = {
  /** The last replies are on their way to their callers. */
  listener: 4,
  /** What works beside calls, and requests for it. Others do it, or the next start. */
  beside: 1,
  /** The collector may be gone as well. */
  telemetry: 2,
  /** It is killed when it does not end in time. */
  engine: 2,
  /** A delivery that ends well is not repeated by the next start. */
  exports: 3,
  /** Receipts that are in line still have to be written, or logged as lost. */
  money: 8,
  /** Gives all leases back; otherwise the others close them when this node is silent for long. */
  store: 5,
} as const;

export const closingShare = (
  { shared }: Pick<Opened, "shared">,
  what: keyof typeof shares,
): number | undefined => (shared === undefined ? undefined : shares[what]);
