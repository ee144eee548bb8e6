import { sql } from "kysely";
import { DatabaseError } from "pg";
import { readMeta, writeMeta } from "../../sql/meta.ts";
import {
  describeSteps,
  MigrationFailure,
  migrateSchema,
  pendingMigrations,
  type Schema,
  type SchemaStep,
} from "../../sql/migrate.ts";
import type { Db } from "../../sql/schema.ts";
import { deadlines } from "../deadlines.ts";
import { withDeadline } from "../postgres.ts";
import { dataKeys } from "./data-keys.ts";
import { dialect } from "./dialect.ts";
import { exports } from "./exports.ts";
import { identities } from "./identities.ts";
import { foundation } from "./schema.ts";
import { secondFactors } from "./second-factors.ts";
import { storedResponses } from "./stored-responses.ts";

/** A step of the schema. */
interface Step extends SchemaStep {
  /** The newest step of the oldest version that works with the schema behind this step. */
  readonly compatibleFrom: string;
}

export type Steps = Readonly<Record<string, Step>>;

/** In the order of their names. One that has shipped is never changed. */
export const migrations: Steps = {
  "0001-foundation": {
    up: foundation,
    about: "Creates all tables and functions of an empty database.",
    compatibleFrom: "0001-foundation",
  },
  "0002-dialect": {
    up: dialect,
    about:
      "Adds the dialect of a call to receipts and refused requests. Locks both tables for a moment and rewrites nothing.",
    compatibleFrom: "0001-foundation",
  },
  "0003-stored-responses": {
    up: storedResponses,
    about: "Adds stored responses, encrypted.",
    compatibleFrom: "0001-foundation",
  },
  "0004-transcription": {
    up: transcription,
    about: "Adds seconds of audio to receipts. Locks the table for a moment and rewrites nothing.",
    compatibleFrom: "0001-foundation",
  },
  "0005-second-factors": {
    up: secondFactors,
    about:
      "Adds authenticator apps, recovery codes and passkeys, and what a session has proved. Locks the sessions for a moment.",
    compatibleFrom: "0001-foundation",
  },
  "0006-exports": {
    up: exports,
    about: "Adds destinations of exports, and how far each is.",
    compatibleFrom: "0001-foundation",
  },
  "0007-data-keys": {
    up: dataKeys,
    about: "Adds the keys that encrypt and sign, wrapped by the master secret. They stay the same.",
    compatibleFrom: "0001-foundation",
  },
  "0008-identities": {
    up: identities,
    about:
      "Adds the identities of users at an identity provider, and the rights that come from it. Locks users, memberships and sessions for a moment.",
    compatibleFrom: "0001-foundation",
  },
  "0009-change-times": {
    up: changeTimes,
    about:
      "Adds the time to the entries of the change feed. Locks them for a moment: commands that change something wait.",
    compatibleFrom: "0001-foundation",
  },
};

async function changeTimes(db: Db): Promise<void> {
  await sql`alter table changes
    add column changed_at timestamptz not null default clock_timestamp()`.execute(db);
}

/** Seconds of audio on receipts, and in their holds; null where a call has none. */
async function transcription(db: Db): Promise<void> {
  for (const name of ["audio_second", "hold_audio_seconds"])
    await sql`alter table receipts add column ${sql.ref(name)} bigint`.execute(db);
}

/** `svc migrate`: brings the schema up to date; the names of what this call has applied. */
export const migrate = (db: Db, known = migrations) => migrateAlone(db, schemaOf(known));

/**
 * A start: the same, but a process of an older version also starts on a newer schema, if it can work
 * with it. In the middle of an upgrade, machines of both versions restart (README.md).
 */
export const migrateAtStart = (db: Db, known = migrations) => migrateAlone(db, startSchema(known));

/** A reader migrates nothing, and reads what a start would work with. */
export async function refuseNewer(db: Db): Promise<void> {
  await pendingMigrations(db, startSchema(migrations));
}

const startSchema = (known: Steps): Schema => ({
  ...schemaOf(known),
  worksOnNewer: (db) => worksOnNewer(db, known),
});

/** What `migrate` would apply. */
export const pendingOf = (db: Db, known = migrations) => pendingMigrations(db, schemaOf(known));

/** What a start would apply, described. */
export const describePending = async (db: Db, known = migrations) =>
  describeSteps(db, await pendingMigrations(db, startSchema(known)), known);

/** The newest schema that this version knows. */
export const newestSchema = Object.keys(migrations).at(-1) ?? "";

const schemaOf = (steps: Steps): Schema => ({
  known: recorded(steps),
  setting: "SVC_DATABASE_URL",
  hasAny: async (db: Db) => {
    const found = await sql`select 1 where to_regclass('kysely_migration') is not null`.execute(db);
    return found.rows.length > 0;
  },
});

/**
 * Each step leaves in the database which versions work with it: older versions do not know the step,
 * so they have to read it there. No version is older than the first step.
 */
function recorded(steps: Steps): Schema["known"] {
  let compatibleFrom = "";
  const entries = Object.entries(steps).map(([name, step], at) => {
    if (step.compatibleFrom > compatibleFrom) ({ compatibleFrom } = step);
    const needed = compatibleFrom;
    const up = async (db: Db) => {
      await step.up(db);
      if (at === 0) return;
      // It may have been raised since: data keys that older versions do not know (sql/data-keys.ts).
      const known = (await readMeta(db, "schema_compatible_from")) ?? "";
      if (known < needed) await writeMeta(db, "schema_compatible_from", needed);
    };
    return [name, { ...step, up }] as const;
  });
  return Object.fromEntries(entries);
}

async function worksOnNewer(db: Db, known: Steps): Promise<boolean> {
  const needed = await readMeta(db, "schema_compatible_from");
  return needed !== undefined && Object.keys(known).some((name) => name >= needed);
}

function migrateAlone(db: Db, schema: Schema): Promise<readonly string[]> {
  const patient = withDeadline(db, deadlines.unlimited);
  return patient.connection().execute(async (connection) => {
    // A migration takes as long as it takes, and so does waiting for the process that migrates.
    const { rows: before } = await sql<{ name: string; value: string }>`
      select name, current_setting(name) as value from unnest(${timeouts}::text[]) as name`.execute(
      connection,
    );
    for (const name of timeouts) await sql.raw(`set ${name} = 0`).execute(connection);
    try {
      return await migrateBesideCalls(connection, schema);
    } finally {
      for (const { name, value } of before)
        await sql`select set_config(${name}, ${value}, false)`.execute(connection);
    }
  });
}

/**
 * A step locks several tables, and calls that are served meanwhile use them in another order. Of a
 * deadlock the database ends one side: where that is the migration, nothing of it is left, and it
 * begins again.
 */
async function migrateBesideCalls(db: Db, schema: Schema): Promise<readonly string[]> {
  for (let left = deadlocks; ; left--)
    try {
      return await migrateSchema(db, schema);
    } catch (error) {
      if (left === 0 || !isDeadlock(error)) throw error;
    }
}

const deadlocks = 20;

function isDeadlock(error: unknown): boolean {
  const cause = error instanceof MigrationFailure ? error.cause : error;
  return cause instanceof DatabaseError && cause.code === "40P01";
}

const timeouts = ["statement_timeout", "idle_in_transaction_session_timeout"];
