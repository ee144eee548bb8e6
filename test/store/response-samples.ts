import { JsonWeight } from "../../src/base/json/weight.ts";
import type { SealedResponse } from "../../src/responses/response.ts";
import type { Loading } from "../../src/responses/stored-responses.ts";
import { noonMs } from "./ledger-samples.ts";

const dayMs = 86_400_000;

/** As the database has one: bytes that nobody can read. */
export function sealedOf(given: Partial<SealedResponse> = {}): SealedResponse {
  return {
    id: "resp_1",
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    createdAtMs: noonMs,
    expiresAtMs: noonMs + 30 * dayMs,
    previousId: undefined,
    items: new Uint8Array([0, 1, 92, 255]),
    reply: new Uint8Array([7, 0, 128]),
    ...given,
  };
}

/** Of a request that may read as much as a body may have. */
export const loadingOf = (accountId: string, given: Partial<Loading> = {}): Loading => ({
  accountId,
  hold: () => {},
  weight: new JsonWeight(),
  tooHeavy: () => new Error("too heavy"),
  ...given,
});
