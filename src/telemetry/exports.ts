import type { Destination } from "../exports/destination.ts";
import type { StreamState } from "../exports/store.ts";
import { type MetricsWriter, toLabels } from "./exposition.ts";

export type WriteMetrics = (to: MetricsWriter) => void;

/** The progress of exports. It comes from the store, so it is the same in every process. */
export function exportMetrics(
  destinations: readonly Destination[],
  states: readonly (StreamState & { readonly lagMs: number })[],
): WriteMetrics | undefined {
  const shown = destinations.flatMap(({ id, name, pausedAtMs, createdAtMs }) =>
    states
      .filter(({ destinationId }) => destinationId === id)
      .map((state) => ({
        labels: toLabels({ export: name, stream: state.stream }),
        state,
        isPaused: pausedAtMs !== undefined,
        createdAtMs,
      })),
  );
  if (shown.length === 0) return undefined;
  return (to) => {
    to.family({
      name: "svc_export_lag_seconds",
      type: "gauge",
      help: "For how long the next hour of an export has been due. Paused exports are not shown.",
    });
    for (const { labels, state, isPaused } of shown)
      if (!isPaused) to.add(labels, state.lagMs / 1000);
    to.family({
      name: "svc_export_rows_total",
      type: "counter",
      help: "Rows that were delivered by exports, repetitions included.",
    });
    for (const { labels, state, createdAtMs } of shown) to.add(labels, state.rows, createdAtMs);
    to.family({
      name: "svc_export_failures_total",
      type: "counter",
      help: "Failed attempts of exports.",
    });
    for (const { labels, state, createdAtMs } of shown) to.add(labels, state.failures, createdAtMs);
  };
}
