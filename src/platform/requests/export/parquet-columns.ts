import { ByteWriter, type ColumnSource, ParquetWriter } from "hyparquet-writer";
import type { RowEncoder } from "../../../exports/part.ts";

export type SchemaElement = ParquetWriter["schema"][number];

/** A table of flat rows. Each call of `add` is a row group. */
export function columnsEncoder<Row, Cells>({
  name,
  columns,
  toRow,
}: {
  readonly name: string;
  readonly columns: readonly {
    readonly element: SchemaElement;
    readonly read: (cells: Cells) => unknown;
  }[];
  readonly toRow: (row: Row) => Cells;
}): RowEncoder<Row> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    createdBy: "svc-gateway",
    schema: [{ name, num_children: columns.length }, ...columns.map(({ element }) => element)],
  });
  /** What was written since the last time. The writer goes on counting where it is in the file. */
  const take = () => {
    const taken = new Uint8Array(bytes.buffer, 0, bytes.index).slice();
    bytes.index = 0;
    return taken;
  };
  return {
    begin: take,
    add(given) {
      const rows = given.map(toRow);
      const columnData = columns.map(
        ({ element, read }): ColumnSource => ({ name: element.name, data: rows.map(read) }),
      );
      void writer.write({ columnData, rowGroupSize: rows.length });
      return take();
    },
    end() {
      void writer.finish();
      return take();
    },
  };
}
