import type { Receipt } from "./receipt.ts";

/** So many of a model's last receipts count. */
const receiptsPerModel = 100;
/** So many calls of an unknown model are aborted when their callers leave before one is read on. */
const blindCalls = 10;

/** What a receipt tells of it. */
export type CountedReceipt = Pick<
  Receipt,
  "model" | "endpoint" | "estimated" | "units" | "reasoningTokens"
>;

interface ModelUse {
  readonly recent: number[];
  /** Where the next one goes, once there are enough. */
  next: number;
  sum: number;
}

/**
 * How much models think, by the counts of their vendors. Some do not stream their thoughts: a
 * caller who leaves before the count has come has seen a small part of what the vendor bills.
 */
export class ReasoningUse {
  readonly #models = new Map<string, ModelUse>();
  /** Calls of models without any count that were not read on. */
  readonly #blind = new Map<string, number>();

  /** Estimates tell nothing; neither do calls that produced nothing. */
  note({ model, endpoint, estimated, units, reasoningTokens }: CountedReceipt): void {
    if (endpoint !== "chat" || estimated || (units.output ?? 0) === 0) return;
    const use = this.#models.get(model) ?? { recent: [], next: 0, sum: 0 };
    this.#models.set(model, use);
    this.#blind.delete(model);
    use.sum += reasoningTokens - (use.recent[use.next] ?? 0);
    use.recent[use.next] = reasoningTokens;
    use.next = (use.next + 1) % receiptsPerModel;
  }

  /** Rounded up; 0 of a model that does not think, or of which nothing is known. */
  meanOf(model: string): number {
    const use = this.#models.get(model);
    return use === undefined ? 0 : Math.ceil(use.sum / use.recent.length);
  }

  /**
   * Whether a call may have used more than was seen of it. `asksForIt`: the request says so. Of a
   * model that nobody ever let come to its end, one call is read on now and then, to find out.
   */
  mayHide(model: string, asksForIt: boolean): boolean {
    if (this.#models.has(model)) return this.meanOf(model) > 0;
    if (asksForIt) return true;
    const blind = this.#blind.get(model) ?? 0;
    this.#blind.set(model, (blind + 1) % (blindCalls + 1));
    return blind >= blindCalls;
  }
}
