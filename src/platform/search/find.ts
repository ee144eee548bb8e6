import { wordsOf } from "../../base/text-search.ts";

/** Results of one kind: a person reads no more of them. */
export const mostOfAKind = 6;

export interface Searched {
  /** Shown, and looked at first. */
  readonly name: string;
  readonly id: string;
  /** Anything else that people may type: an email address, a masked secret. */
  readonly detail: string;
}

/**
 * Those that have every word of the query in them, the best first: a name or an id that is the
 * query, then one that begins with it, then the rest by name. One pass, and bounded results.
 */
export function findIn<T extends Searched>(items: readonly T[], query: string): readonly T[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  const words = wordsOf(wanted);
  const found = items.flatMap((item) => {
    const name = item.name.toLowerCase();
    const id = item.id.toLowerCase();
    const text = `${name} ${id} ${item.detail.toLowerCase()}`;
    if (!words.every((word) => text.includes(word))) return [];
    return [{ item, name, rank: rankOf(wanted, name, id) }];
  });
  return found
    .toSorted((one, other) => one.rank - other.rank || compare(one.name, other.name))
    .slice(0, mostOfAKind)
    .map(({ item }) => item);
}

function rankOf(wanted: string, name: string, id: string): number {
  if (name === wanted || id === wanted) return 0;
  return name.startsWith(wanted) || id.startsWith(wanted) ? 1 : 2;
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
