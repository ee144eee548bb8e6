import { type ErrorCode, errorKinds } from "../base/errors.ts";
import type { Receipt } from "./receipt.ts";

const ok = 200;

/**
 * The HTTP status that the caller got. A reply that had begun keeps its 200, whatever ended it;
 * undefined where the caller left before there was one.
 */
export function replyStatus({
  outcome,
  firstByteMs,
}: Pick<Receipt, "outcome" | "firstByteMs">): number | undefined {
  if (outcome === "ok" || firstByteMs !== undefined) return ok;
  return isCode(outcome) ? errorKinds[outcome].status : undefined;
}

/** The outcomes that a call ends with before its first byte, if the caller gets this status. */
export function outcomesWith(status: number): readonly string[] {
  return Object.entries(errorKinds).flatMap(([code, kind]) =>
    kind.status === status ? [code] : [],
  );
}

export const isBegun = (status: number) => status === ok;

const isCode = (outcome: string): outcome is ErrorCode => Object.hasOwn(errorKinds, outcome);
