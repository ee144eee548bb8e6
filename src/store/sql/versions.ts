import { readMeta, writeMeta } from "./meta.ts";
import type { Db } from "./schema.ts";

/** A version of svc that used the database, from when on, and with which schema. */
export interface UsedVersion {
  readonly version: string;
  /** The newest migration at that time. */
  readonly schema: string;
  readonly atMs: number;
}

/** More would say nothing new. */
const maxKept = 20;

/** The oldest first; none where only versions used the database that did not note themselves. */
export async function readVersions(db: Db): Promise<readonly UsedVersion[]> {
  const text = await readMeta(db, "versions");
  const list: unknown = text === undefined ? [] : JSON.parse(text);
  return Array.isArray(list) ? list.filter(isUsedVersion) : [];
}

/** Notes the version that uses the database now, if it is not the one that was noted last. */
export async function noteVersion(db: Db, used: UsedVersion): Promise<void> {
  const known = await readVersions(db);
  const last = known.at(-1);
  if (last?.version === used.version && last.schema === used.schema) return;
  await writeMeta(db, "versions", JSON.stringify([...known, used].slice(-maxKept)));
}

function isUsedVersion(value: unknown): value is UsedVersion {
  if (typeof value !== "object" || value === null) return false;
  if (!("version" in value && "schema" in value && "atMs" in value)) return false;
  const { version, schema, atMs } = value;
  return typeof version === "string" && typeof schema === "string" && typeof atMs === "number";
}
