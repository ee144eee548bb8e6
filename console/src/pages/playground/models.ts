import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { call, type Reply } from "../../api.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { callGateway, isRecord } from "./gateway-call.ts";

export type PlaygroundModel = Reply<"GET /api/accounts/:account/playground-models">[number];
export type Endpoint = PlaygroundModel["endpoint"];

export interface Callable {
  readonly models: readonly PlaygroundModel[];
  readonly baseUrl: string;
}

/** The gateway says what this key may call, the platform which endpoint each of them is for. */
export function useCallable(account: string, access: GatewayAccess): UseQueryResult<Callable> {
  return useQuery({
    queryKey: ["playground", account],
    queryFn: async ({ signal }) => {
      const [listed, models, { baseUrl }] = await Promise.all([
        callGateway(access, { path: "/models", signal }).then((reply) => reply.json()),
        call("GET /api/accounts/:account/playground-models", { params: { account } }),
        access.grant(),
      ]);
      const ids = idsOf(listed);
      return { models: models.filter(({ id }) => ids.has(id)), baseUrl };
    },
    retry: false,
  });
}

function idsOf(reply: unknown): ReadonlySet<unknown> {
  const data = isRecord(reply) ? reply["data"] : undefined;
  return new Set(Array.isArray(data) ? data.map((model) => isRecord(model) && model["id"]) : []);
}
