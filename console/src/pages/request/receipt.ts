import type { Reply } from "../../api.ts";

export type Receipt = Reply<"GET /api/requests/:id">;

type Timed = Pick<Receipt, "units" | "first_byte_ms" | "duration_ms" | "streamed">;

/**
 * Output tokens per second: of a stream from its first byte on, of a whole reply over the whole
 * call. Undefined where there is nothing to divide.
 */
export function tokensPerSecond(receipt: Timed): number | undefined {
  const { units, first_byte_ms: firstMs, duration_ms: durationMs, streamed } = receipt;
  const tokens = (units["output"] ?? 0) + (units["audio_output"] ?? 0);
  const fromMs = streamed === false ? 0 : firstMs;
  if (tokens === 0 || fromMs === null || durationMs <= fromMs) return undefined;
  const speed = (tokens * 1_000) / (durationMs - fromMs);
  return speed < 10 ? Math.round(speed * 10) / 10 : Math.round(speed);
}
