import { useThrottledCallback, useWindowScroll } from "@mantine/hooks";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { mergeRows, type RequestRow, useNews } from "../../live/news.ts";
import { type Filters, matches, toQuery } from "./filters.ts";

type Page = Reply<"GET /api/requests">;

const pageSize = 50;
/** A page that is open all day does not grow all day. */
const mostFresh = 200;
const refreshMs = 3_000;
/** Further down, new rows would push away what one reads. */
const topPx = 160;

/** Page by page, the newest first; what ends meanwhile comes on top, or waits until one looks. */
export function useRequests(account: string | undefined, filters: Filters) {
  const pages = usePages(account, filters);
  const [{ y }] = useWindowScroll();
  const [fresh, setFresh] = useState<readonly RequestRow[]>([]);
  const [waiting, setWaiting] = useState<readonly RequestRow[]>([]);
  const refresh = useThrottledCallback(() => void pages.refetch(), refreshMs);
  const isAtTop = y < topPx;
  const live = useNews({
    account,
    onNews: ({ count, requests }) => {
      const add = isAtTop ? setFresh : setWaiting;
      add((old) => mergeRows(requests, old).slice(0, mostFresh));
      // Of very many only the newest are told.
      if (isAtTop && count > requests.length) refresh();
    },
    onConnect: refresh,
  });
  const loaded = pages.data ?? [];
  const known = new Set(loaded.map(({ id }) => id));
  return {
    pages,
    live,
    rows: mergeRows(
      fresh.filter((row) => matches(row, filters)),
      loaded,
    ),
    isFresh: (id: string) => fresh.some((row) => row.id === id),
    waiting: waiting.filter(({ id }) => !known.has(id)).filter((row) => matches(row, filters))
      .length,
    showWaiting: () => {
      setFresh((old) => mergeRows(waiting, old).slice(0, mostFresh));
      setWaiting([]);
      globalThis.scrollTo({ top: 0, behavior: "smooth" });
    },
  };
}

function usePages(account: string | undefined, filters: Filters) {
  const name = account === undefined ? "GET /api/requests" : "GET /api/accounts/:account/requests";
  const query = toQuery(filters);
  return useInfiniteQuery<
    Page,
    ApiProblem,
    readonly RequestRow[],
    readonly unknown[],
    string | undefined
  >({
    queryKey: [name, account, query, "pages"],
    queryFn: async ({ pageParam, signal }) =>
      (await request(
        name,
        {
          params: { account: account ?? "" },
          query: { ...query, limit: pageSize, after: pageParam },
        },
        signal,
      )) as Page,
    initialPageParam: undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
    select: ({ pages }: InfiniteData<Page>) => pages.flatMap(({ requests }) => requests),
    placeholderData: (old) => old,
  });
}
