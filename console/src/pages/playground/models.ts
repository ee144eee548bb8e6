import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { call, type Reply } from "../../api.ts";
import type { GatewayAccess } from "./gateway/gateway-access.ts";

export type PlaygroundModel = Reply<"GET /api/accounts/:account/playground-models">[number];
export type Endpoint = PlaygroundModel["endpoint"];

/** What a key of the playground may call. No key is made for it: only to look is no call. */
export function useCallable(account: string): UseQueryResult<readonly PlaygroundModel[]> {
  return useQuery({
    queryKey: ["playground", account],
    queryFn: () => call("GET /api/accounts/:account/playground-models", { params: { account } }),
    retry: false,
  });
}

/** What each of the three modes is given. */
export interface ModeProps {
  readonly access: GatewayAccess;
  readonly baseUrl: string;
  /** Of the mode's endpoint; there is at least one. */
  readonly models: readonly PlaygroundModel[];
  readonly model: PlaygroundModel;
  readonly onModel: (id: string) => void;
}
