import { IconArrowDown, IconArrowUp, IconSelector } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./data-table.module.css";

export interface Column<Row> {
  /** Also the label of the value where a row becomes a card, on a phone. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand on the right. */
  readonly isFigure?: boolean;
  /** The header is for screen readers alone, as above buttons. */
  readonly isHeaderHidden?: boolean;
  /** Not on a phone. */
  readonly isExtra?: boolean;
  /** In pixels. Where any column has one the layout is fixed, and the others share what is left. */
  readonly width?: number;
  /** Where rows are two lines on a phone: its place in them; none: not shown there. */
  readonly place?: "top-start" | "top" | "top-end" | "bottom-start" | "bottom-end";
  /** The rows can be sorted by it. */
  readonly sort?: ColumnSort;
}

interface ColumnSort {
  /** How they are sorted by it now. */
  readonly order: "asc" | "desc" | undefined;
  readonly onSort: () => void;
}

/** The buttons of a row, last in it. */
export const actionsColumn = <Row,>(cell: Column<Row>["cell"]): Column<Row> => ({
  header: "Actions",
  isHeaderHidden: true,
  isFigure: true,
  cell,
});

interface DataTableProps<Row> {
  /** What the table lists, for screen readers: `Keys of this account`. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The first link of a row is where a click anywhere on it goes. */
  readonly isLinked?: boolean;
  /** What a row is on a phone: a card, or two lines of a list that is read at a glance. */
  readonly phone?: "card" | "lines";
  /** Shown instead of no rows at all; else nothing is. */
  readonly empty?: ReactNode;
}

/**
 * A table that is one on a phone too: there each row is a card. The roles are spelled out, since
 * browsers forget them when the layout is no longer a table's.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, isLinked = false, phone = "card", empty } = props;
  const isFixed = columns.some(({ width }) => width !== undefined);
  if (rows.length === 0 && empty !== undefined)
    return typeof empty === "string" ? <p className={classes.empty}>{empty}</p> : empty;
  return (
    <div className={classes.scroll}>
      <table
        className={classes.table}
        role="table"
        aria-label={caption}
        data-linked={isLinked}
        data-fixed={isFixed}
        data-phone={phone}
      >
        {isFixed && (
          <colgroup>
            {columns.map(({ header, width }) => (
              <col key={header} {...(width === undefined ? {} : { width })} />
            ))}
          </colgroup>
        )}
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ header, isFigure, isHeaderHidden, sort }) => (
              <th
                key={header}
                role="columnheader"
                scope="col"
                data-figure={isFigure === true}
                {...(sort === undefined ? {} : { "aria-sort": sortWords[sort.order ?? "none"] })}
              >
                {sort === undefined ? (
                  <span className={isHeaderHidden === true ? classes.hidden : undefined}>
                    {header}
                  </span>
                ) : (
                  <SortButton header={header} sort={sort} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map(({ header, cell, isFigure, isHeaderHidden, isExtra, place }) => (
                <td
                  key={header}
                  role="cell"
                  data-label={isHeaderHidden === true ? undefined : header}
                  data-figure={isFigure === true}
                  data-extra={isExtra === true}
                  data-place={place}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const sortWords = { asc: "ascending", desc: "descending", none: "none" } as const;
const arrows = { asc: IconArrowUp, desc: IconArrowDown, none: IconSelector } as const;

function SortButton({ header, sort }: { readonly header: string; readonly sort: ColumnSort }) {
  const order = sort.order ?? "none";
  const Arrow = arrows[order];
  return (
    <button type="button" className={classes.sort} data-order={order} onClick={sort.onSort}>
      {header}
      <Arrow size={13} aria-hidden="true" />
    </button>
  );
}
