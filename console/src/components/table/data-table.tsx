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
  /** Shown instead of no rows at all; else nothing is. */
  readonly empty?: ReactNode;
}

/**
 * A table that is one on a phone too: there each row is a card. The roles are spelled out, since
 * browsers forget them when the layout is no longer a table's.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, isLinked = false, empty } = props;
  if (rows.length === 0 && empty !== undefined)
    return typeof empty === "string" ? <p className={classes.empty}>{empty}</p> : empty;
  return (
    <div className={classes.scroll}>
      <table className={classes.table} role="table" aria-label={caption} data-linked={isLinked}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ header, isFigure, isHeaderHidden }) => (
              <th key={header} role="columnheader" scope="col" data-figure={isFigure === true}>
                <span className={isHeaderHidden === true ? classes.hidden : undefined}>
                  {header}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map(({ header, cell, isFigure, isHeaderHidden, isExtra }) => (
                <td
                  key={header}
                  role="cell"
                  data-label={isHeaderHidden === true ? undefined : header}
                  data-figure={isFigure === true}
                  data-extra={isExtra === true}
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
