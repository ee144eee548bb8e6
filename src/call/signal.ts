/** What tells an upstream which trace a request belongs to. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The part of an AbortSignal that calls use. The runtime's own signals have it too. */
export interface Signal {
  /** Goes upstream with the requests of this signal; only those of traced calls have it. */
  readonly trace?: TraceHeaders | undefined;
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

type Listener = () => void;

/**
 * Ends a call early. Every call has one, and few are ever used, so it is a plain object: an
 * AbortController and its listeners cost 3 µs per call.
 */
export class CallSignal implements Signal {
  trace: TraceHeaders | undefined;
  #isAborted = false;
  #reason: unknown;
  /** One listener is the rule: a list of its own costs more than the rest. */
  #first: Listener | undefined;
  #others: Listener[] | undefined;
  #native: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const first = this.#first;
    const others = this.#others;
    this.#first = undefined;
    this.#others = undefined;
    first?.();
    for (const listener of others ?? []) listener();
    this.#native?.abort(reason);
  }

  addEventListener(_type: "abort", listener: Listener): void {
    if (this.#isAborted || this.#first === listener) return;
    if (this.#first === undefined) this.#first = listener;
    else if (this.#others?.includes(listener) !== true) (this.#others ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: Listener): void {
    if (this.#first === listener) this.#first = this.#others?.shift();
    else this.#others = this.#others?.filter((one) => one !== listener);
  }

  /** For what takes nothing else; created when it is first needed. */
  get native(): AbortSignal {
    if (this.#native === undefined) {
      this.#native = new AbortController();
      if (this.#isAborted) this.#native.abort(this.#reason);
    }
    return this.#native.signal;
  }
}

/** A signal of the runtime that ends when this one does. */
export function toAbortSignal(signal: Signal): AbortSignal {
  if (signal instanceof CallSignal) return signal.native;
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const end = () => controller.abort(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end);
  return controller.signal;
}
