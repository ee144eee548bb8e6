import type { OpenBackup } from "../../backup/reader.ts";
import { Problem } from "../../base/problem.ts";
import { removedKind } from "../../base/removed-kind.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { outsideUses, outsideUseText, receiverOf } from "../../manifest/outside-uses.ts";
import type { MasterKey } from "../../secrets/master-key.ts";
import { type ForeignContents, readForeign } from "../../store/sqlite/backup/contents.ts";

/** How many lines a refusal shows, those about commands and files first. */
const mostLines = 50;

/**
 * Refuses a database that another person may have written. Only the master secret shows who wrote a
 * backup, if this machine had it before: a passphrase and a secret may come from the stranger who
 * sent the file. Rows could run commands, read files, send variables and stored keys and let any user
 * in, so the operator reads what they name and consents with a flag. A program of SQLite in it is
 * refused in any case: no gateway writes one.
 */
export async function checkTrust(options: {
  readonly path: string;
  readonly name: string;
  readonly backup: OpenBackup;
  /** Of this machine, and not of the backup. */
  readonly master: MasterKey | undefined;
  readonly trusts: boolean;
}): Promise<void> {
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
  if (trusts || isOwn) return;
  const lines = linesOf(found).map((line) => `  ${line.replaceAll(/\p{Cc}/gu, " ").slice(0, 300)}`);
  const more = lines.length - mostLines;
  const shown = lines.slice(0, mostLines);
  if (more > 0) shown.push(`  and ${more} more`);
  const what =
    lines.length === 0
      ? "Its rows name nothing outside of it."
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

/** The worst first: a long list must not hide them. */
function linesOf({ strange, providers, exports, operators }: ForeignContents): readonly string[] {
  const drafts = providers.map(toNamedDraft);
  const uses = outsideUses(Object.fromEntries(drafts));
  const ofMachine = uses.filter(({ source }) => source !== "variable");
  const variables = uses.filter(({ source }) => source === "variable");
  return [
    ...ofMachine.map(outsideUseText),
    ...operators.map((email) => `${email} administers the gateway`),
    ...exports.map((one) => `export ${one.name} goes to ${one.target}`),
    ...variables.map(outsideUseText),
    ...drafts
      .filter(([, { kind }]) => kind !== removedKind)
      .map(
        ([name, draft]) =>
          `provider ${name} sends prompts and any stored keys to ${receiverOf(draft)}`,
      ),
    ...strange.map((one) => `the ${one} is not as a gateway creates it`),
  ];
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
