import { useCallback, useRef, useState } from "react";
import { rowRange, withRows } from "../../../../components/table/row-range.ts";
import type { Proposal, RowChange } from "./pricing.ts";

export interface Click {
  readonly isChosen: boolean;
  /** Also all rows between the last one that was clicked and this one. */
  readonly isRange: boolean;
}

/** What is chosen, what was changed of it, and the row whose fields are shown. */
export function useChoice(shown: readonly Proposal[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [changes, setChanges] = useState<ReadonlyMap<string, RowChange>>(new Map());
  const [open, setOpen] = useState<string>();
  const last = useRef<string>(undefined);
  // Read when a row is clicked: rows are drawn again only where something of theirs changes.
  const rows = useRef(shown);
  rows.current = shown;
  const choose = useCallback((upstream: string, { isChosen, isRange }: Click) => {
    const ids = rows.current.map((one) => one.upstream);
    const some = isRange ? rowRange(ids, { last: last.current, to: upstream }) : [upstream];
    last.current = upstream;
    setChosen((old) => withRows(old, some, isChosen));
  }, []);
  const edit = useCallback((upstream: string, change: RowChange) => {
    setChanges((old) => new Map(old).set(upstream, change));
    setChosen((old) => withRows(old, [upstream], true));
  }, []);
  const toggle = useCallback(
    (upstream: string) => setOpen((old) => (old === upstream ? undefined : upstream)),
    [],
  );
  return { chosen, setChosen, changes, open, setOpen, choose, edit, toggle };
}
