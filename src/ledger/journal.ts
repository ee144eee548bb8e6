import type { Log } from "../base/log.ts";
import { endedAtMs, type Receipt } from "./receipt.ts";
import { probeStore, Reopening, type StoreWrite } from "./reopening.ts";
import {
  ClaimsLostError,
  FencedError,
  type LedgerStore,
  type LedgerWrite,
  NotSyncedError,
  UnconfirmedError,
  UnwritableError,
} from "./store.ts";

interface Pending {
  write: LedgerWrite;
  /** Nothing of it has reached the caller: it may be taken back when it cannot be written. */
  mayTakeBack: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Its transaction stands, though the disk has not confirmed it. */
  isWritten: boolean;
  /** Nobody knows whether its transaction stands. */
  isDoubtful: boolean;
}

/** What was in line when the time was up. `isDoubtful`: nobody knows whether it stands. */
export interface Unconfirmed {
  readonly write: LedgerWrite;
  readonly isDoubtful: boolean;
}

/** The store could not write in time. `isTakenBack`: what was to be written never will be. */
export class JournalError extends Error {
  override readonly name = "JournalError";
  readonly isTakenBack: boolean;

  constructor(isTakenBack: boolean, cause: unknown) {
    super("the ledger cannot be written", { cause });
    this.isTakenBack = isTakenBack;
  }
}

export interface JournalOptions {
  readonly store: Pick<LedgerStore, "commit" | "rehearse">;
  readonly log: Log;
  /** How many writes go into one commit. */
  readonly maxBatch?: number;
  readonly nowMs?: () => number;
  /** For so long replies wait for a store that fails. */
  readonly patienceMs?: number;
  readonly retryMs?: number;
  /** While only some calls are admitted, there are more of them after this time. */
  readonly roundMs?: number;
}

/** What takes a fraction of a millisecond to write: a commit must not hold up the event loop. */
export const maxBatch = 32;
/** Kept replies are large: of those few go into one commit, but always one. */
const maxBatchBytes = 256 * 1024;
const mostRefused = 8;
const defaultPatienceMs = 1_000;
const defaultRetryMs = 50;
const defaultRoundMs = 1_000;

/**
 * Makes what happens to money durable. All that comes in one turn of the event loop, or while the
 * disk confirms what came before, is one transaction; who waits is released when the disk has
 * confirmed it.
 *
 * When the store fails (disk full, read-only), nothing is lost: what was to be written stays in
 * line and is tried again until it succeeds, no new call is let in meanwhile (`isFailing`), and
 * who waits longer than the patience gets an error in place of the last bytes. What is in line is
 * bounded by the calls that were under way. reopening.ts says when it is tried again, and which
 * calls find out.
 *
 * When another process has taken the store over (FencedError), nothing is charged any more: what is
 * in line is offered once, because a shared store keeps receipts of such calls without a charge, then
 * given up; callers that wait get an error, and no call is let in any more.
 */
export class Journal {
  readonly #options: Required<JournalOptions>;
  #line: Pending[] = [];
  /** Batches that the store was given and has not answered yet; those of probes are empty. */
  readonly #inFlight = new Set<readonly Pending[]>();
  #isScheduled = false;
  #isRetrying = false;
  #isClosed = false;
  #failingSinceMs: number | undefined;
  /** Some receipts of the last batch that the store refused. */
  #refused: readonly Receipt[] = [];
  readonly #reopening: Reopening;
  #fenced: FencedError | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(options: JournalOptions) {
    this.#options = {
      nowMs: Date.now,
      patienceMs: defaultPatienceMs,
      retryMs: defaultRetryMs,
      roundMs: defaultRoundMs,
      maxBatch,
      ...options,
    };
    this.#reopening = new Reopening(this.#options);
  }

  get isFailing(): boolean {
    return this.#failingSinceMs !== undefined;
  }

  /** Whether one more call of the account may begin, which takes one of the places if they are few. */
  admits(accountId: string): boolean {
    return !this.isFailing && this.#reopening.admits(accountId);
  }

  /** Resolves when it is durable. */
  append(write: LedgerWrite, mayTakeBack = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#line.push({ write, mayTakeBack, resolve, reject, isWritten: false, isDoubtful: false });
      if (!this.isFailing || this.#fenced !== undefined) this.#schedule();
    });
  }

  /** Asks whether the store can be written, when there is reason to doubt it. */
  probe(): void {
    if (!this.isFailing && !this.#reopening.isInRounds && !this.#isClosed) this.#probe();
  }

  /** Resolves when nothing is in line any more, or after `withinMs`, with what is not confirmed. */
  async idle(withinMs: number): Promise<readonly Unconfirmed[]> {
    if (this.#line.length === 0 && this.#inFlight.size === 0) return [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([
      new Promise<void>((resolve) => this.#whenIdle.push(resolve)),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      }),
    ]);
    clearTimeout(timer);
    const sent = [...this.#inFlight].flat();
    return [
      ...sent.map(({ write }) => ({ write, isDoubtful: true })),
      ...this.#line.map(({ write, isWritten, isDoubtful }) => ({
        write,
        isDoubtful: isWritten || isDoubtful,
      })),
    ];
  }

  /** When the first of the calls ended whose receipts are not written; undefined when all are. */
  get waitingSinceMs(): number | undefined {
    let sinceMs: number | undefined;
    for (const batch of [...this.#inFlight, this.#line])
      for (const { write } of batch)
        if (write.type === "receipt")
          sinceMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, endedAtMs(write.receipt));
    return sinceMs;
  }

  /** The store is about to be closed: what is still in line is given up. */
  close(): void {
    this.#isClosed = true;
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    if (this.#line.length === 0) {
      if (this.isFailing || this.#reopening.isInRounds) this.#probe();
      return;
    }
    const count = batchLength(this.#line, this.#options.maxBatch);
    const batch = count === this.#line.length ? this.#line : this.#line.slice(0, count);
    this.#line = batch === this.#line ? [] : this.#line.slice(count);
    this.#commit(batch);
    if (!this.isFailing) this.#schedule();
  };

  /** While the disk confirms one commit, the next one gathers: it could not be confirmed sooner. */
  #schedule(): void {
    const { length } = this.#line;
    if (
      length === 0 ||
      this.#isScheduled ||
      (this.#inFlight.size > 0 && length < this.#options.maxBatch)
    )
      return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  #commit(batch: readonly Pending[]): void {
    this.#inFlight.add(batch);
    this.#options.store.commit(batch.map(({ write }) => write)).then(
      () => this.#written(batch),
      (error: unknown) => this.#failed(batch, error),
    );
  }

  /** With nothing in line, the journal asks whether the store still fails. */
  #probe(): void {
    const batch: readonly Pending[] = [];
    this.#inFlight.add(batch);
    const { store, nowMs } = this.#options;
    probeStore(store, nowMs(), this.#refused).then(
      () => this.#written(batch),
      (error: unknown) => this.#failed(batch, error),
    );
  }

  #written(batch: readonly Pending[], error?: ClaimsLostError): void {
    this.#inFlight.delete(batch);
    for (const { write, resolve, reject } of batch)
      if (error?.lost.includes(write) === true) reject(error);
      else resolve();
    this.#reopening.succeeded(kindOf(batch));
    this.#recover();
    if (!this.isFailing && this.#reopening.isInRounds) this.#retry();
    this.#schedule();
    this.#tellIdle();
  }

  #recover(): void {
    if (this.#failingSinceMs === undefined || this.#fenced !== undefined) return;
    const afterMs = this.#options.nowMs() - this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    this.#options.log.info("ledger is writable again", { after_ms: afterMs });
    if (this.#line.length > 0) this.#flush();
  }

  #failed(batch: readonly Pending[], error: unknown): void {
    if (error instanceof ClaimsLostError) return this.#written(batch, error);
    this.#inFlight.delete(batch);
    if (error instanceof FencedError) this.#fenced ??= error;
    if (this.#fenced !== undefined) return this.#giveUp(batch, this.#fenced, error);
    if (error instanceof UnwritableError) return this.#isolate(batch, error);
    const { log, nowMs, patienceMs } = this.#options;
    const isRefused = !(error instanceof UnconfirmedError);
    this.#reopening.failed(isRefused);
    if (isRefused) this.#keepRefused(batch);
    const isWritten = error instanceof NotSyncedError;
    const now = nowMs();
    if (this.#failingSinceMs === undefined) {
      this.#failingSinceMs = now;
      log.error("ledger is not writable: rejecting calls until it is", {
        detail: String(
          error instanceof NotSyncedError || error instanceof UnconfirmedError
            ? error.cause
            : error,
        ),
      });
    }
    const isDoubtful = error instanceof UnconfirmedError;
    for (const pending of batch) {
      pending.isWritten ||= isWritten;
      pending.isDoubtful ||= isDoubtful;
    }
    this.#line = [...batch, ...this.#line];
    if (now - this.#failingSinceMs >= patienceMs) this.#sendAway(error);
    this.#retry();
  }

  #keepRefused(batch: readonly Pending[]): void {
    const receipts = batch.flatMap(({ write }) =>
      write.type === "receipt" ? [write.receipt] : [],
    );
    if (receipts.length > 0) this.#refused = receipts.slice(0, mostRefused);
  }

  #retry(): void {
    if (this.#isRetrying || this.#isClosed) return;
    this.#isRetrying = true;
    setTimeout(() => {
      this.#isRetrying = false;
      if (!this.#isClosed) this.#flush();
    }, this.#reopening.pauseMs);
  }

  /** None of it will ever be charged, except what is on disk already; that may have to be undone. */
  #giveUp(batch: readonly Pending[], fenced: FencedError, error: unknown): void {
    this.#failingSinceMs ??= this.#options.nowMs();
    const isAnswered = error instanceof FencedError;
    const left = batch.filter((pending) => {
      const { isWritten, mayTakeBack, isDoubtful, reject } = pending;
      reject(new JournalError(!isWritten, fenced));
      if (pending.write.type === "void") return !isAnswered;
      return mayTakeBack && isDoubtful && toVoid(pending);
    });
    this.#line = [...left, ...this.#line];
    if (this.#line.length > 0 && isAnswered) this.#flush();
    else if (this.#line.length > 0) this.#retry();
    this.#tellIdle();
  }

  /** One bad write must not stop all others: each is tried alone, and the one that fails is dropped. */
  #isolate(batch: readonly Pending[], error: UnwritableError): void {
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) {
      const { write, reject } = only;
      const id = write.type === "receipt" ? write.receipt.id : write.type;
      this.#options.log.error("ledger write dropped", { id, detail: error.message });
      reject(new JournalError(true, error));
      // That the store refuses a value shows that it is well.
      this.#reopening.succeeded("receipt");
      this.#recover();
      this.#schedule();
      return this.#tellIdle();
    }
    for (const pending of batch) this.#commit([pending]);
  }

  /** Who waits is told; what has been delivered, in part, is still owed and stays in line. */
  #sendAway(cause: unknown): void {
    this.#line = this.#line.filter((pending) => {
      const { mayTakeBack, isWritten, isDoubtful, reject } = pending;
      // It stands and is paid for: the reply leaves when the disk has confirmed it, however late.
      if (mayTakeBack && isWritten) return true;
      reject(new JournalError(mayTakeBack, cause));
      return mayTakeBack ? isDoubtful && toVoid(pending) : true;
    });
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#line.length > 0 || this.#inFlight.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }
}

function kindOf(batch: readonly Pending[]): StoreWrite {
  if (batch.length === 0) return "probe";
  return batch.some(({ write }) => write.type === "receipt") ? "receipt" : "other";
}

/** If it stands after all, it goes before anything else is charged. False where there is no charge. */
function toVoid(pending: Pending): boolean {
  if (pending.write.type !== "receipt") return false;
  pending.write = { type: "void", of: pending.write };
  pending.mayTakeBack = false;
  return true;
}

function batchLength(line: readonly Pending[], most: number): number {
  let sizeBytes = 0;
  let count = 0;
  for (const { write } of line) {
    sizeBytes += write.type === "receipt" ? (write.claim?.reply?.length ?? 0) : 0;
    if (count === most || (count > 0 && sizeBytes > maxBatchBytes)) break;
    count++;
  }
  return count;
}
