import type { ChangeEvent } from "react";

/** The rows from the last one that was clicked to this one; only this one where there is no last. */
export function rowRange(
  rows: readonly string[],
  ends: { readonly last: string | undefined; readonly to: string },
): readonly string[] {
  const places = [ends.last, ends.to].map((end) => rows.findIndex((row) => row === end));
  const [from = -1, to = -1] = places.toSorted((one, other) => one - other);
  return from === -1 ? [ends.to] : rows.slice(from, to + 1);
}

/** Whether Shift was held when a checkbox was clicked. */
export const isShiftHeld = ({ nativeEvent }: ChangeEvent) =>
  "shiftKey" in nativeEvent && nativeEvent.shiftKey === true;

/** With these rows chosen, or no longer. */
export function withRows(
  chosen: ReadonlySet<string>,
  rows: readonly string[],
  isChosen: boolean,
): ReadonlySet<string> {
  const next = new Set(chosen);
  for (const row of rows)
    if (isChosen) next.add(row);
    else next.delete(row);
  return next;
}
