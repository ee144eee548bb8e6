import { Type } from "../../base/json/type.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";

const streamReply = Type.Object({
  stream: oneOf(["receipts", "audit"]),
  exported_to: moment("Everything from before this hour was delivered."),
  rows: Type.Integer({ description: "Rows that were delivered, repetitions included." }),
  lag_s: Type.Integer({ description: "For how long the next hour has been due; 0: none is." }),
  ahead_s: Type.Integer({
    description:
      "How far its position is in the future, because a clock was wrong; 0: it is right.",
  }),
  delivered_at: nullable(moment("When the last part was delivered.")),
  failures: Type.Integer({ description: "Failed attempts in total." }),
  failure: nullable(Type.String({ description: "Why the last attempt failed; null: it worked." })),
  retry_at: nullable(moment("When the next attempt is due after a failed one.")),
});

export const exportReply = Type.Object({
  name: Type.String(),
  state: oneOf(["running", "paused", "failing"]),
  to: Type.String({ description: "Where it goes. Secrets are never part of it." }),
  format: oneOf(["jsonl", "parquet"]),
  from: nullable(moment("Rows from before this hour are not exported; null: all are.")),
  created_at: moment(),
  settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean()]), {
    description: "What else was set; secrets as the references that were given.",
  }),
  streams: Type.Array(streamReply),
});
export type ExportView = View<typeof exportReply>;
export type ExportStreamView = ExportView["streams"][number];

export interface ExportsView {
  readonly exports: readonly ExportView[];
}

export interface RanView {
  /** Delivered by this run. */
  readonly rows: number;
  readonly export: ExportView;
}
