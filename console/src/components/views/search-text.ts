import type { Reply } from "../../api.ts";

export type SavedView = Reply<"GET /api/me/views">[number];

type Search = Readonly<Record<string, string | undefined>>;

/** What belongs to a moment, not to a view. */
const passing = new Set(["after", "new"]);

/** Filters as a saved view has them: in the order of their names, so that equal ones are equal. */
export function toSearchText(search: Search): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    value === undefined || passing.has(name) ? [] : [[name, value] as [string, string]],
  );
  const params = new URLSearchParams(given);
  params.sort();
  return params.toString();
}

export const searchOf = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));
