import { useThrottledCallback, useWindowScroll } from "@mantine/hooks";
import { type InfiniteData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { mergeRows, type RequestRow, useNews } from "../../live/news.ts";
import { type Filters, matches, type Sorting, toQuery } from "./filters.ts";

type Page = Reply<"GET /api/requests">;
export type Total = NonNullable<Page["total"]>;

const pageSize = 50;
/** A page that is open all day does not grow all day. */
export const mostFresh = 200;
const refreshMs = 3_000;
/** Further down, new rows would push away what one reads. */
const topPx = 160;

interface Asked {
  readonly account: string | undefined;
  readonly filters: Filters;
  readonly sorting: Sorting;
  readonly isPaused: boolean;
  /** Calls may have been refused since: they are in no news. */
  readonly onRejections: () => void;
  readonly enabled: boolean;
}

/** Page by page; what ends meanwhile comes on top, or waits until one looks. */
export function useRequests(asked: Asked) {
  const { account, filters, sorting, isPaused, onRejections } = asked;
  const pages = usePages(asked);
  const [{ y }] = useWindowScroll();
  const [fresh, setFresh] = useState<readonly RequestRow[]>([]);
  const [waiting, setWaiting] = useState<readonly RequestRow[]>([]);
  const refresh = useThrottledCallback(() => void pages.refetch(), refreshMs);
  const refreshRejections = useThrottledCallback(onRejections, refreshMs);
  const isByTime = sorting.sort === "time";
  const isShown = isByTime && !isPaused && y < topPx;
  const live = useNews({
    account,
    onNews: ({ count, requests }) => {
      const add = isShown ? setFresh : setWaiting;
      add((old) => mergeRows(requests, old).slice(0, mostFresh));
      // Of very many only the newest are told.
      if (isShown && count > requests.length) refresh();
    },
    onRejections: () => {
      if (!isPaused) refreshRejections();
    },
    onConnect: () => {
      if (isPaused) return;
      refresh();
      refreshRejections();
    },
  });
  const loaded = pages.data ?? [];
  const known = new Set(loaded.map(({ id }) => id));
  return {
    pages,
    live,
    rows: isByTime
      ? mergeRows(
          fresh.filter((row) => matches(row, filters)),
          loaded,
        )
      : loaded,
    isFresh: (id: string) => fresh.some((row) => row.id === id),
    waiting: waiting.filter(({ id }) => !known.has(id)).filter((row) => matches(row, filters))
      .length,
    showWaiting: () => {
      if (isByTime) setFresh((old) => mergeRows(waiting, old).slice(0, mostFresh));
      // Where they stand among the others only the platform knows.
      else void pages.refetch();
      setWaiting([]);
      globalThis.scrollTo({ top: 0, behavior: "smooth" });
    },
  };
}

const routeOf = (account: string | undefined) =>
  account === undefined ? "GET /api/requests" : "GET /api/accounts/:account/requests";

function usePages({ account, filters, sorting, enabled }: Asked) {
  const name = routeOf(account);
  const query = { ...toQuery(filters), ...sorting };
  return useInfiniteQuery<
    Page,
    ApiProblem,
    readonly RequestRow[],
    readonly unknown[],
    string | undefined
  >({
    queryKey: [name, account, query, "pages"],
    queryFn: async ({ pageParam, signal }) =>
      await request(
        name,
        {
          params: { account: account ?? "" },
          query: { ...query, limit: pageSize, after: pageParam },
        },
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
    select: ({ pages }: InfiniteData<Page>) => pages.flatMap(({ requests }) => requests),
    placeholderData: (old) => old,
    enabled,
  });
}

/** It may look at very many receipts. */
const countEveryMs = 5_000;

/** How many match; asked apart from the rows, which are there sooner. */
export function useTotal(asked: {
  readonly account: string | undefined;
  readonly filters: Filters;
  /** Of the list: when another one comes, there are more. */
  readonly newestId: string | undefined;
}) {
  const { account, filters, newestId } = asked;
  const name = routeOf(account);
  const query = toQuery(filters);
  const total = useQuery<Total | undefined, ApiProblem>({
    queryKey: [name, account, query, "total"],
    queryFn: async ({ signal }) => {
      const input = {
        params: { account: account ?? "" },
        query: { ...query, count: true, limit: 1 },
      };
      return (await request(name, input, signal)).total ?? undefined;
    },
  });
  const refresh = useThrottledCallback(() => void total.refetch(), countEveryMs);
  const onNewest = useEffectEvent(refresh);
  useEffect(() => {
    if (newestId !== undefined) onNewest();
  }, [newestId]);
  return total.data;
}
