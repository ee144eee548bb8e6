import { Problem, type ProblemCode } from "../../base/problem.ts";
import { WrongPasskey } from "../../people/factors/passkeys.ts";
import { WrongCode } from "../../people/factors/prover.ts";
import { TicketExpired } from "../../people/factors/tickets.ts";
import {
  IdentityNotAllowed,
  IdentityRefused,
  IdentityUnavailable,
} from "../../people/identity/failures.ts";
import { LocalSignInOff, WrongPassword } from "../../people/people.ts";
import { TooManyTries } from "../../people/sign-in-limits.ts";

/** Codes that a reply of the API can have, besides those of a Problem. */
export type RefusalCode =
  | ProblemCode
  | "not_signed_in"
  | "wrong_password"
  | "wrong_code"
  | "wrong_passkey"
  | "expired"
  | "identity_not_allowed"
  | "identity_refused"
  | "identity_required"
  | "identity_unavailable"
  | "second_factor_required"
  | "verification_required"
  | "too_many_tries"
  | "too_many_changes"
  | "not_allowed"
  | "wrong_origin"
  | "wrong_method"
  | "unsupported_media_type"
  | "too_large";

/** What a reply says where a request was not served. */
export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  /** The field that is wrong, if it is one. */
  readonly field?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const statuses: Readonly<Record<ProblemCode, number>> = {
  invalid: 400,
  not_found: 404,
  conflict: 409,
  test_failed: 400,
  busy: 503,
  failed: 500,
};

/** Thrown where the API itself refuses, and not what it asks. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function toRefusal(problem: Problem): Refusal {
  if (problem instanceof WrongPassword)
    return { status: 401, code: "wrong_password", message: problem.message };
  if (problem instanceof WrongCode)
    return { status: 401, code: "wrong_code", message: problem.message, field: problem.field };
  if (problem instanceof WrongPasskey)
    return { status: 401, code: "wrong_passkey", message: problem.message };
  if (problem instanceof TicketExpired)
    return { status: 409, code: "expired", message: problem.message };
  const identityCode = identityCodeOf(problem);
  if (identityCode !== undefined)
    return { status: 403, code: identityCode, message: problem.message };
  if (problem instanceof IdentityUnavailable)
    return { status: 503, code: "identity_unavailable", message: problem.message };
  if (problem instanceof TooManyTries)
    return {
      status: 429,
      code: "too_many_tries",
      message: problem.message,
      headers: { "retry-after": String(Math.ceil(problem.waitMs / 1_000)) },
    };
  // The command is left out: readers of the API have no command line.
  const { code, message, field } = problem;
  return { status: statuses[code], code, message, field };
}

function identityCodeOf(problem: Problem): RefusalCode | undefined {
  if (problem instanceof IdentityRefused) return "identity_refused";
  if (problem instanceof IdentityNotAllowed) return "identity_not_allowed";
  return problem instanceof LocalSignInOff ? "identity_required" : undefined;
}

export function refuse({ status, code, message, field, headers }: Refusal): Response {
  const error = field === undefined ? { code, message } : { code, message, field };
  return Response.json({ error }, { status, headers: { ...apiHeaders, ...headers } });
}

/** Nothing that the API says may be kept, framed or taken for another type. */
export const apiHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};
