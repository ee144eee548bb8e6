import { isEncrypted } from "../../backup/protection.ts";
import type { OpenBackup } from "../../backup/reader.ts";
import { Problem } from "../../base/problem.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { outsideUses, outsideUseText } from "../../manifest/outside-uses.ts";
import type { MasterKey } from "../../secrets/master-key.ts";
import { readForeign } from "../../store/sqlite/backup/contents.ts";

/** How many lines of each sort a refusal shows. */
const mostLines = 20;

/**
 * Refuses a database that another person may have written. A passphrase or the master secret shows who
 * wrote a backup; without both, its rows could run commands, read files, send variables and let
 * any user in, so the operator reads what it names and consents with a flag. A program of SQLite in it
 * is refused in any case: no gateway writes one.
 */
export function checkTrust(options: {
  readonly path: string;
  readonly name: string;
  readonly backup: OpenBackup;
  readonly master: MasterKey | undefined;
  readonly trusts: boolean;
}): void {
  const { path, name, backup, master, trusts } = options;
  const { programs, providers, exports, operators } = readForeign(path);
  if (programs.length > 0)
    throw new Problem({
      code: "failed",
      message: `${name} was changed by another program: its database has the ${programs[0]}, which no gateway writes. Use another backup.`,
    });
  const { mark, sha256 } = backup.end;
  const isOwn = mark !== undefined && master?.backupMark(sha256) === mark;
  if (trusts || isOwn || isEncrypted(backup.header)) return;
  const lines = [
    ...outsideUses(Object.fromEntries(providers.map(toNamedDraft))).map(outsideUseText),
    ...exports.map((one) => `export ${one.name} goes to ${one.target}`),
    ...operators.map((email) => `${email} administers the gateway`),
  ].map((line) => `  ${line.replaceAll(/\p{Cc}/gu, " ").slice(0, 300)}`);
  const more = lines.length - mostLines;
  const shown = lines.slice(0, mostLines);
  if (more > 0) shown.push(`  and ${more} more`);
  const what =
    lines.length === 0
      ? "Its rows name nothing outside of it."
      : `Its rows say:\n${shown.join("\n")}\n`;
  throw new Problem({
    code: "failed",
    message: `${name} does not show that a holder of the master secret wrote it: it is from an earlier version, or was changed. ${what}If you know who wrote it, restore it with --trust.`,
  });
}

/** As svc.yaml would have the row. What cannot be read names nothing that the gateway could use. */
function toNamedDraft(row: Readonly<Record<string, unknown>>): readonly [string, ProviderDraft] {
  const { name, kind, base_url: address, api_key: key, keys, options } = row;
  const listed = parsed(keys);
  return [
    String(name),
    {
      kind,
      ...(address === "" ? {} : { base_url: address }),
      api_key: textOf(parsed(key)),
      api_keys: Array.isArray(listed)
        ? listed.map((one: unknown) => ({ key: textOf(fieldOf(one, "secret")) }))
        : [],
      ...Object.fromEntries(
        Object.entries(parsed(options) ?? {}).map(([option, value]) => [option, textOf(value)]),
      ),
    },
  ];
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

/** `${NAME}` for a reference, a plain option as it is, and nothing for what is sealed. */
function textOf(stored: unknown): string {
  const variable = fieldOf(stored, "variable");
  const text = fieldOf(stored, "text");
  return typeof variable === "string" ? `\${${variable}}` : typeof text === "string" ? text : "";
}
