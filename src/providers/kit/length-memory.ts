import { monotonicMs } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { EmbedCall } from "../../call/embed.ts";

interface Learnt {
  /** Whether it takes the length that nobody named. */
  readonly isSized: boolean;
  readonly learntAtMs: number;
  servedAtMs: number;
}

/** A way that served so lately is not doubted: what is refused then is the input. */
const freshMs = 60_000;
/** What a model takes is asked again after an hour: a server may have another one by the same name. */
const longestMs = 3_600_000;
const mostModels = 256;

/**
 * Some models have vectors of one length and refuse to be asked for any. The length that nobody
 * named is left out then, and from then on. Belongs to one provider as it is set up.
 */
export class LengthMemory {
  readonly #learnt = new Map<string, Learnt>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = monotonicMs) {
    this.#nowMs = nowMs;
  }

  /** Asks once, or, where a length that nobody named is refused, a second time the other way. */
  async ask<T>(
    { call, model }: { readonly call: EmbedCall; readonly model: string },
    ask: (dimensions: number | undefined) => Promise<T>,
  ): Promise<T> {
    const { dimensions, isUsualLength = false } = call;
    if (!isUsualLength || dimensions === undefined) return ask(dimensions);
    let refusal: unknown;
    for (const isSized of this.#waysFor(model)) {
      try {
        const result = await ask(isSized ? dimensions : undefined);
        this.#note(model, isSized);
        return result;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "upstream_rejected") throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  #waysFor(model: string): readonly boolean[] {
    const known = this.#learnt.get(model);
    const nowMs = this.#nowMs();
    if (known === undefined || nowMs - known.learntAtMs > longestMs) return [true, false];
    const { isSized, servedAtMs } = known;
    return nowMs - servedAtMs < freshMs ? [isSized] : [isSized, !isSized];
  }

  #note(model: string, isSized: boolean): void {
    const known = this.#learnt.get(model);
    const nowMs = this.#nowMs();
    if (known?.isSized === isSized && nowMs - known.learntAtMs <= longestMs) {
      known.servedAtMs = nowMs;
      return;
    }
    const [oldest] = this.#learnt.keys();
    if (known === undefined && this.#learnt.size >= mostModels && oldest !== undefined)
      this.#learnt.delete(oldest);
    this.#learnt.set(model, { isSized, learntAtMs: nowMs, servedAtMs: nowMs });
  }
}
