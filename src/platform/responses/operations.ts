import type { Clock } from "../../base/clock.ts";
import type { AccountStore } from "../../ledger/account.ts";
import type { ResponseStore } from "../../responses/response.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { findAccount } from "../input/values.ts";
import type { PurgedView } from "./schemas.ts";

export interface ResponseOperations {
  /** Deletes all responses that callers of an account have stored until now. */
  purge(input: { account: string }): Promise<PurgedView>;
}

export const responseAudits = {
  purge: { action: "response.purge" },
} satisfies Audits<ResponseOperations>;

export interface ResponseDependencies {
  readonly accounts: AccountStore;
  readonly responses: ResponseStore;
  readonly clock: Clock;
  /** Resolves when all that was written survives a power cut. */
  readonly sync: () => Promise<void>;
}

export function responseOperations({
  accounts,
  responses,
  clock,
  sync,
}: ResponseDependencies): Unbound<ResponseOperations, typeof responseAudits> {
  return {
    async purge({ account: name }, { audit }) {
      const { id: accountId, name: subject } = await findAccount(accounts, name);
      const { responses: count, bytes } = await responses.totals(accountId);
      const record = audit({ accountId, subject, detail: { responses: count, bytes } });
      const removed = await responses.removeAll({ accountId, toMs: clock.nowMs() }, record);
      await sync();
      return { account: accountId, ...removed };
    },
  };
}
