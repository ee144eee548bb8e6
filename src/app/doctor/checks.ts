import { Problem } from "../../base/problem.ts";
import type { Check, CheckGroup, CheckState } from "../../cli/doctor-wiring.ts";

/** The findings of one group. */
export class Checks {
  readonly found: Check[] = [];
  readonly #group: CheckGroup;

  constructor(group: CheckGroup) {
    this.#group = group;
  }

  ok(finding: string): void {
    this.#add("ok", finding);
  }

  skipped(finding: string, advice?: string): void {
    this.#add("skipped", finding, advice);
  }

  warning(finding: string, advice: string): void {
    this.#add("warning", finding, advice);
  }

  problem(finding: string, advice?: string): void {
    this.#add("problem", finding, advice);
  }

  /** An error that explains itself; others are shown as they are. */
  failed(error: unknown, advice?: string): void {
    const command = error instanceof Problem ? error.command : undefined;
    const next = advice ?? (command === undefined ? undefined : `Try: svc ${command}`);
    this.problem(error instanceof Error ? error.message : String(error), next);
  }

  /** Runs them at once; what they find stays in this order. */
  async sideBySide(works: readonly ((own: Checks) => void | Promise<void>)[]): Promise<void> {
    const parts = works.map((work) => ({ work, own: new Checks(this.#group) }));
    await Promise.all(
      parts.map(async ({ work, own }) => {
        try {
          await work(own);
        } catch (error) {
          own.failed(error);
        }
      }),
    );
    this.found.push(...parts.flatMap(({ own }) => own.found));
  }

  #add(state: CheckState, finding: string, advice?: string): void {
    const check = { group: this.#group, state, finding };
    this.found.push(advice === undefined ? check : { ...check, advice });
  }
}

/** What the check of the database found out for the others. */
export interface DatabaseFindings {
  /** Whether it can be opened without changing it. */
  readonly isReady: boolean;
  /** What the database keeps of the master secret that opens it. */
  readonly fingerprint: string | undefined;
  /** Of the secrets that open it: two during a rotation; none before data keys. */
  readonly wrappings?: readonly string[] | undefined;
  /** It exists, or has existed, and its secret could not be found out. */
  readonly isUnreadable: boolean;
  /** When the newest receipt began. */
  readonly newestReceiptMs: number | undefined;
  /** How far the clock of the database is ahead of ours. */
  readonly aheadMs: number | undefined;
}

/** Rejects when the work takes longer. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`${what} did not respond within ${ms / 1000} s.`)),
    ms,
  );
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

export const lostReceipts = "Receipts that the disk had confirmed are missing from the database.";
export const lostAdvice =
  "svc ledger verify shows which; docs/operating.md (Lost receipts) says how to go on.";

const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;

export function sizeText(bytes: number): string {
  if (bytes >= gibibyte) return `${(bytes / gibibyte).toFixed(1)} GiB`;
  return bytes < mebibyte ? "less than 1 MiB" : `${Math.round(bytes / mebibyte)} MiB`;
}
