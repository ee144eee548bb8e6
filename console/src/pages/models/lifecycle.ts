import { formatDay } from "../../format/moments.ts";
import type { Model } from "./models.ts";

const dayMs = 86_400_000;

export interface LifecycleWords {
  /** What is so, with its days: `Retires on Jan 31, 2027, in 76 days.` */
  readonly words: string;
  /** What to use instead. */
  readonly successor: string | null;
}

type Lifecycle = Pick<Model, "status" | "deprecated_at" | "retires_at" | "replacement">;

/** What becomes of a model; undefined where nothing is planned. Days are those of the reader. */
export function lifecycleWords(model: Lifecycle, nowMs: number): LifecycleWords | undefined {
  const { status, deprecated_at: from, retires_at: retires, replacement: successor } = model;
  if (status === "retired")
    return {
      words: retires === null ? "Retired. Calls are rejected." : `Retired on ${dayOf(retires)}.`,
      successor,
    };
  if (status === "deprecated")
    return {
      words:
        retires === null
          ? "Still available. No retirement date yet."
          : `Retires on ${dayOf(retires)}, ${inDays(retires, nowMs)}. After that, calls are rejected.`,
      successor,
    };
  if (from === null) return undefined;
  const end = retires === null ? "" : ` and retires on ${dayOf(retires)}`;
  return {
    words: `Will be deprecated on ${dayOf(from)}, ${inDays(from, nowMs)},${end}.`.replace(
      ",.",
      ".",
    ),
    successor,
  };
}

const dayOf = (moment: string) => formatDay(Date.parse(moment));

function inDays(moment: string, nowMs: number): string {
  const days = Math.ceil((Date.parse(moment) - nowMs) / dayMs);
  if (days <= 0) return "today";
  return days === 1 ? "in 1 day" : `in ${days} days`;
}
