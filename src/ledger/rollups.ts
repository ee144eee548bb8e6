import { idTimeMs } from "../base/ids.ts";
import { Mutex } from "../base/mutex.ts";
import { endedAtMs, type Receipt } from "./receipt.ts";
import { latencyBoundsMs, noShortestMs, type TimeEnds } from "./reports.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

/** What some receipts add up to. */
export interface Sums extends Changing<TimeEnds> {
  receipts: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  cost: bigint;
  charged: bigint;
  /** Of the receipts whose vendor cost is known. */
  vendorCost: bigint;
  vendorKnown: number;
  /** Charged for those receipts: their margin is known. */
  chargedKnown: bigint;
  /** How many took so long, by `latencyBoundsMs`, and one more. */
  durations: number[];
  /** The same of the time to the first byte, of answers that streamed. */
  firstBytes: number[];
}

/** Sums of the receipts that began within one hour. */
export interface Rollup extends Sums {
  readonly hourMs: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly provider: string;
}

/** What an account, or one of its keys, was charged in some hours and is not in the store's sums. */
export type Unwritten = (of: {
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}) => bigint;

/** Up to where sums by hour are in the sums by day too, in the order of hour, account and key. */
export interface FoldMark {
  readonly hourMs: number;
  readonly accountId: string;
  readonly keyId: string;
}

export function isFolded({ hourMs, accountId, keyId }: FoldMark, mark: FoldMark): boolean {
  if (hourMs !== mark.hourMs) return hourMs < mark.hourMs;
  if (accountId !== mark.accountId) return accountId < mark.accountId;
  return keyId <= mark.keyId;
}

export interface RollupFilter {
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
}

export interface RollupStore {
  /**
   * Adds to what is there, and to what the accounts have spent. From `openFromMs` on, sums may lack
   * receipts until the next call.
   */
  add(rollups: readonly Rollup[], openFromMs: number | undefined): Promise<void>;
  list(filter: RollupFilter): Promise<readonly Rollup[]>;
  /** From which hour on sums may lack receipts; undefined when none does. */
  openFromMs(): Promise<number | undefined>;
  /** Recomputes the sums and what accounts have spent, from this hour on. No hour is open afterwards. */
  recount(fromMs: number): Promise<void>;
  /**
   * Adds a piece of the oldest hour that begins before this moment, and is not in them yet, to the
   * sums by day and to the totals; false when there is none. From then on what is added to its rows
   * goes there too.
   */
  fold(beforeMs: number): Promise<boolean>;
  /** Whether the last rows that were added may be missing: the connection broke during the commit. */
  readonly isInDoubt?: boolean;
  /** How many rows to add at once, where it is not the event loop that writes them. */
  readonly rowsAtOnce?: number;
}

/** How many rows are written in one turn of the event loop: a commit must not hold it up. */
const rowsAtOnce = 25;
/** Of closed hours, so many pieces are added to the sums by day in one flush. */
const piecesAtOnce = 500;

/**
 * Sums by hour, so that nobody has to scan receipts. They are added up in memory as receipts are
 * committed and written in bulk; after a crash the open hours are summed anew. An hour that is closed
 * is then added to the sums of its day.
 */
export class Rollups {
  readonly #store: RollupStore;
  /** Calls that began so long ago can still end. */
  readonly #maxCallMs: number;
  #open = new Map<string, Rollup>();
  /** When the first of these calls ended. */
  #openSinceMs = Number.POSITIVE_INFINITY;
  /** On their way to the store. */
  #leaving: readonly Rollup[] = [];
  #leavingSinceMs = 0;
  /** One write at a time; what could not be written is kept. */
  readonly #writing = new Mutex();
  /** Whether every closed hour is known to be in the sums by day. */
  #isFolded = false;

  constructor(store: RollupStore, maxCallMs: number) {
    this.#store = store;
    this.#maxCallMs = maxCallMs;
  }

  /** Before the first receipt: what an earlier process left open is closed. */
  async start(nowMs: number): Promise<void> {
    const openFromMs = await this.#store.openFromMs();
    if (openFromMs !== undefined) await this.#store.recount(openFromMs);
    await this.#store.add([], toHour(nowMs));
  }

  add(receipt: Receipt): void {
    const { accountId, keyId, model, provider } = receipt;
    const hour = toHour(idTimeMs(receipt.id));
    const name = `${hour} ${keyId} ${model} ${provider}`;
    const known = this.#open.get(name);
    this.#openSinceMs = Math.min(this.#openSinceMs, endedAtMs(receipt));
    if (known !== undefined) return addTo(known, receipt);
    const fresh = emptyRollup({ hourMs: hour, accountId, keyId, model, provider });
    this.#open.set(name, fresh);
    addTo(fresh, receipt);
  }

  /**
   * Since when receipts of an account, or of any, are not in the store's sums; undefined when none is
   * missing. May be too early for one account, and never too late.
   */
  unwrittenSinceMs(accountId?: string): number | undefined {
    const isMeant = (row: Rollup) => accountId === undefined || row.accountId === accountId;
    if (this.#store.isInDoubt === true || this.#leaving.some(isMeant)) return this.#leavingSinceMs;
    return this.#open.values().some(isMeant) ? this.#openSinceMs : undefined;
  }

  /** Writes what has been added up, and adds closed hours to their days. */
  async flush(nowMs: number, isLast = false): Promise<void> {
    await this.write(nowMs, isLast);
    if (!isLast) await this.#fold(toHour(nowMs - this.#maxCallMs));
  }

  /** Without the days, for who waits: hours that are in no day yet are read as they are. */
  write(nowMs: number, isLast = false): Promise<void> {
    return this.#writing.run(() => this.#write(nowMs, isLast));
  }

  /**
   * Runs between two writes. What receipts add up to is then partly in the store and, all the rest
   * of it, in what `unwritten` returns at the same moment.
   */
  betweenWrites<T>(work: (unwritten: Unwritten) => Promise<T>): Promise<T> {
    return this.#writing.run(() =>
      work(({ accountId, keyId, fromMs, toMs }) => {
        let charged = 0n;
        for (const row of this.#open.values())
          if (
            row.accountId === accountId &&
            (keyId === undefined || row.keyId === keyId) &&
            row.hourMs >= fromMs &&
            row.hourMs < toMs
          )
            charged += row.charged;
        return charged;
      }),
    );
  }

  async #write(nowMs: number, isLast: boolean): Promise<void> {
    const openFromMs = isLast ? undefined : toHour(nowMs - this.#maxCallMs);
    const mark = await this.#store.openFromMs();
    // A gateway at rest writes nothing.
    if (this.#open.size === 0 && mark === openFromMs) return;
    await this.#writeRows({ openFromMs, openedMs: mark ?? toHour(nowMs - this.#maxCallMs) });
    this.#isFolded = false;
  }

  /** Piece by piece: who wants something written comes between. */
  async #fold(beforeMs: number): Promise<void> {
    for (let pieces = 0; pieces < piecesAtOnce && !this.#isFolded; pieces++) {
      await this.#writing.run(async () => {
        this.#isFolded = !(await this.#store.fold(beforeMs));
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #writeRows(marks: {
    readonly openFromMs: number | undefined;
    /** As it was until now. */
    readonly openedMs: number;
  }): Promise<void> {
    const { openFromMs, openedMs } = marks;
    // The mark moves with the last piece only: until then all of it may still be lost.
    const rows = [...this.#open.values()];
    const before = oldestOf(rows, openedMs);
    this.#open = new Map();
    this.#leaving = rows;
    this.#leavingSinceMs = this.#openSinceMs;
    this.#openSinceMs = Number.POSITIVE_INFINITY;
    const most = this.#store.rowsAtOnce ?? rowsAtOnce;
    let written = 0;
    try {
      do {
        const piece = rows.slice(written, written + most);
        const isEnd = written + piece.length === rows.length;
        // Receipts that came meanwhile may be of older hours, after a disk was full for long.
        await this.#store.add(piece, oldestOf(this.#open.values(), isEnd ? openFromMs : before));
        written += piece.length;
        if (!isEnd) await new Promise((resolve) => setImmediate(resolve));
      } while (written < rows.length);
    } catch (error) {
      for (const row of rows.slice(written)) this.#keep(row);
      this.#openSinceMs = Math.min(this.#openSinceMs, this.#leavingSinceMs);
      throw error;
    } finally {
      this.#leaving = [];
    }
  }

  #keep(row: Rollup): void {
    const name = `${row.hourMs} ${row.keyId} ${row.model} ${row.provider}`;
    const known = this.#open.get(name);
    if (known === undefined) this.#open.set(name, row);
    else mergeInto(known, row);
  }
}

function oldestOf<T extends number | undefined>(rows: Iterable<Rollup>, openFromMs: T): number | T {
  let oldest: number | T = openFromMs;
  for (const { hourMs: hour } of rows) if (oldest === undefined || hour < oldest) oldest = hour;
  return oldest;
}

export const toHour = (ms: number) => ms - (ms % hourMs);
export const toDay = (ms: number) => ms - (ms % dayMs);

export function emptySums(): Sums {
  return {
    receipts: 0,
    failures: 0,
    inputTokens: 0,
    outputTokens: 0,
    cost: 0n,
    charged: 0n,
    vendorCost: 0n,
    vendorKnown: 0,
    chargedKnown: 0n,
    shortestMs: noShortestMs,
    longestMs: 0,
    shortestFirstByteMs: noShortestMs,
    longestFirstByteMs: 0,
    durations: noCounts(),
    firstBytes: noCounts(),
  };
}

/** Written out: an array that is filled by a call is slower to count in. */
const noCounts = () => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

export function emptyRollup(of: Omit<Rollup, keyof Sums>): Rollup {
  return { ...of, ...emptySums() };
}

export function addTo(sums: Sums, receipt: Receipt): void {
  const { vendorCost, durationMs } = receipt;
  sums.receipts++;
  if (isFailed(receipt)) sums.failures++;
  sums.inputTokens += inputTokens(receipt);
  sums.outputTokens += outputTokens(receipt);
  sums.cost += receipt.cost;
  sums.charged += receipt.charged;
  count(sums.durations, durationMs);
  if (durationMs < sums.shortestMs) sums.shortestMs = durationMs;
  if (durationMs > sums.longestMs) sums.longestMs = durationMs;
  const firstByteMs = ownFirstByteMs(receipt);
  if (firstByteMs !== undefined) {
    count(sums.firstBytes, firstByteMs);
    if (firstByteMs < sums.shortestFirstByteMs) sums.shortestFirstByteMs = firstByteMs;
    if (firstByteMs > sums.longestFirstByteMs) sums.longestFirstByteMs = firstByteMs;
  }
  if (vendorCost === undefined) return;
  sums.vendorCost += vendorCost;
  sums.vendorKnown++;
  sums.chargedKnown += receipt.charged;
}

export const isFailed = ({ outcome }: Receipt) => outcome !== "ok" && outcome !== "left";

export const inputTokens = ({ units }: Receipt) =>
  (units.input ?? 0) + (units.cached_input ?? 0) + (units.cache_write ?? 0);

export const outputTokens = ({ units }: Receipt) => (units.output ?? 0) + (units.audio_output ?? 0);

/** An answer that came whole has no first byte of its own: it would repeat the duration. */
export function ownFirstByteMs({ firstByteMs, durationMs }: Receipt): number | undefined {
  return firstByteMs !== undefined && firstByteMs < durationMs ? firstByteMs : undefined;
}

/** Which of `latencyBoundsMs`, or the one beyond. */
export function latencyBucket(ms: number): number {
  let at = 0;
  while (ms > (latencyBoundsMs[at] ?? Number.POSITIVE_INFINITY)) at++;
  return at;
}

function count(counts: number[], ms: number): void {
  const at = latencyBucket(ms);
  counts[at] = (counts[at] ?? 0) + 1;
}

export function mergeInto(sums: Sums, other: Sums): void {
  sums.receipts += other.receipts;
  sums.failures += other.failures;
  sums.inputTokens += other.inputTokens;
  sums.outputTokens += other.outputTokens;
  sums.cost += other.cost;
  sums.charged += other.charged;
  sums.vendorCost += other.vendorCost;
  sums.vendorKnown += other.vendorKnown;
  sums.chargedKnown += other.chargedKnown;
  widen(sums, other);
  // New ones: a copy of the sums may have the same counts.
  sums.durations = addCounts(sums.durations, other.durations);
  sums.firstBytes = addCounts(sums.firstBytes, other.firstBytes);
}

/** To the ends of both. */
export function widen(ends: Changing<TimeEnds>, other: TimeEnds): void {
  ends.shortestMs = Math.min(ends.shortestMs, other.shortestMs);
  ends.longestMs = Math.max(ends.longestMs, other.longestMs);
  ends.shortestFirstByteMs = Math.min(ends.shortestFirstByteMs, other.shortestFirstByteMs);
  ends.longestFirstByteMs = Math.max(ends.longestFirstByteMs, other.longestFirstByteMs);
}

const addCounts = (counts: readonly number[], others: readonly number[]) =>
  counts.map((value, at) => value + (others[at] ?? 0));
