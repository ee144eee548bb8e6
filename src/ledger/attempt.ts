/** One attempt at one target, as the receipt has it. */
export interface ReceiptAttempt {
  /** "", like the model, where no target could be asked. */
  readonly provider: string;
  /** As the provider calls it. */
  readonly model: string;
  /** The key of the provider, where it has several. */
  readonly key?: string | undefined;
  /** What went wrong; absent where nothing is held against the target. */
  readonly code?: string | undefined;
  /** The HTTP status that the target answered with, if it failed with one. */
  readonly status?: number | undefined;
  /** Why it failed, for the operator alone. */
  readonly detail?: string | undefined;
  /** From the start of the request. Absent, like the duration, in receipts from before it was recorded. */
  readonly startedMs?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** The same in JSON: in the store, in the API and in exports. */
export interface AttemptJson {
  readonly provider: string | null;
  readonly model: string | null;
  readonly key?: string | undefined;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly detail?: string | undefined;
  readonly started_ms: number | null;
  readonly duration_ms: number | null;
}

export function toAttemptJson(attempt: ReceiptAttempt): AttemptJson {
  const { provider, model, key, code, status, detail, startedMs, durationMs } = attempt;
  return {
    provider: provider === "" ? null : provider,
    model: provider === "" ? null : model,
    ...(key === undefined ? {} : { key }),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(detail === undefined ? {} : { detail }),
    started_ms: startedMs ?? null,
    duration_ms: durationMs ?? null,
  };
}

export function fromAttemptJson(json: AttemptJson): ReceiptAttempt {
  const { provider, model, started_ms, duration_ms, ...failure } = json;
  return {
    provider: provider ?? "",
    model: model ?? "",
    ...failure,
    ...(started_ms === null ? {} : { startedMs: started_ms }),
    ...(duration_ms === null ? {} : { durationMs: duration_ms }),
  };
}
