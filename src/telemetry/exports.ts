import type { Destination } from "../exports/destination.ts";
import { type Lag, lagOf } from "../exports/lag.ts";
import type { StreamState } from "../exports/store.ts";
import { Exposition, toLabels } from "./exposition.ts";

/** How far exports are, by the store: the same in every process that shows it. "" without exports. */
export function exportMetrics(
  destinations: readonly Destination[],
  states: readonly StreamState[],
  lag: Lag,
): string {
  const shown = destinations.flatMap(({ id, name, pausedAtMs }) =>
    states
      .filter(({ destinationId }) => destinationId === id)
      .map((state) => ({
        labels: toLabels({ export: name, stream: state.stream }),
        state,
        isPaused: pausedAtMs !== undefined,
      })),
  );
  if (shown.length === 0) return "";
  const text = new Exposition();
  text.family({
    name: "svc_export_lag_seconds",
    type: "gauge",
    help: "For how long the next hour of an export has been due. Paused exports are not shown.",
  });
  for (const { labels, state, isPaused } of shown)
    if (!isPaused) text.add(labels, lagOf(state, lag) / 1000);
  text.family({
    name: "svc_export_rows_total",
    type: "counter",
    help: "Rows that were delivered by exports, repetitions included.",
  });
  for (const { labels, state } of shown) text.add(labels, state.rows);
  text.family({
    name: "svc_export_failures_total",
    type: "counter",
    help: "Failed attempts of exports.",
  });
  for (const { labels, state } of shown) text.add(labels, state.failures);
  return text.text();
}
