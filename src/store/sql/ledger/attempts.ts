import { errorKinds } from "../../../base/errors.ts";
import {
  type AttemptJson,
  fromAttemptJson,
  type ReceiptAttempt,
  toAttemptJson,
} from "../../../ledger/attempt.ts";
import type { Receipt } from "../../../ledger/receipt.ts";

/**
 * Nearly every call is served by the first target that is asked. Its attempt is in columns, because
 * writing JSON for each request costs CPU; the provider and the duration are the receipt's own.
 */
export function isPlain({ attempts, provider, durationMs }: Receipt): boolean {
  const [only] = attempts;
  return (
    only !== undefined &&
    attempts.length === 1 &&
    only.code === undefined &&
    only.key === undefined &&
    only.startedMs !== undefined &&
    only.durationMs === durationMs - only.startedMs &&
    only.provider === provider &&
    provider !== ""
  );
}

export function toAttemptsColumn({ attempts }: Receipt): string {
  return attempts.length === 0 ? "" : JSON.stringify(attempts.map(toAttemptJson));
}

interface AttemptColumns {
  readonly provider: string;
  readonly attempts: string;
  readonly duration_ms: bigint;
  /** Of a plain receipt; null, like the start, in all others. */
  readonly upstream_model: string | null;
  readonly attempt_started_ms: bigint | null;
}

export function toAttempts(row: AttemptColumns): readonly ReceiptAttempt[] {
  const { provider, attempts, upstream_model: model } = row;
  if (typeof model === "string") {
    const startedMs = Number(row.attempt_started_ms);
    return [{ provider, model, startedMs, durationMs: Number(row.duration_ms) - startedMs }];
  }
  // No name of a provider begins with a bracket.
  if (!attempts.startsWith("[")) return fromAttemptsText(attempts);
  return (JSON.parse(attempts) as readonly AttemptJson[]).map(fromAttemptJson);
}

const nobody = "none: ";
/** Details hold no comma, so that only names could; a provider's has none. */
const between = /, (?=[^ ,/]+\/)/;

/**
 * The attempts of a receipt from before they were values: `provider/model` for one that served, with
 * ` code` or ` code (detail)` behind it for one that failed, all separated by `, `; or `none: code
 * (detail)` where no target was asked.
 */
export function fromAttemptsText(text: string): readonly ReceiptAttempt[] {
  if (text === "") return [];
  if (text.startsWith(nobody))
    return [{ provider: "", model: "", ...fromReason(text.slice(nobody.length)) }];
  return text.split(between).map(fromTarget);
}

function fromTarget(text: string): ReceiptAttempt {
  const slash = text.indexOf("/");
  const provider = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  // Names of models may have spaces; the first word behind one that is a code ends the name.
  for (let at = rest.indexOf(" "); at !== -1; at = rest.indexOf(" ", at + 1)) {
    const reason = fromReason(rest.slice(at + 1));
    if (Object.hasOwn(errorKinds, reason.code))
      return { provider, model: rest.slice(0, at), ...reason };
  }
  return { provider, model: rest };
}

function fromReason(text: string): { readonly code: string; readonly detail?: string } {
  const [, code = text, detail] = /^([a-z_]+)(?: \((.*)\))?$/s.exec(text) ?? [];
  return detail === undefined ? { code } : { code, detail };
}
