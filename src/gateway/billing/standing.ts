import { ApiError } from "../../base/errors.ts";
import type { Purse } from "../../ledger/purses.ts";

/** A suspended account gets nothing: no call, and no reply that was kept. */
export function checkStanding({ account }: Purse): void {
  if (account.suspendedAtMs === undefined) return;
  throw new ApiError({
    code: "account_suspended",
    message: "The account of this key is suspended. Ask the operator to resume it.",
  });
}
