import { idTimeMs } from "../base/ids.ts";
import type { Receipt } from "./receipt.ts";
import type { RollupStore } from "./store.ts";

export const hourMs = 3_600_000;

/** Sums of the receipts that began within one hour. */
export interface Rollup {
  readonly hourMs: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly provider: string;
  receipts: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  cost: bigint;
  charged: bigint;
  /** Of the receipts whose vendor cost is known. */
  vendorCost: bigint;
  vendorKnown: number;
}

/** How many rows are written in one turn of the event loop: a commit must not hold it up. */
const rowsAtOnce = 25;

/**
 * Sums by hour, so that nobody has to scan receipts. They are added up in memory as receipts are
 * committed and written in bulk; after a crash the open hours are summed anew.
 */
export class Rollups {
  readonly #store: RollupStore;
  /** Calls that began so long ago can still end. */
  readonly #maxCallMs: number;
  #open = new Map<string, Rollup>();
  #flushing: Promise<void> = Promise.resolve();

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
    if (known !== undefined) return addTo(known, receipt);
    const fresh = emptyRollup({ hourMs: hour, accountId, keyId, model, provider });
    this.#open.set(name, fresh);
    addTo(fresh, receipt);
  }

  /** Writes what has been added up. One runs at a time; what could not be written is kept. */
  flush(nowMs: number, isLast = false): Promise<void> {
    const next = this.#flushing.then(() => this.#write(nowMs, isLast));
    this.#flushing = next.catch(() => {});
    return next;
  }

  async #write(nowMs: number, isLast: boolean): Promise<void> {
    const openFromMs = isLast ? undefined : toHour(nowMs - this.#maxCallMs);
    const mark = await this.#store.openFromMs();
    // A gateway at rest writes nothing.
    if (this.#open.size === 0 && mark === openFromMs) return;
    // The mark moves with the last piece only: until then all of it may still be lost.
    const rows = [...this.#open.values()];
    const before = oldestOf(rows, mark ?? toHour(nowMs - this.#maxCallMs));
    this.#open = new Map();
    let written = 0;
    try {
      do {
        const piece = rows.slice(written, written + rowsAtOnce);
        const isEnd = written + piece.length === rows.length;
        // Receipts that came meanwhile may be of older hours, after a disk was full for long.
        await this.#store.add(piece, oldestOf(this.#open.values(), isEnd ? openFromMs : before));
        written += piece.length;
        if (!isEnd) await new Promise((resolve) => setImmediate(resolve));
      } while (written < rows.length);
    } catch (error) {
      for (const row of rows.slice(written)) this.#keep(row);
      throw error;
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

export function emptyRollup(
  of: Pick<Rollup, "hourMs" | "accountId" | "keyId" | "model" | "provider">,
): Rollup {
  return {
    ...of,
    receipts: 0,
    failures: 0,
    inputTokens: 0,
    outputTokens: 0,
    cost: 0n,
    charged: 0n,
    vendorCost: 0n,
    vendorKnown: 0,
  };
}

export function addTo(rollup: Rollup, receipt: Receipt): void {
  const { units, outcome, vendorCost } = receipt;
  rollup.receipts++;
  if (outcome !== "ok" && outcome !== "left") rollup.failures++;
  rollup.inputTokens += (units.input ?? 0) + (units.cached_input ?? 0) + (units.cache_write ?? 0);
  rollup.outputTokens += (units.output ?? 0) + (units.audio_output ?? 0);
  rollup.cost += receipt.cost;
  rollup.charged += receipt.charged;
  if (vendorCost === undefined) return;
  rollup.vendorCost += vendorCost;
  rollup.vendorKnown++;
}

export function mergeInto(rollup: Rollup, other: Rollup): void {
  rollup.receipts += other.receipts;
  rollup.failures += other.failures;
  rollup.inputTokens += other.inputTokens;
  rollup.outputTokens += other.outputTokens;
  rollup.cost += other.cost;
  rollup.charged += other.charged;
  rollup.vendorCost += other.vendorCost;
  rollup.vendorKnown += other.vendorKnown;
}
