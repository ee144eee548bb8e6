import type { GatewayAccess } from "../gateway/gateway-access.ts";
import { callGateway, GatewayProblem, isRecord } from "../gateway/gateway-call.ts";

export interface Embedded {
  readonly vectors: readonly (readonly number[])[];
  readonly requestId: string | undefined;
}

/** The vectors of one call, in the order of its input. */
export async function embed(
  access: GatewayAccess,
  call: { readonly body: unknown; readonly signal: AbortSignal },
): Promise<Embedded> {
  const response = await callGateway(access, { path: "/embeddings", ...call });
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const reply: unknown = await response.json();
  const data = isRecord(reply) && Array.isArray(reply["data"]) ? reply["data"] : [];
  const vectors = data
    .filter(isRecord)
    .toSorted((one, other) => Number(one["index"]) - Number(other["index"]))
    .map(({ embedding }) => embedding)
    .filter(isVector);
  if (vectors.length === 0)
    throw new GatewayProblem({
      status: 0,
      code: "unexpected",
      message: "The reply contains no vectors.",
      requestId,
    });
  return { vectors, requestId };
}

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number");
