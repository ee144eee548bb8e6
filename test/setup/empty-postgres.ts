import { Client } from "pg";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createDatabase, onDrop } from "./postgres.ts";

/** What a template holds that a used database gets back. */
interface Template {
  readonly name: string;
  /** Whether the schema is still the same. */
  readonly schema: string;
  readonly tables: readonly string[];
  /** Statements that insert the rows of a new database, and restart its sequences. */
  readonly refill: string;
}

interface Reused {
  readonly url: string;
  /** It stays connected: a new connection would read the whole catalog again. */
  readonly client: Client;
}

/**
 * Databases that tests get and give back. Creating one takes longer than most tests, so that those
 * given back are emptied and used again, unless a test has changed their schema.
 */
export class ReusedDatabases {
  readonly #prepare: (postgres: Postgres) => Promise<unknown>;
  #template: Promise<Template> | undefined;
  readonly #free: Reused[] = [];

  constructor(prepare: (postgres: Postgres) => Promise<unknown>) {
    this.#prepare = prepare;
  }

  /** One with the template's tables and rows. `dropDatabase` gives it back. */
  async take(): Promise<string> {
    this.#template ??= createTemplate(this.#prepare);
    const template = await this.#template;
    const database = this.#free.pop() ?? (await create(template));
    onDrop(database.url, () => this.#giveBack(template, database));
    return database.url;
  }

  /** Whether it can be used again; otherwise it is to be dropped. */
  async #giveBack(template: Template, database: Reused): Promise<boolean> {
    // A test may have ended its connections, this one too.
    const isEmpty = await empty(template, database).catch(() => false);
    if (isEmpty) this.#free.push(database);
    else {
      await database.client.end();
      await warm.get(database.url)?.close();
      warm.delete(database.url);
    }
    return isEmpty;
  }
}

const migrated = new ReusedDatabases(({ db }) => migrate(db));

const warm = new Map<string, Postgres>();

/**
 * Connections to a reused database that stay open from test to test: a new one plans every statement
 * again. Closing them does nothing.
 */
export async function openWarm(url: string): Promise<Postgres> {
  const postgres = warm.get(url) ?? (await openPostgres({ url, name: warmName }));
  warm.set(url, postgres);
  return { ...postgres, close: async () => {} };
}

/** A database with all tables, as a migration leaves it. */
export const createMigratedDatabase = (): Promise<string> => migrated.take();

async function createTemplate(prepare: (postgres: Postgres) => Promise<unknown>) {
  const url = await createDatabase();
  const postgres = await openPostgres({ url, connections: 1 });
  await prepare(postgres);
  const { pool } = postgres;
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const refill: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ rows: string | null }>(
      `select json_agg(t)::text as rows from ${name} t`,
    );
    const [found] = rows;
    if (found?.rows !== null && found !== undefined)
      refill.push(
        `insert into ${name} select * from json_populate_recordset(null::${name}, $j$${found.rows}$j$)`,
      );
  }
  const sequences = await pool.query<{ restart: string }>(
    `select format('select setval(%L, %s, false)', sequencename, start_value) as restart
      from pg_sequences where schemaname = 'public'`,
  );
  refill.push(...sequences.rows.map(({ restart }) => restart));
  const schema = await pool.query<{ schema: string }>(`select ${schemaSql} as schema`);
  await postgres.close();
  return {
    name: new URL(url).pathname.slice(1),
    schema: schema.rows[0]?.schema ?? "",
    tables: tables.rows.map(({ name }) => name),
    refill: refill.join("; "),
  };
}

async function create(template: Template): Promise<Reused> {
  const url = await createDatabase(template.name);
  const client = new Client({ connectionString: url });
  // The process may end the server first.
  client.on("error", () => {});
  await client.connect();
  return { url, client };
}

/** Changes with every change of the schema: each writes rows of the catalog. */
const schemaSql = `(select string_agg(concat(number, ' ', newest), ',') from (
    select count(*) as number, max(xmin::text::bigint) as newest from pg_attribute
    union all select count(*), max(xmin::text::bigint) from pg_proc
    union all select count(*), max(xmin::text::bigint) from pg_constraint
    union all select count(*), max(xmin::text::bigint) from pg_trigger
    union all select count(*), sum(hashtext(relname)) from pg_class
    union all select count(*), 0 from pg_db_role_setting
  ) as catalogs)`;

/** Of connections that stay, where they do nothing. */
const warmName = "warm";

/** Where a table has become as large as this, deleted rows would slow down later tests. */
const largeBytes = 256 * 1024;

/** Whether it is as new. */
async function empty(template: Template, { client }: Reused): Promise<boolean> {
  await endConnections(client);
  const found = template.tables.map(
    (name) => `case when pg_relation_size('${name}') > ${largeBytes} then 'truncate ${name} cascade'
      when exists (select from ${name}) then 'delete from ${name}' end`,
  );
  const { rows } = await client.query<{ schema: string; clearing: string }>({
    name: "used",
    text: `select ${schemaSql} as schema, concat_ws('; ', ${found.join(", ")}) as clearing`,
  });
  const [used] = rows;
  if (used?.schema !== template.schema) return false;
  // As a replica it checks no references between the tables.
  await client.query(
    `begin; set local session_replication_role = replica; ${used.clearing}; ${template.refill}; commit`,
  );
  return true;
}

/** Those of closed pools may still be ending, and what they do is to be over. */
async function endConnections(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ pid: number }>({
      name: "connections",
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where datid = (select oid from pg_database where datname = current_database())
          and pid <> pg_backend_pid() and backend_type = 'client backend'
          and not (application_name = '${warmName}' and state = 'idle')`,
    });
    if (rows.length === 0) return;
  }
}
