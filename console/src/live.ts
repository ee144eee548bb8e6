import { useEffect, useEffectEvent, useState } from "react";

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;

export type LiveState = "connecting" | "live" | "waiting";

interface LiveOptions {
  /** Of a stream of server-sent events; undefined: none for now. */
  readonly url: string | undefined;
  /** The names of the events that are listened to. */
  readonly events: readonly string[];
  readonly onEvent: (event: { readonly type: string; readonly data: unknown }) => void;
}

/**
 * Listens while the tab is seen: a hidden one costs the server nothing. The browser gives up for
 * good when an answer is not a stream (a restart behind a proxy), so the way back is ours.
 */
export function useLive({ url, events, onEvent }: LiveOptions): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const tell = useEffectEvent(onEvent);
  const types = events.join(" ");
  useEffect(() => {
    if (url === undefined) return;
    return listen({ url, types: types.split(" "), tell, setState });
  }, [url, types]);
  return state;
}

interface Listening {
  readonly url: string;
  readonly types: readonly string[];
  readonly tell: LiveOptions["onEvent"];
  readonly setState: (state: LiveState) => void;
}

function listen({ url, types, tell, setState }: Listening): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delayMs = firstDelayMs;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    setState("connecting");
    const opened = new EventSource(url);
    source = opened;
    opened.addEventListener("open", () => {
      delayMs = firstDelayMs;
      setState("live");
    });
    opened.addEventListener("error", () => {
      close();
      setState("waiting");
      timer = setTimeout(open, delayMs);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    });
    for (const type of types)
      opened.addEventListener(type, (event: MessageEvent<string>) =>
        tell({ type, data: fromText(event.data) }),
      );
  };
  const onVisibility = () => {
    if (document.hidden) {
      close();
      setState("waiting");
    } else if (source === undefined) open();
  };
  document.addEventListener("visibilitychange", onVisibility);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    close();
  };
}

function fromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
