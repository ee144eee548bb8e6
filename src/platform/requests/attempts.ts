import { errorKinds } from "../../base/errors.ts";

/** One asking of one target, as the receipt has it. */
export interface ReceiptAttempt {
  /** Null where nobody could be asked. */
  readonly provider: string | null;
  readonly model: string | null;
  /** `served`, or the code of what went wrong. */
  readonly outcome: string;
  /** What the upstream said, for the operator alone. */
  readonly detail: string | null;
}

const nobody = "none: ";
/** Details hold no comma, so that only names could; a provider's has none. */
const between = /, (?=[^ ,/]+\/)/;

/**
 * The text of a receipt's attempts, read back: `provider/model` for one that served, with
 * ` code` or ` code (detail)` behind it for one that failed, all separated by `, `; or `none: code
 * (detail)` where nobody was asked.
 */
export function fromAttemptsText(text: string): readonly ReceiptAttempt[] {
  if (text === "") return [];
  if (text.startsWith(nobody))
    return [{ provider: null, model: null, ...fromReason(text.slice(nobody.length)) }];
  return text.split(between).map(fromTarget);
}

function fromTarget(text: string): ReceiptAttempt {
  const slash = text.indexOf("/");
  const provider = text.slice(0, slash);
  const rest = text.slice(slash + 1);
  // Names of models may have spaces; the first word behind one that is a code ends the name.
  for (let at = rest.indexOf(" "); at !== -1; at = rest.indexOf(" ", at + 1)) {
    const reason = fromReason(rest.slice(at + 1));
    if (Object.hasOwn(errorKinds, reason.outcome))
      return { provider, model: rest.slice(0, at), ...reason };
  }
  return { provider, model: rest, outcome: "served", detail: null };
}

function fromReason(text: string): Pick<ReceiptAttempt, "outcome" | "detail"> {
  const match = /^([a-z_]+)(?: \((.*)\))?$/s.exec(text);
  return match === null
    ? { outcome: text, detail: null }
    : { outcome: match[1] ?? "", detail: match[2] ?? null };
}

const words: Readonly<Record<string, string>> = {
  ok: "answered",
  served: "answered",
  left: "the caller left",
  upstream_error: "the provider failed",
  upstream_unavailable: "no provider could be reached",
  upstream_overloaded: "the provider was overloaded",
  upstream_timeout: "the provider took too long",
  upstream_rate_limited: "the provider was asked too often",
  upstream_rejected: "the provider refused the request",
  content_filtered: "the content was refused",
  context_length_exceeded: "the input was too long for the model",
  model_loading: "the model was still loading",
  shutting_down: "the gateway was stopping",
  store_unavailable: "the gateway could not write its ledger",
  internal_error: "the gateway failed",
};

/** What came of a call or an attempt, for people; it names no vendor. */
export function outcomeWords(outcome: string): string {
  return words[outcome] ?? outcome.replaceAll("_", " ");
}
