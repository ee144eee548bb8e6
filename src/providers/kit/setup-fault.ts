/** What the operator has to fix before any call can work. */
export type FaultKind = "settings" | "credentials" | "sign_in";

export interface FaultWords {
  /** A whole sentence, without a key or a vendor's words. */
  readonly what: string;
  readonly advice: string;
  readonly cause?: unknown;
}

/**
 * The cause of an error that no upstream's answer has led to: by it the fault is told apart from,
 * say, a key that is not accepted, although callers get the same reply.
 */
export class SetupFault extends Error {
  override readonly name = "SetupFault";
  readonly kind: FaultKind;
  readonly advice: string;

  constructor(kind: FaultKind, { what, advice, cause }: FaultWords) {
    super(what, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.advice = advice;
  }
}

/** The fault behind an error, if there is one. */
export function faultOf(thrown: unknown): SetupFault | undefined {
  let at: unknown = thrown;
  for (let depth = 0; at instanceof Error && depth < 8; depth++) {
    if (at instanceof SetupFault) return at;
    at = at.cause;
  }
  return undefined;
}
