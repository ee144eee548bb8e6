import { existsSync, readFileSync, realpathSync } from "node:fs";
import { inFile, Problem } from "../../base/problem.ts";
import { type Move, messageOf, replaceFile } from "../../base/replace-file.ts";
import { checkSettings } from "../../config/load.ts";
import type { Literals } from "../../manifest/literals.ts";
import type { ApplyView } from "../../platform/manifest/operations.ts";
import type { Wiring } from "../command.ts";
import { style } from "../terminal/output.ts";

/** The config file, which says what is in force; or the one that there will be. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
  readonly isThere: boolean;
}

/** Where there is no file yet, it begins with what the store holds: nothing must get lost by it. */
export async function openManifest(wiring: Wiring): Promise<ManifestFile> {
  const configuration = wiring.configuration();
  const { filePath: path } = configuration;
  const file = existsSync(path) ? configuration.file : undefined;
  if (file !== undefined) return { path: realpathSync(path), text: file.text, isThere: true };
  const text = await wiring.withOperations(async (operations) => {
    const providers = await operations.providers.list({});
    return providers.length === 0 ? "" : (await operations.manifest.export({})).yaml;
  });
  return { path, text, isThere: false };
}

export interface PutOptions {
  readonly wiring: Wiring;
  readonly file: ManifestFile;
  /** What the file shall be. */
  readonly text: string;
  readonly literals?: Literals;
  readonly dryRun: boolean;
  /** The provider that may go; if others would, nothing is done. */
  readonly removes?: string;
  readonly move?: Move;
}

export interface PutView extends ApplyView {
  /** How many warnings there were before; `warnings` has those that the change brings. */
  readonly older_warnings: number;
}

/** Puts a changed file in place and in force: both, or neither. */
export async function putManifest(options: PutOptions): Promise<PutView> {
  const { wiring, file, text, literals = {}, dryRun } = options;
  checkSettings({ path: file.path, text });
  const apply = (given: { readonly text: string; readonly dryRun: boolean }) =>
    wiring
      .withOperations((operations) =>
        operations.manifest.apply({ ...given, isOwnFile: true, literals }),
      )
      .catch((error: unknown) => {
        throw inFile(file.path, error);
      });
  await checkDrift(options);
  // A file that was wrong before says nothing of what is older.
  const before = await apply({ text: file.text, dryRun: true }).catch(() => undefined);
  const planned = await apply({ text, dryRun: true });
  checkRemoved(planned, options);
  if (dryRun) return withNews(planned, before);
  checkUntouched(file);
  // The file first: it can be put back as it was, and keys that the store has let go cannot.
  const undo = replaceFile({ path: file.path, text, move: options.move });
  try {
    return withNews(await apply({ text, dryRun: false }), before);
  } catch (error) {
    takeBack(file.path, undo);
    throw error;
  }
}

/** A file that was written and could not be put in force. */
export function takeBack(path: string, undo: () => void): void {
  try {
    undo();
  } catch (cause) {
    throw new Problem({
      code: "failed",
      message: `${path} was written, but could not be put in force, nor can the old text be put back: ${messageOf(cause)}. svc apply ${path} tries once more.`,
      cause,
    });
  }
}

/** Warnings that were there before would hide what a change brings. */
function withNews(view: ApplyView, before: ApplyView | undefined): PutView {
  const known = new Set(before?.warnings);
  const warnings = view.warnings.filter((warning) => !known.has(warning));
  return { ...view, warnings, older_warnings: view.warnings.length - warnings.length };
}

/** For people: what the change brings, and how many there are beside. */
export function warningLines(view: ApplyView & Partial<PutView>): readonly string[] {
  const older = view.older_warnings ?? 0;
  return [
    ...view.warnings.map((warning) => `${style.yellow("!")} ${warning}`),
    ...(older === 0
      ? []
      : [style.dim(`${older} older warning${older === 1 ? "" : "s"}: svc apply FILE --dry-run`)]),
  ];
}

function checkUntouched({ path, text, isThere }: ManifestFile): void {
  const now = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  if (now !== (isThere ? text : undefined))
    throw new Problem({
      code: "conflict",
      message: `${path} was changed meanwhile: run the command again.`,
    });
}

/** What commands changed since would be undone without a word. */
async function checkDrift({ wiring, file }: PutOptions): Promise<void> {
  if (!file.isThere) return;
  const drift = await wiring.withOperations((operations) =>
    operations.manifest.drift({ text: file.text }),
  );
  if (drift.length === 0) return;
  const lines = drift.map(({ kind, name, fields }) => {
    const changed = fields.map(
      ({ field, from, to }) => `${field} ${to ?? "none"} → ${from ?? "none"}`,
    );
    return `  ${kind} ${name}: ${changed.join(", ")}`;
  });
  throw new Problem({
    code: "conflict",
    message: `Commands have changed what is in force since ${file.path} was applied, and this would undo it:\n${lines.join("\n")}\nWrite it into the file (svc export shows how), or take the file's with svc apply ${file.path}; then run this again.`,
  });
}

function checkRemoved({ differences }: ApplyView, { file, removes }: PutOptions): void {
  const others = differences
    .filter(
      ({ action, kind, name }) => action === "remove" && kind === "provider" && name !== removes,
    )
    .map(({ name }) => name);
  if (others.length === 0) return;
  throw new Problem({
    code: "conflict",
    message: `${others.join(", ")} would go too: in force, but not in ${file.path}. Add it there first (svc export shows how), or remove it with svc provider remove ${others[0]}.`,
  });
}
