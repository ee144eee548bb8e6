import { engineOption } from "../../format/provider-name.ts";
import { useApi } from "../../queries.ts";
import { useAccounts } from "../../session.tsx";
import type { Choices, Option } from "./filter-bar.tsx";

const same = (value: string): Option => ({ value, label: value });

/** What can be filtered by. */
export function useChoices(account: string | undefined, chosenAccount: string): Choices {
  const isForAll = account === undefined;
  const ofKeys = account ?? chosenAccount;
  const params = { account: ofKeys };
  const models = useApi("GET /api/accounts/:account/models", { params }, { enabled: !isForAll });
  const catalog = useApi("GET /api/catalog", {}, { enabled: isForAll });
  const providers = useApi("GET /api/providers", {}, { enabled: isForAll });
  const keys = useApi("GET /api/accounts/:account/keys", { params }, { enabled: ofKeys !== "" });
  const accounts = useAccounts();
  return {
    models: (isForAll ? catalog.data : models.data)?.map(({ id }) => same(id)) ?? [],
    keys:
      ofKeys === ""
        ? "all"
        : (keys.data?.map(({ id, name, hint }) => ({ value: id, label: name || hint })) ?? []),
    accounts: isForAll ? accounts.map(({ id, name }) => ({ value: id, label: name })) : [],
    providers: isForAll
      ? [engineOption, ...(providers.data?.providers ?? []).map(({ name }) => same(name))]
      : [],
  };
}
