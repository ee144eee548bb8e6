import { Group } from "@mantine/core";
import type { Reply } from "../../../api.ts";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatDay } from "../../../format/moments.ts";
import classes from "./page.module.css";

type Entry = Reply<"GET /api/catalog">[number];

/** The lifecycle as a badge, with the details an operator needs. */
export function ModelState({ entry }: { readonly entry: Entry }) {
  const words = stateWords(entry);
  const isBroken = !entry.served && entry.status !== "retired";
  return (
    <span className={classes.state}>
      <Group gap={4}>
        {(entry.status !== "active" || !isBroken) && <StateBadge state={entry.status} />}
        {isBroken && <StateBadge state="failed" label="not served" />}
      </Group>
      {words !== undefined && <span className={classes.words}>{words}</span>}
    </span>
  );
}

const replacementWords = (id: string | null) => (id === null ? "" : ` Replacement: ${id}.`);

export function stateWords(entry: Entry): string | undefined {
  const { status, retires_at: retires, deprecated_at: from, replacement } = entry;
  const day = (text: string) => formatDay(Date.parse(text));
  if (status === "deprecated" && retires !== null)
    return `Retires ${day(retires)}.${replacementWords(replacement)}`;
  if (status === "retired" && retires !== null)
    return `Retired ${day(retires)}.${replacementWords(replacement)}`;
  if (entry.not_served_because !== null) return entry.not_served_because;
  if (from !== null) return `Will be deprecated on ${day(from)}.`;
  return undefined;
}
