import { formatAboutMs } from "./figures.ts";

/** A time that is about right, and says so when pointed at. */
export function AboutTime({ ms }: { readonly ms: number | null }) {
  if (ms === null) return "–";
  return <span title="about, from counts by steps">{formatAboutMs(ms)}</span>;
}
