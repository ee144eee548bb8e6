import { useQuery } from "@tanstack/react-query";
import { ApiProblem, call, type Reply } from "../../../api.ts";

type ReceiptReply = Reply<"GET /api/accounts/:account/requests/:id">;

const tries = 6;
const firstDelayMs = 300;

/**
 * The receipt of a call that is over. It is durable before the last byte of an answer; only that
 * of a call which was stopped here may come a moment later.
 */
export function useReceipt(account: string, id: string) {
  return useQuery<ReceiptReply, ApiProblem>({
    queryKey: ["playground-receipt", account, id],
    queryFn: () => call("GET /api/accounts/:account/requests/:id", { params: { account, id } }),
    retry: (count, problem) =>
      count < tries && problem instanceof ApiProblem && problem.status === 404,
    retryDelay: (count) => firstDelayMs * 2 ** count,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
