import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { call, type Reply } from "../../api.ts";

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
