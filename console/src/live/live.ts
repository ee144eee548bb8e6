import { useEffect, useEffectEvent, useState } from "react";
import { browserSession } from "../browser-session.ts";
import { connection } from "./connection.ts";

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** The platform sends a sign of life every 15 seconds. */
const longestSilenceMs = 40_000;

export type LiveState = "connecting" | "live" | "waiting";

interface LiveOptions {
  /** Of a stream of server-sent events; undefined: none for now. */
  readonly url: string | undefined;
  /** The names of the events that are listened to. */
  readonly events: readonly string[];
  readonly onEvent: (event: { readonly type: string; readonly data: unknown }) => void;
}

/**
 * Listens while the tab is seen: a hidden one costs the server nothing. The browser's own reader of
 * events can send no headers, which a session needs, so reading and the way back are ours.
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
  let reading: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let delayMs = firstDelayMs;
  const close = () => {
    clearTimeout(timer);
    clearTimeout(silence);
    reading?.abort();
    reading = undefined;
  };
  const open = async () => {
    close();
    setState("connecting");
    const mine = new AbortController();
    reading = mine;
    try {
      const body = await fetchEvents(url, mine.signal);
      delayMs = firstDelayMs;
      setState("live");
      const onBytes = () => {
        clearTimeout(silence);
        if (!mine.signal.aborted) silence = setTimeout(() => void open(), longestSilenceMs);
      };
      onBytes();
      for await (const { type, data } of readEvents(body, onBytes))
        if (types.includes(type) && !mine.signal.aborted) tell({ type, data: fromText(data) });
    } catch (error) {
      // Anything else is tried again. Access does not come back by itself, but may with the tab.
      if (error instanceof Refused) {
        close();
        return setState("waiting");
      }
    }
    if (mine.signal.aborted) return;
    close();
    setState("waiting");
    timer = setTimeout(() => void open(), delayMs);
    delayMs = Math.min(delayMs * 2, longestDelayMs);
    void connection.check();
  };
  const onChange = () => {
    if (document.hidden || !connection.isUp) {
      close();
      setState("waiting");
    } else if (reading === undefined) void open();
  };
  document.addEventListener("visibilitychange", onChange);
  const unsubscribe = connection.subscribe(onChange);
  if (document.hidden || !connection.isUp) setState("waiting");
  else void open();
  return () => {
    document.removeEventListener("visibilitychange", onChange);
    unsubscribe();
    close();
  };
}

/** The session ended, or the role was taken away. */
class Refused extends Error {}

async function fetchEvents(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(url, {
    credentials: "same-origin",
    cache: "no-store",
    headers: { accept: "text/event-stream", ...browserSession.headers() },
    signal,
  });
  connection.heard(response);
  if (response.status === 401 || response.status === 403) throw new Refused();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!response.ok || !isStream || response.body === null)
    throw new Error(`The event stream failed: ${response.status}`);
  return response.body;
}

/** More than a second's news ever has: what goes on without an end is given up. */
const longestEvent = 4_000_000;

/** As the platform writes them: each line ends in a line feed. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<{ readonly type: string; readonly data: string }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      onBytes();
      const events = (rest + decoder.decode(read.value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      if (rest.length > longestEvent) throw new Error("An event exceeds the size limit.");
      for (const event of events) {
        const fields = event.split("\n");
        const valueOf = (name: string) =>
          fields.flatMap((line) => (line.startsWith(name) ? [line.slice(name.length).trim()] : []));
        const data = valueOf("data:");
        if (data.length > 0)
          yield { type: valueOf("event:")[0] ?? "message", data: data.join("\n") };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function fromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
