import type { Database } from "bun:sqlite";

interface AuditRow {
  readonly id: string;
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly subject: string;
  readonly account_id: string | null;
  readonly detail: string;
}

/** The audit log as the database has it, the oldest first. */
export const auditRows = (database: Database) =>
  database.query<AuditRow, []>("select * from audit order by id").all();

/** Every table, row by row, but those that change without anybody's doing. */
export function contentsOf(database: Database): unknown {
  const moving = ["key_uses", "meta", "rollups", "rollup_days", "totals"];
  return database
    .query<{ name: string }, []>("select name from sqlite_master where type = 'table' order by 1")
    .all()
    .filter(({ name }) => !moving.includes(name))
    .map(({ name }) => [name, database.query(`select * from "${name}"`).all()]);
}
