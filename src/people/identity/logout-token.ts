import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { Problem } from "../../base/problem.ts";

const event = "http://schemas.openid.net/event/backchannel-logout";
/** A provider sends it at once; what is older may be a copy. */
export const longestAgeS = 600;
const longestText = 255;

/** Who has signed out at the provider. */
export interface LoggedOut {
  readonly issuer: string;
  readonly subject: string;
  /** Of the token; it counts once. */
  readonly id: string;
}

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly algorithms: readonly string[];
  readonly skewS: number;
}

/** What the provider sent is no logout token that counts here. */
export class LogoutRefused extends Problem {
  /** For the log: never a token or a claim. */
  readonly detail: string;

  constructor(reason: string, cause?: unknown) {
    super({
      code: "invalid",
      field: "logout_token",
      message: `logout_token is not valid: ${reason}. Check the client and the keys at the identity provider.`,
      cause,
    });
    this.detail = cause instanceof Error ? `${reason}: ${cause.message.slice(0, 200)}` : reason;
  }
}

/** Without its signature: anybody can send one, and only a likely one is worth reading keys for. */
export function checkLikely(token: string, { issuer, clientId }: Expected): void {
  const payload = decoded(token);
  const audiences = [payload.aud ?? []].flat();
  if (payload.iss !== issuer || !audiences.includes(clientId))
    throw new LogoutRefused("its issuer or audience is another one");
  checkShape(payload);
}

export async function readLogoutToken(
  token: string,
  keys: JSONWebKeySet,
  { issuer, clientId, algorithms, skewS }: Expected,
): Promise<LoggedOut> {
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
    issuer,
    audience: clientId,
    algorithms: [...algorithms],
    clockTolerance: skewS,
    maxTokenAge: longestAgeS,
    requiredClaims: ["iat", "exp", "jti"],
  }).catch((error: unknown) => {
    throw new LogoutRefused("its signature, times, issuer or audience is wrong", error);
  });
  return { issuer, ...checkShape(payload) };
}

/** An ID token is none: it has a nonce, and no such event. */
function checkShape(payload: JWTPayload): Pick<LoggedOut, "subject" | "id"> {
  const { sub, jti, events, nonce } = payload;
  if (!isRecord(events) || !isRecord(events[event]))
    throw new LogoutRefused("it has no event of a logout");
  if (nonce !== undefined) throw new LogoutRefused("it has a nonce");
  if (!isText(sub)) throw new LogoutRefused("it has no subject (sub)");
  if (!isText(jti)) throw new LogoutRefused("it has no id (jti)");
  return { subject: sub, id: `logout ${createHash("sha256").update(jti).digest("base64url")}` };
}

function decoded(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch (error) {
    throw new LogoutRefused("it is no signed token", error);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= longestText;
