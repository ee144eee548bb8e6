import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { countDays, type Days, dayWords, toDays } from "../../components/period/period.ts";
import { dayOf, useTimeZone } from "../../format/moments.ts";

export type Usage = Reply<"GET /api/usage">;
export type Sums = Usage["totals"];
export type Range = Usage["range"];
export type Preset = Exclude<Range, "custom">;
export type Group = "model" | "account" | "key";

const hourMs = 3_600_000;

export const ranges: readonly {
  readonly value: Preset;
  readonly words: string;
  readonly ms: number;
}[] = [
  { value: "1h", words: "the last hour", ms: hourMs },
  { value: "24h", words: "the last 24 hours", ms: 24 * hourMs },
  { value: "7d", words: "the last 7 days", ms: 7 * 24 * hourMs },
  { value: "30d", words: "the last 30 days", ms: 30 * 24 * hourMs },
  { value: "90d", words: "the last 90 days", ms: 90 * 24 * hourMs },
];

export interface View {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly range: Preset;
  /** In place of a range. */
  readonly days: Days | undefined;
  readonly isCompared: boolean;
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
    days: toDays(search["from"], search["to"]),
    isCompared: search["compare"] !== "off",
    by: groupsOf(account).find((group) => group === by) ?? "model",
    model,
    key,
  };
}

export const groupsOf = (account: string | undefined): readonly Group[] =>
  account === undefined ? ["model", "account", "key"] : ["model", "key"];

/** Minutes pass by themselves; the steps of the longer views are seen to less often. */
const againMs = (range: Range) => (range === "1h" ? 20_000 : 5 * 60_000);
/** The last calls are counted by then. */
const completeMs = 3_000;

/** Says what it is told apart by: for a moment, that is not what was asked for last. */
export type GroupedUsage = Usage & Pick<View, "by">;

export function useUsage(view: View): UseQueryResult<GroupedUsage, ApiProblem> {
  const { account, range, days, isCompared, by, model, key } = view;
  const time_zone = useTimeZone();
  const name = account === undefined ? "GET /api/usage" : "GET /api/accounts/:account/usage";
  const query = {
    ...(days ?? { range }),
    by,
    model,
    key,
    time_zone,
    ...(isCompared ? {} : { compare: "none" }),
  };
  const input = { params: { account: account ?? "" }, query };
  return useQuery<GroupedUsage, ApiProblem>({
    queryKey: [name, input],
    queryFn: async ({ signal }) => ({
      ...((await request(name, input, signal)) as Usage),
      by,
    }),
    placeholderData: (old) => old,
    refetchInterval: ({ state }) =>
      state.data?.is_complete === false
        ? completeMs
        : againMs(days === undefined ? range : "custom"),
  });
}

/** What is on screen: `the last 24 hours`, `Nov 1 – Nov 10, 2026`. */
export function periodWords({ days, range }: Pick<View, "days" | "range">): string {
  if (days !== undefined) return dayWords(days);
  return ranges.find(({ value }) => value === range)?.words ?? range;
}

/** As the list of requests is asked for the same calls: by whole days. */
export function requestsSearch(
  { days, range, model, key }: Pick<View, "days" | "range" | "model" | "key">,
  nowMs: number,
) {
  const ms = ranges.find(({ value }) => value === range)?.ms ?? 0;
  return {
    ...(days ?? { from: dayOf(nowMs - ms) }),
    model: model === "" ? undefined : model,
    key: key === "" ? undefined : key,
  };
}

/** What it is compared with: `previous 24 hours`, `previous 10 days`. */
export function beforeWords({ days, range }: Pick<View, "days" | "range">): string {
  if (days === undefined) return periodWords({ days, range }).replace("the last", "previous");
  const count = countDays(days);
  return count === 1 ? "previous day" : `previous ${count} days`;
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
/** For a drawing: where nothing was called there is no rate. */
export const failureRateOrNone = (sums: Sums) => (sums.requests === 0 ? null : failureRate(sums));
export const tokensOf = ({ input_tokens, output_tokens }: Sums) => input_tokens + output_tokens;
