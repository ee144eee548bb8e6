import { ApiError } from "../../base/errors.ts";
import type { KeyDirectory, KeyRecord } from "../../keys/directory.ts";

/** Malformed, unknown, revoked and expired keys get one and the same answer. */
export function authenticate(request: Request, keys: KeyDirectory, nowMs: number): KeyRecord {
  const secret = bearerOf(request);
  const key = keys.verify(secret, nowMs);
  if (key !== undefined) return key;
  throw invalidKey(secret === "");
}

export function invalidKey(isMissing = false): ApiError {
  return new ApiError({
    code: "invalid_api_key",
    // These words first: LiteLLM knows a wrong key by them alone.
    message: isMissing
      ? "Incorrect API key provided: the request has no bearer key. Send your key as `Authorization: Bearer sk-svc-…`."
      : "Incorrect API key provided. Send a valid key as `Authorization: Bearer sk-svc-…`. You can create one in the console or ask the operator for one.",
  });
}

/** The secret that the request carries, or "". */
export function bearerOf(request: Request): string {
  const header = request.headers.get("authorization") ?? "";
  // The scheme's name is case-insensitive, by its RFC and in some clients.
  return header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : "";
}
