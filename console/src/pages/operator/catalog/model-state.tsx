import { Group } from "@mantine/core";
import type { Reply } from "../../../api.ts";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatDay } from "../../../format/moments.ts";
import classes from "./page.module.css";

type Entry = Reply<"GET /api/catalog">[number];

/** What becomes of calls, the lifecycle unless it is active, and the details. */
export function ModelState({ entry }: { readonly entry: Entry }) {
  const words = stateWords(entry);
  return (
    <span className={classes.state}>
      <StateBadges entry={entry} />
      {words !== undefined && <span className={classes.words}>{words}</span>}
    </span>
  );
}

export function StateBadges({ entry }: { readonly entry: Entry }) {
  const { state, status } = entry;
  return (
    <Group gap={4} wrap="nowrap">
      {state !== null && <ServingBadge state={state} />}
      {status !== "active" && <StateBadge state={status} />}
    </Group>
  );
}

const replacementWords = (id: string | null) => (id === null ? "" : ` Replacement: ${id}.`);

function stateWords(entry: Entry): string | undefined {
  const { status, retires_at: retires, deprecated_at: from, replacement } = entry;
  const day = (text: string) => formatDay(Date.parse(text));
  if (status === "deprecated" && retires !== null)
    return `Retires ${day(retires)}.${replacementWords(replacement)}`;
  if (status === "retired" && retires !== null)
    return `Retired ${day(retires)}.${replacementWords(replacement)}`;
  // The badge and the column of routes say so themselves.
  const isSaid = entry.state === "needs_price" || entry.routes.length === 0;
  if (entry.not_served_because !== null && !isSaid) return entry.not_served_because;
  if (from !== null) return `Will be deprecated on ${day(from)}.`;
  return undefined;
}
