import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import type { Static } from "typebox";
import { parse } from "yaml";
import { Type } from "../base/json/type.ts";

/**
 * The changelog of the API: `docs/api/changes.yaml`, newest first. Whoever calls the API reads it;
 * the product's own is CHANGELOG.md.
 */
const date = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const change = Type.Object(
  {
    date,
    version: Type.String({ pattern: "^v\\d+$" }),
    kind: Type.Enum(["added", "changed", "fixed", "deprecated", "removed", "breaking"]),
    what: Type.String({ minLength: 1 }),
    /** The field (`ChatCompletionRequest.user`) or the operation (`createSpeech`) that goes. */
    target: Type.Optional(Type.String({ minLength: 1 })),
    replacement: Type.Optional(Type.String({ minLength: 1 })),
    removal_date: Type.Optional(date),
    migration: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);

export type Change = Static<typeof change>;

export const changesPath = join(import.meta.dir, "..", "..", "docs", "api", "changes.yaml");

let own: readonly Change[] | undefined;

/** The changes in a text; default: those of this version. */
export function readChanges(text?: string): readonly Change[] {
  if (text === undefined) return (own ??= readChanges(readFileSync(changesPath, "utf8")));
  const changes: unknown = parse(text, { schema: "failsafe" });
  // Compiled once, so nothing of the compiler is kept. Checking the schema itself against the
  // metaschema would take three quarters of the time, and each start of a server waits for it.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
  const isList = ajv.compile<Change[]>(Type.Array(change));
  if (!isList(changes)) {
    const [first] = isList.errors ?? [];
    throw new Error(
      `changes.yaml${first?.instancePath ?? ""} ${first?.message ?? "is not a list"}`,
    );
  }
  const problems = changeProblems(changes);
  if (problems.length > 0) throw new Error(`changes.yaml: ${problems.join("; ")}`);
  return changes;
}

/** What each kind must include, so that callers learn of a removal before a call fails. */
function changeProblems(changes: readonly Change[]): readonly string[] {
  return changes.flatMap((entry, at) => {
    const { kind, what, date: on, target, replacement, removal_date: removal, migration } = entry;
    const found: string[] = [];
    const older = changes[at + 1];
    if (older !== undefined && older.date > on) found.push("is not in newest-first order");
    if (
      kind === "deprecated" &&
      (target === undefined || replacement === undefined || removal === undefined)
    )
      found.push("needs a target, a replacement and a removal_date");
    if (removal !== undefined && removal <= on)
      found.push("has a removal_date that is not after its date");
    if ((kind === "breaking" || kind === "removed") && migration === undefined)
      found.push("needs a migration note");
    if (kind === "removed" && !wasAnnounced(changes.slice(at + 1), entry))
      found.push("was not deprecated first, or is removed before its removal_date");
    return found.map((problem) => `"${what}" ${problem}`);
  });
}

function wasAnnounced(earlier: readonly Change[], { target, date: on }: Change): boolean {
  return earlier.some(
    ({ kind, target: announced, removal_date: removal }) =>
      kind === "deprecated" && announced === target && removal !== undefined && removal <= on,
  );
}

/** As plain text, for terminals and mails. */
export function toChangesText(changes: readonly Change[]): string {
  const entries = changes.map((entry) => {
    const lines = notesOf(entry).map(([name, words]) => `  ${name}: ${words}`);
    return [`${entry.date}  ${entry.version}  ${entry.kind}`, `  ${entry.what}`, ...lines].join(
      "\n",
    );
  });
  return `API changes\n\n${entries.join("\n\n")}\n`;
}

/** An entry's other fields, in reading order. */
export function notesOf(entry: Change): readonly (readonly [string, string])[] {
  const { target, replacement, removal_date: removal, migration } = entry;
  return (
    [
      ["affects", target],
      ["use instead", replacement],
      ["works until", removal],
      ["migration", migration],
    ] as const
  ).flatMap(([name, words]) => (words === undefined ? [] : [[name, words] as const]));
}
