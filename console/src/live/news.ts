import { useEffect, useEffectEvent } from "react";
import { apiUrl, type Reply } from "../api.ts";
import { type LiveState, useLive } from "./live.ts";

export type RequestRow = Reply<"GET /api/requests">["requests"][number];

/** What the platform tells once a second: how many requests ended, and the newest of them. */
export interface News {
  readonly count: number;
  readonly requests: readonly RequestRow[];
}

interface NewsOptions {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly onNews: (news: News) => void;
  /** Calls were rejected: they are in no news. */
  readonly onRejections?: () => void;
  /** It is heard from now on: what happened before has to be asked for. */
  readonly onConnect: () => void;
}

export function useNews({ account, onNews, onRejections, onConnect }: NewsOptions): LiveState {
  const state = useLive({
    url:
      account === undefined
        ? apiUrl("GET /api/live")
        : apiUrl("GET /api/accounts/:account/live", { params: { account } }),
    events: ["news", "rejections"],
    onEvent: ({ type, data }) => {
      if (type === "rejections") onRejections?.();
      else if (isNews(data)) onNews(data);
    },
  });
  const connected = useEffectEvent(onConnect);
  useEffect(() => {
    if (state === "live") connected();
  }, [state]);
  return state;
}

function isNews(data: unknown): data is News {
  return typeof data === "object" && data !== null && "count" in data && "requests" in data;
}

/** Each once, the newest first: an id begins with the time at which its request began. */
export function mergeRows(
  fresh: readonly RequestRow[],
  loaded: readonly RequestRow[],
): readonly RequestRow[] {
  const byId = new Map([...loaded, ...fresh].map((row) => [row.id, row]));
  return [...byId.values()].toSorted((one, other) =>
    one.id === other.id ? 0 : one.id > other.id ? -1 : 1,
  );
}
