import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type ApiProblem, type Reply, request } from "../../api.ts";

export type Usage = Reply<"GET /api/usage">;
export type Sums = Usage["totals"];
export type Range = Usage["range"];
export type Group = "model" | "account" | "key";

export const ranges: readonly { readonly value: Range; readonly words: string }[] = [
  { value: "1h", words: "the last hour" },
  { value: "24h", words: "the last 24 hours" },
  { value: "7d", words: "the last 7 days" },
  { value: "30d", words: "the last 30 days" },
  { value: "90d", words: "the last 90 days" },
];

export interface View {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly range: Range;
  readonly by: Group;
  /** Of one model or key alone; "": of all. */
  readonly model: string;
  readonly key: string;
}

type Search = Readonly<Record<string, string | undefined>>;

/** What the address asks for; what it says that there is not is left out. */
export function toView(search: Search, account: string | undefined): View {
  const { range, by, model = "", key = "" } = search;
  return {
    account,
    range: ranges.find(({ value }) => value === range)?.value ?? "24h",
    by: groupsOf(account).find((group) => group === by) ?? "model",
    model,
    key,
  };
}

export const groupsOf = (account: string | undefined): readonly Group[] =>
  account === undefined ? ["model", "account", "key"] : ["model", "key"];

/** Minutes pass by themselves; the steps of the longer views are seen to less often. */
const againMs = (range: Range) => (range === "1h" ? 20_000 : 5 * 60_000);

/** Says what it is told apart by: for a moment, that is not what was asked for last. */
export type GroupedUsage = Usage & Pick<View, "by">;

export function useUsage({ account, ...query }: View): UseQueryResult<GroupedUsage, ApiProblem> {
  const name = account === undefined ? "GET /api/usage" : "GET /api/accounts/:account/usage";
  const input = { params: { account: account ?? "" }, query };
  return useQuery<GroupedUsage, ApiProblem>({
    queryKey: [name, input],
    queryFn: async ({ signal }) => ({
      ...((await request(name, input, signal)) as Usage),
      by: query.by,
    }),
    placeholderData: (old) => old,
    refetchInterval: againMs(query.range),
  });
}

/** Against the time before: 0.12 is 12% more. Undefined where there is nothing to compare with. */
export function changeOf(
  now: number | null,
  before: number | null | undefined,
): number | undefined {
  if (now === null || before === null || before === undefined || before === 0) return undefined;
  const change = (now - before) / before;
  // Ten times as much says no more than "there was next to nothing before".
  return change > mostChange ? undefined : change;
}

const mostChange = 10;

export const failureRate = ({ requests, failures }: Sums) =>
  requests === 0 ? 0 : failures / requests;
export const tokensOf = ({ input_tokens, output_tokens }: Sums) => input_tokens + output_tokens;
