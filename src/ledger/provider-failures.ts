import { idTimeMs } from "../base/ids.ts";
import type { Receipt } from "./receipt.ts";
import { hourMs, toHour } from "./rollups.ts";

/** Failed attempts of one provider within one hour that another attempt made good. */
export interface HourFailures {
  readonly hourMs: number;
  readonly provider: string;
  readonly failures: number;
}

/** Implemented by the store. */
export interface ProviderFailureStore {
  /** Adds to what is there, and deletes hours before `keepFromMs`. */
  add(rows: readonly HourFailures[], keepFromMs: number): Promise<void>;
}

const keptMs = 48 * hourMs;
/** Beyond these, failures of further providers are not counted. */
const mostRows = 2_000;

/**
 * A receipt is counted for the provider that was called last. Attempts before it, which failed, are
 * counted here, so that a provider that always fails over to another one does not look healthy.
 */
export class ProviderFailures {
  readonly #store: ProviderFailureStore;
  #open = new Map<string, HourFailures>();

  constructor(store: ProviderFailureStore) {
    this.#store = store;
  }

  add({ id, attempts }: Receipt): void {
    if (attempts.length < 2) return;
    const hour = toHour(idTimeMs(id));
    for (const { provider } of attempts.slice(0, -1)) this.#count(hour, provider, 1);
  }

  /** What cannot be written is kept for the next time. */
  async flush(nowMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const rows = [...this.#open.values()];
    this.#open = new Map();
    try {
      await this.#store.add(rows, toHour(nowMs - keptMs));
    } catch (error) {
      for (const row of rows) this.#count(row.hourMs, row.provider, row.failures);
      throw error;
    }
  }

  #count(hour: number, provider: string, failures: number): void {
    const name = `${hour} ${provider}`;
    const known = this.#open.get(name);
    if (known === undefined && this.#open.size >= mostRows) return;
    const total = (known?.failures ?? 0) + failures;
    this.#open.set(name, { hourMs: hour, provider, failures: total });
  }
}
