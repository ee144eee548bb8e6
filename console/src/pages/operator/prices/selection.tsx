import { Button, Checkbox } from "@mantine/core";
import { useRef, useState } from "react";
import type { Reply } from "../../../api.ts";
import { Dialog } from "../../../components/form/dialog.tsx";
import type { Column } from "../../../components/table/data-table.tsx";
import { isShiftHeld, rowRange, withRows } from "../../../components/table/row-range.ts";
import { isInFile } from "../catalog/source.tsx";
import { BulkPrices } from "./bulk-dialog.tsx";
import classes from "./page.module.css";

type Entry = Reply<"GET /api/catalog">[number];

/** Models whose prices a file sets cannot be chosen. */
const isFree = (entry: Entry) => entry.status !== "retired" && !isInFile(entry, "price");

/** Rows that are chosen for a change of their prices. */
export function usePriceSelection(shown: readonly Entry[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const free = shown.filter(isFree).map(({ id }) => id);
  const chosen = shown.filter((entry) => ids.has(entry.id) && isFree(entry));
  const column: Column<Entry> = {
    header: "Select",
    isHeaderHidden: true,
    cell: (entry) => (
      <Checkbox
        className={classes["chooser"] ?? ""}
        aria-label={`Select ${entry.id}`}
        checked={ids.has(entry.id) && isFree(entry)}
        disabled={!isFree(entry)}
        onChange={(event) => {
          const ends = { last: last.current, to: entry.id };
          const rows = isShiftHeld(event) ? rowRange(free, ends) : [entry.id];
          last.current = entry.id;
          setIds(withRows(ids, rows, event.currentTarget.checked));
        }}
      />
    ),
  };
  const clear = () => setIds(new Set());
  const chooseAll = () => setIds(new Set(free));
  return { chosen, column, clear, chooseAll };
}

/** What can be done with the chosen rows. */
export function SelectionBar({ of }: { readonly of: ReturnType<typeof usePriceSelection> }) {
  const { chosen, clear, chooseAll } = of;
  const [isPricing, setPricing] = useState(false);
  return (
    <div className={classes["bar"]}>
      <Button size="compact-sm" variant="default" onClick={chooseAll}>
        Select all shown
      </Button>
      {chosen.length > 0 && (
        <>
          <span role="status">{chosen.length} selected</span>
          <Button size="compact-sm" onClick={() => setPricing(true)}>
            Set prices
          </Button>
          <Button size="compact-sm" variant="subtle" color="gray" onClick={clear}>
            Clear
          </Button>
        </>
      )}
      <Dialog of={isPricing} onClose={() => setPricing(false)} size="xl">
        {() => <BulkPrices entries={chosen} onDone={clear} />}
      </Dialog>
    </div>
  );
}
