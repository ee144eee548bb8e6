import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../queries.ts";
import { lastAccount, useAccounts, useSession } from "../../session.tsx";
import type { Endpoint } from "./document.ts";

/** With what the page calls: kept in its memory alone, and the same for every endpoint. */
export function useAccess() {
  const { user } = useSession();
  const accounts = useAccounts();
  const [key, setKey] = useState("");
  const [chosen, setAccount] = useState(lastAccount.get());
  const account = accounts.find(({ id }) => id === chosen) ?? accounts[0];
  return { isSignedIn: user !== null, accounts, account, setAccount, key, setKey };
}

export type Access = ReturnType<typeof useAccess>;

/** The models that an endpoint can be tried with; none while nobody knows. */
export function useModels(
  { account, key }: Pick<Access, "account" | "key">,
  { endpoint, baseUrl }: { readonly endpoint: Endpoint; readonly baseUrl: string },
): readonly string[] {
  const takesModel = endpoint.api === "gateway" && endpoint.body !== undefined;
  const served = useApi(
    "GET /api/accounts/:account/playground-models",
    { params: { account: account?.id ?? "" } },
    { enabled: takesModel && account !== undefined },
  );
  const ofKey = useQuery<readonly string[]>({
    queryKey: [baseUrl, "models", key],
    queryFn: async ({ signal }) => {
      const response = await fetch(`${baseUrl}/models`, {
        headers: { authorization: `Bearer ${key}` },
        signal,
      });
      const list = (await response.json()) as {
        readonly data?: readonly { readonly id: string }[];
      };
      return (list.data ?? []).map(({ id }) => id);
    },
    enabled: takesModel && key !== "" && account === undefined,
    retry: false,
  });
  if (account === undefined) return ofKey.data ?? [];
  const kind = kindOf(endpoint);
  return (served.data ?? []).filter((model) => model.endpoint === kind).map(({ id }) => id);
}

/** Chat models can be called by several paths; all others are named as their endpoint. */
const chatPaths = /^\/(chat\/completions|completions|responses|messages)(\/|$)/;
const kindOf = ({ path, id }: Endpoint): string => (chatPaths.test(path) ? "chat" : id);
