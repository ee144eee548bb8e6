import { createHash } from "node:crypto";
import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { Problem } from "../../base/problem.ts";

const event = "http://schemas.openid.net/event/backchannel-logout";
/** A provider sends it at once; an older one may be a copy. */
export const longestAgeS = 600;
const longestText = 255;

/** Names the user that signed out at the provider. */
export interface LoggedOut {
  readonly issuer: string;
  readonly subject: string;
  /** Of the token, which works once. */
  readonly id: string;
}

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly algorithms: readonly string[];
  readonly skewS: number;
  readonly nowMs: number;
}

/** A logout token that was not accepted. */
export class LogoutRefused extends Problem {
  /** For the log: never a token or a claim. */
  readonly detail: string;
  /** False: the provider signed it, so it does not count as a failed attempt. */
  readonly isCounted: boolean;

  constructor(
    reason: string,
    options: { readonly isCounted: boolean; readonly cause?: unknown } = { isCounted: true },
  ) {
    const { isCounted, cause } = options;
    super({
      code: "invalid",
      field: "logout_token",
      message: `logout_token is not valid: ${reason}. Check the client and the keys at the identity provider.`,
      cause,
    });
    this.detail = cause instanceof Error ? `${reason}: ${cause.message.slice(0, 200)}` : reason;
    this.isCounted = isCounted;
  }
}

/** The token names a key that is not among these keys. */
export class UnknownKey extends Error {}

/** Checks what can be checked without the keys, so that an unrelated token causes no request for them. */
export function checkLikely(token: string, { issuer, clientId }: Expected): void {
  const { iss, aud, events, nonce } = decoded(token);
  if (iss !== issuer || ![aud ?? []].flat().includes(clientId))
    throw new LogoutRefused("its issuer (iss) or audience (aud) is wrong");
  // An ID token has a nonce and no such event.
  if (!isRecord(events) || !isRecord(events[event]))
    throw new LogoutRefused("its events claim does not contain the back-channel logout event");
  if (nonce !== undefined) throw new LogoutRefused("it must not contain a nonce");
}

/** Throws a LogoutRefused, an UnknownKey, or any other error if the keys cannot be used. */
export async function readLogoutToken(
  token: string,
  keys: JSONWebKeySet,
  { issuer, clientId, algorithms, skewS, nowMs }: Expected,
): Promise<LoggedOut> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer,
      audience: clientId,
      algorithms: [...algorithms],
      clockTolerance: skewS,
      currentDate: new Date(nowMs),
      maxTokenAge: longestAgeS,
      requiredClaims: ["iat", "exp"],
    });
    return { issuer, ...toLoggedOut(payload) };
  } catch (error) {
    throw toProblem(error);
  }
}

function toLoggedOut({ sub, jti }: JWTPayload): Pick<LoggedOut, "subject" | "id"> {
  if (!isText(sub))
    throw new LogoutRefused("it does not contain a subject (sub)", { isCounted: false });
  if (!isText(jti))
    throw new LogoutRefused("it does not contain an ID (jti)", { isCounted: false });
  return { subject: sub, id: `logout ${createHash("sha256").update(jti).digest("base64url")}` };
}

const wrongSignatures: readonly (new (...given: never[]) => Error)[] = [
  errors.JWSSignatureVerificationFailed,
  errors.JWSInvalid,
  errors.JWTInvalid,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSMultipleMatchingKeys,
];

/** The library checks the signature before the claims. */
function toProblem(error: unknown): unknown {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
    return new LogoutRefused("its times (iat, exp) or other claims are wrong", {
      isCounted: false,
      cause: error,
    });
  if (error instanceof errors.JWKSNoMatchingKey) return new UnknownKey(error.message);
  if (wrongSignatures.some((known) => error instanceof known))
    return new LogoutRefused("its signature is wrong", { isCounted: true, cause: error });
  return error;
}

function decoded(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch (error) {
    throw new LogoutRefused("it is not a signed JWT", { isCounted: true, cause: error });
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= longestText;
