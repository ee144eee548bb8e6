import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Problem } from "../../../base/problem.ts";
import type { NewKeyView } from "../../../platform/keys/schemas.ts";
import type { Invocation } from "../../command.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, style, withoutSecrets } from "../../terminal/output.ts";
import { askYes, isInteractive } from "../../terminal/prompts.ts";
import { diffLines } from "./files/diff.ts";
import { type Merged, mergeSettings } from "./files/merge.ts";
import { type PresentFile, readPresent, replaceFile } from "./files/write-file.ts";
import { shownPath } from "./target.ts";
import type { Connection, Places, Target, Tool, ToolFile } from "./tool.ts";

export interface Written {
  readonly connection: Connection;
  readonly path: string;
  readonly isChanged: boolean;
  /** What was there before; undefined for a new file. */
  readonly backup: string | undefined;
  /** A new key that the file does not hold. */
  readonly key: string | undefined;
}

interface Writing {
  readonly tool: Tool;
  readonly target: Target;
  readonly places: Places;
  readonly invocation: Invocation;
}

/** Stands for the key until the reader has agreed. */
const shownKey = "sk-svc-…";

/** Shows what changes in the tool's file, asks, and changes it. */
export async function writeSettings(writing: Writing): Promise<Written> {
  const { tool, target, places, invocation } = writing;
  const { switches, wiring } = invocation;
  const isSecret = tool.holdsKey && (switches.has("key") || switches.has("create-key"));
  const connectWith = (key: string | undefined) =>
    tool.connect({ ...target, key: isSecret ? key : undefined }, places);
  const shown = connectWith(shownKey);
  if (shown.file === undefined) throw nothingToWrite(tool);
  const present = await readPresent(placeOf(shown.file, invocation));
  const merged = merge(shown.file, present);
  if (!switches.has("json")) showChange({ present, merged, path: shownPath(present.path, places) });
  const isSame = merged.text === present.text;
  if (isSame && !switches.has("create-key"))
    return unchanged({ path: present.path, connection: shown });
  await confirm(invocation);
  const created = switches.has("create-key") ? await createKey(tool, invocation) : undefined;
  try {
    const key = created?.key ?? wiring.configuration().settings.apiKey;
    const connection = connectWith(key);
    const { text } = connection.file === undefined ? merged : merge(connection.file, present);
    const isChanged = text !== present.text;
    const backup = isChanged
      ? await replaceFile({ present, text, isSecret, nowMs: Date.now() })
      : undefined;
    if (!switches.has("json")) report(shownPath(present.path, places), isChanged, backup);
    return {
      connection,
      path: present.path,
      isChanged,
      backup,
      key: isSecret ? undefined : created?.key,
    };
  } catch (error) {
    // Nobody has seen its secret.
    if (created !== undefined)
      await wiring.withOperations(({ keys }) => keys.revoke({ id: created.id }));
    throw error;
  }
}

function unchanged(of: Pick<Written, "path" | "connection">): Written {
  return { ...of, isChanged: false, backup: undefined, key: undefined };
}

const placeOf = ({ paths }: ToolFile, { flags }: Invocation) =>
  resolve(flags.file ?? paths.find(existsSync) ?? paths[0]);

const merge = (file: ToolFile, { path, text = "" }: PresentFile): Merged =>
  mergeSettings({ format: file.format, settings: file, text, path });

function showChange(of: {
  readonly present: PresentFile;
  readonly merged: Merged;
  readonly path: string;
}): void {
  const { present, merged, path } = of;
  if (merged.text === present.text) print(`${path} has these settings already.`);
  else showLines(path, present, merged);
  for (const rival of merged.rivals)
    print(
      `${style.yellow("!")} The file also has ${rival}, which conflicts with these settings. Remove it.`,
    );
  print();
}

function showLines(path: string, present: PresentFile, merged: Merged): void {
  print(style.bold(path) + (present.text === undefined ? " (new)" : ""));
  for (const { kind, text } of diffLines(present.text ?? "", merged.text)) {
    const line = withoutSecrets(text);
    if (kind === "gap") print(style.dim("…"));
    else if (kind === "same") print(`  ${line}`);
    else print(kind === "added" ? style.green(`+ ${line}`) : style.red(`- ${line}`));
  }
}

async function confirm(invocation: Invocation): Promise<void> {
  if (invocation.switches.has("yes")) return;
  if (!isInteractive(invocation))
    throw new Problem({
      code: "invalid",
      field: "yes",
      message: "--write needs a confirmation. Nothing was changed; add --yes to write without one.",
    });
  const question = "Write this file?";
  const isAgreed = await interruptible((signal) => askYes({ question, offered: false, signal }));
  if (!isAgreed) throw new Problem({ code: "failed", message: "Nothing was changed." });
}

export function createKey({ name }: Tool, { flags, wiring }: Invocation): Promise<NewKeyView> {
  return wiring.withOperations(({ keys }) => keys.create({ account: flags.account ?? "", name }));
}

function report(path: string, isChanged: boolean, backup: string | undefined): void {
  if (isChanged) print(`${style.green("wrote")} ${path}`);
  if (backup !== undefined) print(style.dim(`The file as it was: ${backup}`));
  print();
}

/** For tools that have no file. */
function nothingToWrite({ title, name }: Tool): Problem {
  return new Problem({
    code: "invalid",
    field: "write",
    message: `${title} has no file that svc can write. Follow the steps instead.`,
    command: `connect ${name}`,
  });
}
