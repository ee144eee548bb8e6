import type { Receipt } from "../receipt.ts";

/** So many of a model's last receipts count. */
const receiptsPerModel = 100;
/** So many calls of an unknown model are aborted when their callers leave before one is read on. */
const blindCalls = 10;

/** What a receipt tells of it. */
export type CountedReceipt = Pick<
  Receipt,
  "model" | "endpoint" | "estimated" | "units" | "reasoningTokens"
>;

/** About what a token of thoughts has; fewer characters than half of that are a summary. */
const fewestCharsPerToken = 1.5;
/** What was seen long ago counts less and less. */
const forgottenTokens = 1_000_000;

interface ModelUse {
  readonly recent: number[];
  /** Where the next one goes, once there are enough. */
  next: number;
  sum: number;
  /** It was ever seen to think. Sticky: cheap calls without thoughts must not hide the others. */
  hasThought: boolean;
}

interface Shown {
  tokens: number;
  chars: number;
}

/**
 * How much models reason, by their vendors' counts. Some do not stream their reasoning: a caller who
 * disconnects before the usage arrives has seen only a small part of what the vendor bills.
 */
export class ReasoningUse {
  readonly #models = new Map<string, ModelUse>();
  /** Of whole streams: the thoughts that were counted, and those that were shown. */
  readonly #shown = new Map<string, Shown>();
  /** Calls of models without any count that were not read on. */
  readonly #blind = new Map<string, number>();

  /** Estimates tell nothing; neither do calls that produced nothing. */
  note({ model, endpoint, estimated, units, reasoningTokens }: CountedReceipt): void {
    if (endpoint !== "chat" || estimated || (units.output ?? 0) === 0) return;
    const use = this.#models.get(model) ?? { recent: [], next: 0, sum: 0, hasThought: false };
    this.#models.set(model, use);
    this.#blind.delete(model);
    use.sum += reasoningTokens - (use.recent[use.next] ?? 0);
    use.recent[use.next] = reasoningTokens;
    use.hasThought ||= reasoningTokens > 0;
    use.next = (use.next + 1) % receiptsPerModel;
  }

  /** Rounded up; 0 of a model that does not think, or of which nothing is known. */
  meanOf(model: string): number {
    const use = this.#models.get(model);
    return use === undefined ? 0 : Math.ceil(use.sum / use.recent.length);
  }

  /** What a whole stream has shown of its thoughts. */
  noteShown(model: string, reasoningTokens: number, shownChars: number): void {
    if (reasoningTokens === 0) return;
    const shown = this.#shown.get(model) ?? { tokens: 0, chars: 0 };
    this.#shown.set(model, shown);
    const share = shown.tokens > forgottenTokens ? 0.5 : 1;
    shown.tokens = shown.tokens * share + reasoningTokens;
    shown.chars = shown.chars * share + shownChars;
  }

  /**
   * Whether a call may have used more than was seen of it. `asksForIt`: the request says so;
   * `shownChars`: what it has shown of its thoughts. Some models stream their thoughts, some a summary
   * of them, some none. Of a model that nobody ever let come to its end, one call is read on now and
   * then, to find out.
   */
  mayHide(model: string, asksForIt: boolean, shownChars: number): boolean {
    const shown = this.#shown.get(model);
    if (shown !== undefined) {
      if (shown.chars >= shown.tokens * fewestCharsPerToken) return false;
    } else if (shownChars > 0) return false;
    // Some models think only when they are asked to: what others have used says nothing then.
    if (asksForIt) return true;
    const use = this.#models.get(model);
    if (use !== undefined) return use.hasThought;
    const blind = this.#blind.get(model) ?? 0;
    this.#blind.set(model, (blind + 1) % (blindCalls + 1));
    return blind >= blindCalls;
  }
}
