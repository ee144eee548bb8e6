import { useEffect, useState } from "react";
import { formatExact, formatRelative } from "../../format/moments.ts";

/** A time as one says it, exact on hover. */
export function Moment({ at }: { readonly at: string }) {
  const nowMs = useNow();
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExact(atMs)}>
      {formatRelative(atMs, nowMs)}
    </time>
  );
}

const listeners = new Set<(nowMs: number) => void>();

/** One clock for all of them: a table of a thousand moments has no thousand timers. */
function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    listeners.add(setNowMs);
    if (listeners.size === 1) timer = setInterval(tick, 5_000);
    return () => {
      listeners.delete(setNowMs);
      if (listeners.size === 0) clearInterval(timer);
    };
  }, []);
  return nowMs;
}

let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  const nowMs = Date.now();
  for (const tell of listeners) tell(nowMs);
}
