import { hourMs, mergeInto, type Rollup, type RollupFilter, toHour } from "../../ledger/rollups.ts";
import type { LedgerStore } from "../../ledger/store.ts";

const dayMs = 24 * hourMs;

/** From the hour of a moment until another; a day at a time, so that calls are not held up. */
export async function* sumsByDay(
  ledger: LedgerStore,
  filter: RollupFilter & { readonly fromMs: number; readonly toMs: number },
): AsyncGenerator<readonly Rollup[]> {
  const { toMs } = filter;
  for (let fromMs = toHour(filter.fromMs); fromMs < toMs; fromMs += dayMs) {
    yield await ledger.rollups.list({ ...filter, fromMs, toMs: Math.min(fromMs + dayMs, toMs) });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type NamedSum = readonly [name: string, sum: Rollup];

/** Adds rows up by a name of each. */
export class SumsBy {
  readonly #nameOf: (rollup: Rollup) => string;
  readonly #sums = new Map<string, Rollup>();

  constructor(nameOf: (rollup: Rollup) => string) {
    this.#nameOf = nameOf;
  }

  add(rollup: Rollup): void {
    const name = this.#nameOf(rollup);
    const known = this.#sums.get(name);
    if (known === undefined) this.#sums.set(name, { ...rollup });
    else mergeInto(known, rollup);
  }

  /** In the order in which they first came. */
  get all(): readonly NamedSum[] {
    return [...this.#sums];
  }

  get dearestFirst(): readonly NamedSum[] {
    return this.all.toSorted(([, { charged: one }], [, { charged: other }]) =>
      one < other ? 1 : one > other ? -1 : 0,
    );
  }
}
