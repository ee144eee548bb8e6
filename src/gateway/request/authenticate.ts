import { ApiError } from "../../base/errors.ts";
import { isUsable, type KeyDirectory, type KeyRecord } from "../../keys/directory.ts";
import type { Exchange } from "../exchange.ts";

/**
 * Malformed, unknown, revoked and expired keys get one and the same answer; a paused one its own. A
 * key that is known is the exchange's all the same, so that its owner can see why the call failed.
 */
export function authenticate(exchange: Exchange, keys: KeyDirectory): KeyRecord {
  const secret = bearerOf(exchange.request);
  const key = keys.find(secret);
  exchange.key = key;
  if (key === undefined || !isUsable(key, exchange.startedMs))
    throw invalidKey(exchange, secret === "");
  return unpaused(key);
}

/** Only the holder of its secret learns that a key is paused. */
export function unpaused(key: KeyRecord): KeyRecord {
  if (key.pausedAtMs === undefined) return key;
  throw new ApiError({
    code: "invalid_api_key",
    message:
      "Incorrect API key provided: this key is paused. Resume it in the console or with `svc key resume`, or ask the operator to resume it.",
  });
}

/** For a path that does not exist: whose mistake it is. */
export function identify(exchange: Exchange, keys: KeyDirectory): void {
  exchange.key = keys.find(bearerOf(exchange.request));
}

export function invalidKey({ asksInMessages }: Exchange, isMissing = false): ApiError {
  const bearer = "`Authorization: Bearer sk-svc-…`";
  const header = asksInMessages ? `\`x-api-key: sk-svc-…\` or ${bearer}` : bearer;
  const kind = asksInMessages ? "API key" : "bearer key";
  return new ApiError({
    code: "invalid_api_key",
    // These words first: LiteLLM knows a wrong key by them alone.
    message: isMissing
      ? `Incorrect API key provided: the request has no ${kind}. Send your key as ${header}.`
      : `Incorrect API key provided. Send a valid key as ${header}. You can create one in the console or ask the operator for one.`,
  });
}

/** The secret that the request carries, or "": as a bearer token or, in Anthropic's way, `x-api-key`. */
export function bearerOf({ headers }: Request): string {
  const header = headers.get("authorization");
  if (header === null) return headers.get("x-api-key")?.trim() ?? "";
  // The scheme's name is case-insensitive, by its RFC and in some clients.
  return header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : "";
}
