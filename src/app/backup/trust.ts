import type { OpenBackup } from "../../backup/reader.ts";
import { Problem } from "../../base/problem.ts";
import { removedKind } from "../../base/removed-kind.ts";
import {
  fileOf,
  type OutsideUse,
  outsideUseText,
  receiverOf,
  referenceSource,
} from "../../manifest/outside-uses.ts";
import type { MasterKey } from "../../secrets/master-key.ts";
import { type ForeignContents, readForeign } from "../../store/sqlite/backup/contents.ts";

/** How many lines a refusal shows, those about commands and files first. */
const mostLines = 50;
const longestLine = 300;

/**
 * Refuses a database that another person may have written. Only the master secret shows who wrote a
 * backup, if this machine had it before: a passphrase and a secret may come from the stranger who
 * sent the file. Rows could run commands, read files, send variables and stored keys and let any user
 * in, so the operator reads what they name and consents with a flag. A program of SQLite in it is
 * refused in any case: no gateway writes one. True if this machine's secret shows who wrote it.
 */
export async function checkTrust(options: {
  readonly path: string;
  readonly name: string;
  readonly backup: OpenBackup;
  /** Of this machine, and not of the backup. */
  readonly master: MasterKey | undefined;
  readonly trusts: boolean;
}): Promise<boolean> {
  const { path, name, backup, master, trusts } = options;
  const found = await readForeign(path);
  const [program] = found.programs;
  if (program !== undefined)
    throw new Problem({
      code: "failed",
      message: `${name} was changed by another program: its database has the ${program}, which no gateway writes. Use another backup.`,
    });
  const { mark, sha256 } = backup.end;
  const isOwn = mark !== undefined && master?.backupMark(sha256) === mark;
  if (trusts || isOwn) return isOwn;
  const lines = linesOf(found).map((line) => `  ${shownLine(line)}`);
  const more = lines.length - mostLines;
  const shown = lines.slice(0, mostLines);
  if (more > 0) shown.push(`  and ${more} more`);
  const what =
    lines.length === 0
      ? "Its rows name nothing outside of it. "
      : `Its database says:\n${shown.join("\n")}\n`;
  const why =
    master === undefined
      ? "this machine does not have the master secret of the backup, which would show it"
      : "it is from an earlier version, or was changed";
  throw new Problem({
    code: "failed",
    message: `${name} does not show who wrote it: ${why}. ${what}If you know who wrote it, restore it with --trust.`,
  });
}

/** No character may hide another, or what follows. */
function shownLine(line: string): string {
  const plain = line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return plain.length > longestLine
    ? `${plain.slice(0, longestLine)}… (${plain.length} characters)`
    : plain;
}

/** The worst first: a long list must not hide them. */
function linesOf(found: ForeignContents): readonly string[] {
  const uses = found.providers.flatMap(usesOf);
  const ofMachine = uses.filter(({ source }) => source !== "variable");
  const variables = uses.filter(({ source }) => source === "variable");
  const counted = (count: number, text: string) => (count === 0 ? [] : [`${text}: ${count}`]);
  return [
    ...ofMachine.map(outsideUseText),
    ...found.operators.map((email) => `${email} administers the gateway`),
    ...found.exports.map((one) => `export ${one.name} goes to ${one.target}`),
    ...variables.map(outsideUseText),
    ...found.providers
      .filter(({ kind }) => kind !== removedKind)
      .map(
        (row) => `provider ${row["name"]} sends prompts and any stored keys to ${rowReceiver(row)}`,
      ),
    ...counted(found.keys, "API keys that work"),
    ...counted(found.people, "other users, who sign in as in the backup"),
    ...found.strange.map((one) => `the ${one} is not as a gateway creates it`),
  ];
}

type Row = ForeignContents["providers"][number];

const rowReceiver = ({ kind, base_url: address }: Row) =>
  receiverOf({ kind, ...(address === "" ? {} : { base_url: String(address) }) });

/** As the row has it, also what svc.yaml could not have. */
function usesOf(row: Row): readonly OutsideUse[] {
  const { name, api_key: key, keys, options } = row;
  const listed = parsed(keys);
  const secrets = Array.isArray(listed) ? listed.map((one) => fieldOf(one, "secret")) : [];
  const all = [
    ...[parsed(key), ...secrets].map((secret) => ["key", secret] as const),
    ...Object.entries(parsed(options) ?? {}),
  ];
  return all.flatMap(([field, stored]) => {
    const [variable, text] = [fieldOf(stored, "variable"), fieldOf(stored, "text")];
    const found =
      variable === undefined
        ? fileOf(field, String(text ?? ""))
        : referenceSource(String(variable));
    return found === undefined || found.name === ""
      ? []
      : [{ provider: String(name), ...found, receiver: rowReceiver(row) }];
  });
}

function parsed(text: unknown): object | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
