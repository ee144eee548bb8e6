import type { ChartPoint } from "../../../components/chart/chart-scale.ts";

const dayMs = 86_400_000;

/** The days up to today, in UTC; those without calls are 0. */
export function lastDays(
  rows: readonly { readonly day: string; readonly charged_usd: string }[],
  count: number,
  nowMs: number,
): readonly ChartPoint[] {
  const charged = new Map(rows.map(({ day, charged_usd }) => [day, Number(charged_usd)]));
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(nowMs - (count - 1 - at) * dayMs).toISOString().slice(0, 10);
    return { at: `${day}T00:00:00Z`, values: { charged: charged.get(day) ?? 0 } };
  });
}
