import type { Reply } from "../../api.ts";
import { useApi } from "../../queries.ts";
import { useAccountId } from "../../session.tsx";

export type Token = Reply<"GET /api/tokens">[number];
export type NewToken = Reply<"POST /api/tokens">;

/** Of the account that the address names, else the operator's. */
export function useTokens(mayAsk: boolean) {
  const account = useAccountId();
  const ofAccount = useApi(
    "GET /api/accounts/:account/tokens",
    { params: { account: account ?? "" } },
    { enabled: mayAsk && account !== undefined },
  );
  const ofOperator = useApi("GET /api/tokens", {}, { enabled: mayAsk && account === undefined });
  return account === undefined ? ofOperator : ofAccount;
}
