import { type Kysely, sql } from "kysely";
import {
  describeSteps,
  type Migrations,
  migrateSchema,
  pendingMigrations,
} from "../../sql/migrate.ts";
import type { Db } from "../../sql/schema.ts";
import { dataKeys } from "./data-keys.ts";
import { dialect } from "./dialect.ts";
import { exports } from "./exports.ts";
import { identities } from "./identities.ts";
import { keyStates } from "./key-states.ts";
import { keys } from "./keys.ts";
import { knownCharges } from "./known-charges.ts";
import { money } from "./money.ts";
import { people } from "./people.ts";
import { preferences } from "./preferences.ts";
import { providerKeys } from "./provider-keys.ts";
import { rejections } from "./rejections.ts";
import { retention } from "./retention.ts";
import { secondFactors } from "./second-factors.ts";
import { storedResponses } from "./stored-responses.ts";
import { usage } from "./usage.ts";
import { versions } from "./versions.ts";

/** In the order of their names. One that has shipped is never changed. */
const migrations: Migrations = {
  "0001-foundation": {
    up: foundation,
    about: "Adds accounts, keys, providers, models and the change feed.",
  },
  "0002-money": {
    up: money,
    about:
      "Adds prices with versions, entries and receipts. Moves the prices of models into their own table.",
    rewrites: ["models", "accounts"],
  },
  "0003-providers": {
    up: providers,
    about: "Adds the options of providers and the timeouts of models.",
  },
  "0004-usage": {
    up: usage,
    about: "Adds sums per day and in total, computed from the hourly sums.",
    rewrites: ["rollups"],
  },
  "0005-keys": {
    up: keys,
    about: "Adds the previous secrets of keys, and when keys were last used.",
  },
  "0006-people": {
    up: people,
    about: "Adds people, sessions, invitations, API tokens, memberships and the audit log.",
  },
  "0007-versions": {
    up: versions,
    about: "Adds versions of limits and of vendor costs.",
    rewrites: ["accounts", "keys", "models"],
  },
  "0008-sessions": {
    up: endSessions,
    about: "Ends all console sessions. Everybody signs in again.",
    rewrites: ["sessions"],
  },
  "0009-context-length": {
    up: contextLength,
    about: "Adds the context length of models.",
  },
  "0010-attempts": {
    up: attempts,
    about: "Adds the only attempt of a call to its receipt.",
  },
  "0011-origin": {
    up: origin,
    about: "Adds where providers and models come from: the config file, or a command.",
  },
  "0012-rejections": {
    up: rejections,
    about: "Adds refused requests, and their sums per minute and hour.",
  },
  "0013-provider-keys": {
    up: providerKeys,
    about: "Adds several keys per provider, and the checks and failures of targets.",
  },
  "0014-aliases": {
    up: aliases,
    about: "Adds aliases and the removal of models.",
  },
  "0015-preferences": {
    up: preferencesAndMargin,
    about:
      "Adds preferences and saved views. Adds the charges with a known vendor cost to all sums.",
    rewrites: ["rollups", "rollup_days", "rollup_totals"],
  },
  "0016-keys": {
    up: keyStates,
    about: "Adds paused keys, who created a key, and whether a reply was streamed.",
  },
  "0017-retention": {
    up: retention,
    about: "Adds how many days receipts are kept.",
  },
  "0018-dialect": {
    up: dialect,
    about: "Adds the dialect of a call to receipts and refused requests.",
  },
  "0019-stored-responses": {
    up: storedResponses,
    about: "Adds stored responses, encrypted.",
  },
  "0020-transcription": {
    up: transcription,
    about: "Adds seconds of audio to receipts.",
  },
  "0021-second-factors": {
    up: secondFactors,
    about: "Adds authenticator apps, recovery codes and passkeys, and what a session has proved.",
  },
  "0022-exports": {
    up: exports,
    about: "Adds destinations of exports, and how far each is.",
  },
  "0023-data-keys": {
    up: dataKeys,
    about: "Adds the keys that encrypt and sign, wrapped by the master secret. They stay the same.",
  },
  "0024-identities": {
    up: identities,
    about:
      "Adds the identities of users at an identity provider, and the rights that come from it.",
  },
};

/** The same, described. */
export const describePending = async (db: Db, known = migrations) =>
  describeSteps(db, await pendingOf(db, known), known);

/** The newest schema that this version knows. */
export const newestSchema = Object.keys(migrations).at(-1) ?? "";

/** What this version does not know of a schema, and what the schema lacks. */
export const compareSchema = (names: readonly string[], known = migrations) => ({
  unknown: names.filter((name) => known[name] === undefined),
  lacking: Object.keys(known).filter((name) => !names.includes(name)),
});

const schemaOf = (known: Migrations) => ({
  known,
  setting: "SVC_DATA_DIR",
  hasAny: async (db: Db) => {
    const found = await sql`select 1 from sqlite_master
      where type = 'table' and name = 'kysely_migration'`.execute(db);
    return found.rows.length > 0;
  },
});

/** Brings the schema up to date; the names of what this call has applied. */
export const migrate = (db: Db, known = migrations) => migrateSchema(db, schemaOf(known));

/** Gives an empty database the schema that these migrations leave. */
export const schemaAfter = (db: Db, names: readonly string[]) =>
  migrate(
    db,
    Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name))),
  );

/** What `migrate` would apply. */
export const pendingOf = (db: Db, known = migrations) => pendingMigrations(db, schemaOf(known));

async function providers(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("providers").addColumn("options", "text").execute();
  await db.schema.alterTable("models").addColumn("timeouts", "text").execute();
}

/** Sessions of before cannot be opened any more: browsers' are bound to the console now. */
async function endSessions(db: Kysely<unknown>): Promise<void> {
  await sql`delete from sessions`.execute(db);
}

async function foundation(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("meta")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("accounts")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull().unique())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull().unique())
    .addColumn("hint", "text", (column) => column.notNull())
    .addColumn("models", "text")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint")
    .addColumn("revoked_at_ms", "bigint")
    .execute();
  await db.schema
    .createTable("providers")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("base_url", "text", (column) => column.notNull())
    .addColumn("api_key", "text")
    .addColumn("allow_private", "integer", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("models")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("endpoint", "text", (column) => column.notNull())
    .addColumn("input", "text", (column) => column.notNull())
    .addColumn("owned_by", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("max_output_tokens", "integer")
    .addColumn("price", "text")
    .addColumn("routes", "text", (column) => column.notNull())
    .addColumn("deprecated_at_ms", "bigint")
    .addColumn("retires_at_ms", "bigint")
    .addColumn("replacement", "text")
    .execute();
  await db.schema
    .createTable("feed")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("changes")
    .addColumn("sequence", "bigint", (column) => column.primaryKey())
    .addColumn("topic", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .execute();
  await db
    .withTables<{ feed: { id: number; sequence: number } }>()
    .insertInto("feed")
    .values({ id: 1, sequence: 0 })
    .execute();
}

/** Seconds of audio on receipts, and in their holds; null where a call has none. */
async function transcription(db: Kysely<unknown>): Promise<void> {
  for (const name of ["audio_second", "hold_audio_seconds"])
    await db.schema.alterTable("receipts").addColumn(name, "bigint").execute();
}

/** The margin of calls with a known cost came with the preferences. */
async function preferencesAndMargin(db: Kysely<unknown>): Promise<void> {
  await preferences(db);
  await knownCharges(db);
}

async function contextLength(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("models").addColumn("context_length", "integer").execute();
}

/** The only attempt of a call that was served; what is there stays as it is. */
async function attempts(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("receipts").addColumn("upstream_model", "text").execute();
  await db.schema.alterTable("receipts").addColumn("attempt_started_ms", "bigint").execute();
}

/** What is there may have come from a file: the first one that is applied adopts what it names. */
async function origin(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("providers").addColumn("origin", "text").execute();
  await db.schema.alterTable("models").addColumn("origin", "text").execute();
  await sql`insert into meta (key, value) select 'manifest_adopts', 'yes'
    where exists (select 1 from providers) or exists (select 1 from models)`.execute(db);
}

/** Models get aliases, and those that were never called can be removed. */
async function aliases(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("models").addColumn("aliases", "text").execute();
  await db.schema.alterTable("models").addColumn("removed_at_ms", "bigint").execute();
  await db.schema
    .alterTable("models")
    .addColumn("prices_after", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
}
