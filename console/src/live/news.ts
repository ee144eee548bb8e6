import { useEffect, useEffectEvent } from "react";
import { apiUrl } from "../api.ts";
import { type LiveState, useLive } from "./live.ts";
import type { RequestRow } from "./request-rows.ts";

/** What the platform tells once a second: how many requests ended, and the newest of them. */
export interface News {
  readonly count: number;
  readonly requests: readonly RequestRow[];
}

interface NewsOptions {
  /** Undefined: all accounts. */
  readonly account: string | undefined;
  readonly onNews: (news: News) => void;
  /** It is heard from now on: what happened before has to be asked for. */
  readonly onConnect: () => void;
}

export function useNews({ account, onNews, onConnect }: NewsOptions): LiveState {
  const state = useLive({
    url:
      account === undefined
        ? apiUrl("GET /api/live")
        : apiUrl("GET /api/accounts/:account/live", { params: { account } }),
    events: ["news"],
    onEvent: ({ data }) => {
      if (isNews(data)) onNews(data);
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
