import {
  type InfiniteData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type ApiProblem, fetchFile, type Input, type Reply, request } from "../../api.ts";
import { type Filters, toQuery } from "./filters.ts";

type Page = Reply<"GET /api/rejections">;
export type Total = NonNullable<Page["total"]>;
type Query = NonNullable<Input<"GET /api/rejections">["query"]>;
/** A call that was refused before admission; `count` above 1 stands for the rest of its minute. */
export type Rejection = Page["rejections"][number];

interface Asked {
  readonly account: string | undefined;
  readonly filters: Filters;
  readonly enabled: boolean;
}

const pageSize = 50;
/** The first word of the keys of all queries. */
const rejections = "rejections";

function read(account: string | undefined, query: Query, signal: AbortSignal): Promise<Page> {
  return account === undefined
    ? request("GET /api/rejections", { query }, signal)
    : request("GET /api/accounts/:account/rejections", { params: { account }, query }, signal);
}

/** What the two lists share. */
const toRejectionQuery = (filters: Filters) => toQuery({ ...filters, outcome: "", provider: "" });

export function useRejections({ account, filters, enabled }: Asked) {
  const query = toRejectionQuery(filters);
  return useInfiniteQuery<Page, ApiProblem, readonly Rejection[], readonly unknown[], string>({
    queryKey: [rejections, "list", account, query],
    queryFn: ({ pageParam, signal }) =>
      read(account, { ...query, limit: pageSize, after: pageParam }, signal),
    initialPageParam: "",
    getNextPageParam: ({ after }) => after ?? undefined,
    select: ({ pages }: InfiniteData<Page>) => pages.flatMap((page) => page.rejections),
    placeholderData: (old) => old,
    enabled,
  });
}

/** How many calls were refused with these filters; undefined where it is not known. */
export function useRejectedCount(asked: Asked): Total | undefined {
  const { account, filters, enabled } = asked;
  const query = toRejectionQuery(filters);
  const page = useQuery<Page, ApiProblem>({
    queryKey: [rejections, "count", account, query],
    queryFn: ({ signal }) => read(account, { ...query, count: true, limit: 1 }, signal),
    enabled,
  });
  return page.data?.total;
}

export function fetchRejectedCsv(account: string | undefined, filters: Filters): Promise<Blob> {
  const query = toRejectionQuery(filters);
  return account === undefined
    ? fetchFile("GET /api/rejections.csv", { query })
    : fetchFile("GET /api/accounts/:account/rejections.csv", { params: { account }, query });
}

/** Asks again for those on screen. */
export function useRefreshRejections(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: [rejections] });
}
