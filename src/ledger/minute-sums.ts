import type { Receipt } from "./receipt.ts";
import { latencyBoundsMs, noShortestMs, type UsagePoint } from "./reports.ts";
import { inputTokens, isFailed, latencyBucket, outputTokens, ownFirstByteMs } from "./rollups.ts";

/** Whose receipts a row adds up. */
export interface MinuteOwner {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

/** What they add up to. */
export type MinuteFigures = Omit<UsagePoint, "startMs" | "name">;

const field = {
  receipts: 0,
  failures: 1,
  inputTokens: 2,
  outputTokens: 3,
  shortestMs: 4,
  longestMs: 5,
  shortestFirstByteMs: 6,
  longestFirstByteMs: 7,
} as const;
const buckets = latencyBoundsMs.length + 1;
const durations = 8;
const firstBytes = durations + buckets;
const width = firstBytes + buckets;
const firstRows = 64;
/** In place of the number of a row. */
const none = -1;

/**
 * The sums of one minute, a row per account, key and model. Rows are in typed arrays, 0.3 kB each:
 * as objects they took 1 kB, and tens of thousands of them, each with parts that every call
 * replaces, kept the garbage collector from giving back most of what lay between them.
 */
export class MinuteSums {
  readonly startMs: number;
  readonly #owners: MinuteOwner[] = [];
  /** By key: its newest row. The rows of its other models follow by `#older`. */
  readonly #newest = new Map<string, number>();
  readonly #older: number[] = [];
  #numbers = new Float64Array(firstRows * width);
  #charged = new BigInt64Array(firstRows);
  /** 1 for a row that has grown since it was last written. */
  #grown = new Uint8Array(firstRows);

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  get rows(): number {
    return this.#owners.length;
  }

  find(keyId: string, model: string): number | undefined {
    let row = this.#newest.get(keyId) ?? none;
    while (row !== none && this.#owners[row]?.model !== model) row = this.#older[row] ?? none;
    return row === none ? undefined : row;
  }

  open({ accountId, keyId, model }: MinuteOwner): number {
    const row = this.#owners.length;
    if (row === this.#charged.length) this.#grow();
    this.#owners.push({ accountId, keyId, model });
    this.#older.push(this.#newest.get(keyId) ?? none);
    this.#newest.set(keyId, row);
    this.#numbers[row * width + field.shortestMs] = noShortestMs;
    this.#numbers[row * width + field.shortestFirstByteMs] = noShortestMs;
    return row;
  }

  add(row: number, receipt: Receipt): void {
    const { durationMs } = receipt;
    const start = row * width;
    this.#grown[row] = 1;
    this.#count(start + field.receipts, 1);
    if (isFailed(receipt)) this.#count(start + field.failures, 1);
    this.#count(start + field.inputTokens, inputTokens(receipt));
    this.#count(start + field.outputTokens, outputTokens(receipt));
    this.#count(start + durations + latencyBucket(durationMs), 1);
    this.#widen(start + field.shortestMs, durationMs, durationMs);
    this.#charged[row] = (this.#charged[row] ?? 0n) + receipt.charged;
    const firstByteMs = ownFirstByteMs(receipt);
    if (firstByteMs === undefined) return;
    this.#count(start + firstBytes + latencyBucket(firstByteMs), 1);
    this.#widen(start + field.shortestFirstByteMs, firstByteMs, firstByteMs);
  }

  merge(row: number, sums: MinuteFigures): void {
    const start = row * width;
    for (const name of ["receipts", "failures", "inputTokens", "outputTokens"] as const)
      this.#count(start + field[name], sums[name]);
    for (const [at, count] of sums.durations.entries()) this.#count(start + durations + at, count);
    for (const [at, count] of sums.firstBytes.entries())
      this.#count(start + firstBytes + at, count);
    this.#widen(start + field.shortestMs, sums.shortestMs, sums.longestMs);
    this.#widen(
      start + field.shortestFirstByteMs,
      sums.shortestFirstByteMs,
      sums.longestFirstByteMs,
    );
    this.#charged[row] = (this.#charged[row] ?? 0n) + sums.charged;
  }

  *all(): Generator<MinuteOwner & { readonly row: number }> {
    for (const [row, owner] of this.#owners.entries()) yield { ...owner, row };
  }

  *grown(): Generator<MinuteOwner & { readonly row: number }> {
    for (const owner of this.all()) if (this.#grown[owner.row] === 1) yield owner;
  }

  get hasGrown(): boolean {
    return this.#grown.includes(1);
  }

  /** Written as it was with so many receipts. */
  written(row: number, receipts: number): void {
    if (this.#numbers[row * width + field.receipts] === receipts) this.#grown[row] = 0;
  }

  read(row: number): MinuteFigures {
    const start = row * width;
    const value = (name: keyof typeof field) => this.#numbers[start + field[name]] ?? 0;
    const counts = (from: number) => [
      ...this.#numbers.subarray(start + from, start + from + buckets),
    ];
    return {
      receipts: value("receipts"),
      failures: value("failures"),
      inputTokens: value("inputTokens"),
      outputTokens: value("outputTokens"),
      charged: this.#charged[row] ?? 0n,
      shortestMs: value("shortestMs"),
      longestMs: value("longestMs"),
      shortestFirstByteMs: value("shortestFirstByteMs"),
      longestFirstByteMs: value("longestFirstByteMs"),
      durations: counts(durations),
      firstBytes: counts(firstBytes),
    };
  }

  #count(at: number, by: number): void {
    this.#numbers[at] = (this.#numbers[at] ?? 0) + by;
  }

  /** The longest is next to the shortest. */
  #widen(at: number, shortestMs: number, longestMs: number): void {
    if (shortestMs < (this.#numbers[at] ?? 0)) this.#numbers[at] = shortestMs;
    if (longestMs > (this.#numbers[at + 1] ?? 0)) this.#numbers[at + 1] = longestMs;
  }

  #grow(): void {
    const [numbers, charged, grown] = [this.#numbers, this.#charged, this.#grown];
    this.#numbers = new Float64Array(numbers.length * 2);
    this.#numbers.set(numbers);
    this.#charged = new BigInt64Array(charged.length * 2);
    this.#charged.set(charged);
    this.#grown = new Uint8Array(grown.length * 2);
    this.#grown.set(grown);
  }
}
