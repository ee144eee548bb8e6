import { newId } from "../../src/base/ids.ts";
import type { Rejection, RejectionCount } from "../../src/rejections/rejection.ts";
import { noonMs } from "./ledger-samples.ts";

export function rejectionOf(rest: Partial<Rejection> & { readonly atMs?: number } = {}): Rejection {
  const { atMs = noonMs, ...more } = rest;
  return {
    id: newId("req", atMs),
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    endpoint: "chat",
    dialect: "chat",
    status: 402,
    code: "insufficient_quota",
    message: "Not enough credit.",
    reason: "",
    count: 1,
    ...more,
  };
}

export const rejectionCountOf = (rest: Partial<RejectionCount> = {}): RejectionCount => ({
  minuteMs: noonMs,
  accountId: "acct_1",
  keyId: "key_1",
  model: "m",
  code: "insufficient_quota",
  status: 402,
  count: 1,
  ...rest,
});
