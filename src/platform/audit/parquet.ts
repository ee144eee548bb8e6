import type { AuditRecord } from "../../base/audit.ts";
import type { RowEncoder } from "../../exports/part.ts";
import { columnsEncoder, type SchemaElement } from "../requests/export/parquet-columns.ts";

const text = (name: string, read: (record: AuditRecord) => string | null) => ({
  element: {
    name,
    type: "BYTE_ARRAY",
    converted_type: "UTF8",
    repetition_type: "OPTIONAL",
  } satisfies SchemaElement,
  read,
});

/** The fields of JSON lines; `detail` is JSON text. */
export const auditParquet = (): RowEncoder<AuditRecord> =>
  columnsEncoder({
    name: "audit",
    columns: [
      text("id", ({ id }) => id),
      {
        element: {
          name: "at",
          type: "INT64",
          converted_type: "TIMESTAMP_MILLIS",
          repetition_type: "OPTIONAL",
        },
        read: ({ atMs }: AuditRecord) => BigInt(atMs),
      },
      text("actor_kind", ({ actor }) => actor.kind),
      text("actor_id", ({ actor }) => actor.id),
      text("actor", ({ actor }) => actor.name),
      text("address", ({ address }) => address),
      text("account_id", ({ accountId }) => accountId ?? null),
      text("action", ({ action }) => action),
      text("subject", ({ subject }) => subject),
      text("detail", ({ detail }) => JSON.stringify(detail)),
    ],
    toRow: (record: AuditRecord) => record,
  });
