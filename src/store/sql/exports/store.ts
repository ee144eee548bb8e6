import { sql, type Transaction } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import { idFloor, idTimeMs } from "../../../base/ids.ts";
import {
  type Destination,
  formats,
  mostDestinations,
  type Stream,
  streams,
  type Target,
} from "../../../exports/destination.ts";
import {
  type Cursor,
  type ExportedHour,
  type ExportStore,
  type Failed,
  longestRestMs,
  type Span,
  type StreamState,
} from "../../../exports/store.ts";
import { addAudit, toRecord } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import { newestMark } from "../ledger/retention.ts";
import { readMeta } from "../meta.ts";
import type { Db, Tables } from "../schema.ts";

const hourMs = 3_600_000;

export function createExportStore(db: Db, alone: ExportStore["alone"]): ExportStore {
  return { ...destinationsIn(db), ...progressIn(db), ...hoursIn(db), ...rowsIn(db), alone };
}

function destinationsIn(db: Db) {
  const change = (audit: AuditRecord, work: (of: Transaction<Tables>) => Promise<bigint>) =>
    db.transaction().execute(async (transaction) => {
      await lockFor(transaction, "exports");
      const changed = (await work(transaction)) === 1n;
      if (changed) await addAudit(transaction, audit);
      return changed;
    });
  return {
    async list() {
      const rows = await db.selectFrom("exports").selectAll().orderBy("name").execute();
      return rows.map(toDestination);
    },
    add: (destination, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "exports");
        const known = await transaction.selectFrom("exports").select("name").execute();
        if (known.some(({ name }) => name === destination.name)) return false;
        if (known.length >= mostDestinations) return "full" as const;
        await transaction.insertInto("exports").values(fromDestination(destination)).execute();
        await transaction
          .insertInto("export_streams")
          .values(destination.streams.map((stream) => newState(destination, stream)))
          .execute();
        await addAudit(transaction, audit);
        return true;
      }),
    setPaused: (id, pausedAtMs, audit) =>
      change(audit, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("exports")
          .set({ paused_at_ms: pausedAtMs ?? null })
          .where("id", "=", id)
          .where("paused_at_ms", pausedAtMs === undefined ? "is not" : "is", null)
          .executeTakeFirstOrThrow();
        return numUpdatedRows;
      }),
    remove: (id, audit) =>
      change(audit, async (transaction) => {
        for (const table of ["export_hours", "export_streams"] as const)
          await transaction.deleteFrom(table).where("export_id", "=", id).execute();
        const { numDeletedRows } = await transaction
          .deleteFrom("exports")
          .where("id", "=", id)
          .executeTakeFirstOrThrow();
        return numDeletedRows;
      }),
  } satisfies Partial<ExportStore>;
}

const worked = { failures_in_row: 0, failure: null, failing_since_ms: null, retry_at_ms: 0 };

type Of = Pick<StreamState, "destinationId" | "stream">;

function progressIn(db: Db) {
  return {
    async states() {
      const rows = await db
        .selectFrom("export_streams")
        .selectAll()
        .orderBy("export_id")
        .orderBy("stream")
        .execute();
      return rows.map(toState);
    },
    advance: (of, { from, to, rows, atMs, hour }) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("export_streams")
          .set((column) => ({ ...fromCursor(to), rows: column("rows", "+", rows) }))
          .$if(rows > 0, (query) => query.set({ delivered_at_ms: atMs }))
          .set(worked)
          .where("export_id", "=", of.destinationId)
          .where("stream", "=", of.stream)
          .where("hour_ms", "=", from.hourMs)
          .where("part", "=", from.part)
          .where("after_id", "=", from.afterId)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows !== 1n) return false;
        if (hour !== undefined) await putHour(transaction, of, hour);
        return true;
      }),
    async fail(of, { failure, atMs, retryAtMs }: Failed) {
      await db
        .updateTable("export_streams")
        .set((column) => ({
          failures: column("failures", "+", 1),
          failures_in_row: column("failures_in_row", "+", 1),
          failure,
          failing_since_ms: sql<number>`case
            when failing_since_ms is null or failing_since_ms > ${atMs}
              or retry_at_ms < ${atMs - longestRestMs} then ${atMs}
            else failing_since_ms end`,
          retry_at_ms: retryAtMs,
        }))
        .where("export_id", "=", of.destinationId)
        .where("stream", "=", of.stream)
        .execute();
    },
  } satisfies Partial<ExportStore>;
}

function hoursIn(db: Db) {
  return {
    async hours(of, fromMs) {
      return await db
        .selectFrom("export_hours")
        .select(["hour_ms as hourMs", "rows", "known"])
        .where("export_id", "=", of.destinationId)
        .where("stream", "=", of.stream)
        .where("hour_ms", ">=", fromMs)
        .execute();
    },
    setHour: (of, hour, { rows, atMs }) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("export_streams")
          .set((column) => ({ rows: column("rows", "+", rows) }))
          .$if(rows > 0, (query) => query.set({ delivered_at_ms: atMs }))
          .set(worked)
          .where("export_id", "=", of.destinationId)
          .where("stream", "=", of.stream)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 1n) await putHour(transaction, of, hour);
      }),
    async forgetHours(of, most) {
      const oldest = await db
        .selectFrom("export_hours")
        .select("hour_ms")
        .where("export_id", "=", of.destinationId)
        .where("stream", "=", of.stream)
        .orderBy("hour_ms", "desc")
        .offset(most - 1)
        .limit(1)
        .executeTakeFirst();
      if (oldest === undefined) return;
      await db
        .deleteFrom("export_hours")
        .where("export_id", "=", of.destinationId)
        .where("stream", "=", of.stream)
        .where("hour_ms", "<", oldest.hour_ms)
        .execute();
    },
  } satisfies Partial<ExportStore>;
}

function rowsIn(db: Db) {
  return {
    async firstMs(stream, fromMs, toMs) {
      const prefix = prefixes[stream];
      const row = await db
        .selectFrom(stream)
        .select("id")
        .where("id", ">=", idFloor(prefix, fromMs))
        .where("id", "<", idFloor(prefix, toMs))
        .orderBy("id")
        .limit(1)
        .executeTakeFirst();
      return row && idTimeMs(row.id);
    },
    async count(stream, ofMs) {
      const query =
        stream === "receipts"
          ? sql<{ count: number | null }>`select cast(sum(receipts) as bigint) as count
              from rollups where hour_ms = ${ofMs}`
          : sql<{ count: number | null }>`select count(*) as count from audit
              where id >= ${idFloor("audit", ofMs)} and id < ${idFloor("audit", ofMs + hourMs)}`;
      const { rows } = await query.execute(db);
      return rows[0]?.count ?? 0;
    },
    async audit({ fromMs, toMs, afterId }: Span, limit) {
      const rows = await db
        .selectFrom("audit")
        .selectAll()
        .where("id", ">=", idFloor("audit", fromMs))
        .where("id", "<", idFloor("audit", toMs))
        .where("id", ">", afterId)
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },
    storeId: async () => (await readMeta(db, "store_id")) ?? "",
    keptFromMs: () => newestMark(db),
  } satisfies Partial<ExportStore>;
}

const prefixes = { receipts: "req", audit: "audit" } as const;

async function putHour(
  transaction: Transaction<Tables>,
  { destinationId, stream }: Of,
  { hourMs: ofMs, rows, known }: ExportedHour,
): Promise<void> {
  await transaction
    .insertInto("export_hours")
    .values({ export_id: destinationId, stream, hour_ms: ofMs, rows, known })
    .onConflict((conflict) =>
      conflict.columns(["export_id", "stream", "hour_ms"]).doUpdateSet({ rows, known }),
    )
    .execute();
}

const fromCursor = ({ hourMs: ofMs, afterId, part, hourRows }: Cursor) => ({
  hour_ms: ofMs,
  after_id: afterId,
  part,
  hour_rows: hourRows,
});

const newState = ({ id, fromMs }: Destination, stream: Stream): Tables["export_streams"] => ({
  export_id: id,
  stream,
  ...fromCursor({ hourMs: fromMs - (fromMs % hourMs), afterId: "", part: 1, hourRows: 0 }),
  rows: 0,
  delivered_at_ms: null,
  failures: 0,
  failures_in_row: 0,
  failure: null,
  failing_since_ms: null,
  retry_at_ms: 0,
});

const streamOf = (text: string): Stream => streams.find((known) => known === text) ?? "receipts";

const toState = (row: Tables["export_streams"]): StreamState => ({
  destinationId: row.export_id,
  stream: streamOf(row.stream),
  cursor: {
    hourMs: row.hour_ms,
    afterId: row.after_id,
    part: row.part,
    hourRows: row.hour_rows,
  },
  rows: row.rows,
  deliveredAtMs: row.delivered_at_ms ?? undefined,
  failures: row.failures,
  failuresInRow: row.failures_in_row,
  failure: row.failure ?? undefined,
  failingSinceMs: row.failing_since_ms ?? undefined,
  retryAtMs: row.retry_at_ms,
});

const fromDestination = (destination: Destination): Tables["exports"] => ({
  id: destination.id,
  name: destination.name,
  streams: destination.streams.join(","),
  format: destination.format,
  target: JSON.stringify(destination.target),
  from_ms: destination.fromMs,
  created_at_ms: destination.createdAtMs,
  paused_at_ms: destination.pausedAtMs ?? null,
});

function toDestination(row: Tables["exports"]): Destination {
  const named = row.streams.split(",");
  return {
    id: row.id,
    name: row.name,
    streams: streams.filter((stream) => named.includes(stream)),
    format: formats.find((known) => known === row.format) ?? "jsonl",
    target: JSON.parse(row.target) as Target,
    fromMs: row.from_ms,
    createdAtMs: row.created_at_ms,
    pausedAtMs: row.paused_at_ms ?? undefined,
  };
}
