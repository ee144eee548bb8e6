import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { inFile, Problem } from "../../base/problem.ts";
import { checkSettings } from "../../config/load.ts";
import type { Difference } from "../../manifest/differences.ts";
import type { Warning } from "../../manifest/warnings.ts";
import type { ApplyView, EntryName } from "../../platform/manifest/change.ts";
import { type Command, jsonFlag } from "../command.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { print, printJson, style } from "../terminal/output.ts";

const apply: Command = {
  name: "apply",
  about:
    "Apply a file to the catalog and show the changes. The file then owns the entries that it defines. Models are never removed.",
  optional: ["FILE"],
  flags: {
    release: { about: "let the database own the file's entries; the file does not have to exist" },
    adopt: { about: "let the file take over entries that it did not create" },
    "dry-run": { about: "show the changes without making them" },
    ...jsonFlag,
  },
  createsStore: true,
  examples: [
    "svc apply",
    "svc apply svc.yaml --dry-run",
    "svc apply svc.yaml --adopt",
    "svc apply - < catalog.yaml",
    "svc apply old.yaml --release",
  ],
  more: () => [
    "Without FILE, the config file is applied. Entries from standard input (-) belong to no file. They",
    "are created and changed as if by other commands, and nothing is removed.",
  ],
  async run({ positionals: [named], switches, wiring }) {
    const dryRun = switches.has("dry-run");
    const { filePath } = wiring.configuration();
    const path = named ?? filePath;
    const isStream = path === "-";
    const own = dirname(resolve(filePath));
    const file = isStream ? undefined : relative(own, resolve(path));
    if (switches.has("release") && file !== undefined) {
      const released = await wiring.withOperations((operations) =>
        operations.manifest.release({ file, dryRun }),
      );
      if (switches.has("json")) return printJson(released);
      for (const { kind, name } of released.released)
        print(`${marks.keep} the database now owns ${kind} ${name}`);
      return print(
        dryRun ? "Nothing was changed (--dry-run)." : `${style.green("released")} ${path}`,
      );
    }
    const text = await readText(path);
    const isOwnFile = !isStream && filePath === resolve(path);
    checkSettings({ path, text });
    const adopts = switches.has("adopt");
    const view = await wiring
      .withOperations((operations) =>
        operations.manifest.apply({ text, dryRun, isOwnFile, file, adopts }),
      )
      .catch((error: unknown) => {
        throw error instanceof Problem && error.command?.endsWith("--adopt") === true
          ? // The hint names the file as it was typed.
            new Problem({
              code: error.code,
              message: error.message,
              command: `apply ${path} --adopt`,
              cause: error,
            })
          : inFile(isStream ? "standard input" : path, error);
      });
    if (switches.has("json")) printJson(toApplyJson(view));
    else printApply(view, dryRun);
  },
};

const exportCommand: Command = {
  name: "export",
  about:
    "Print all providers and models as YAML for svc apply. Settings and literal keys are not included.",
  examples: ["svc export > catalog.yaml", "svc export | svc apply - --dry-run"],
  async run({ wiring }) {
    const { yaml } = await wiring.withOperations((operations) => operations.manifest.export({}));
    process.stdout.write(yaml);
  },
};

export const manifestCommands: readonly Command[] = [apply, exportCommand];

/** A file, or standard input for `-`. */
export async function readText(path: string): Promise<string> {
  try {
    return path === "-" ? await Bun.stdin.text() : readFileSync(path, "utf8");
  } catch (cause) {
    throw new Problem({ code: "not_found", message: fileProblem(path, cause), cause });
  }
}

const marks: Readonly<Record<Difference["action"], string>> = {
  create: style.green("+"),
  change: style.yellow("~"),
  remove: style.red("-"),
  keep: style.dim("="),
};

export function printApply({ differences, warnings }: ApplyView, dryRun: boolean): void {
  for (const { action, kind, name, fields } of differences) {
    const note =
      action === "keep" ? style.dim(" is no longer in the file and stays in the database") : "";
    print(`${marks[action]} ${kind} ${name}${note}`);
    if (action === "change")
      for (const { field, from, to } of fields)
        print(`    ${field}: ${from || "none"} → ${from === to ? "another value" : to || "none"}`);
  }
  printWarnings(warnings);
  const changes = differences.filter(({ action }) => action !== "keep").length;
  if (changes === 0) return print("Nothing to change.");
  print(
    dryRun
      ? `${changes} change${changes === 1 ? "" : "s"} to make. Nothing was changed (--dry-run).`
      : `${style.green("applied")} ${changes} change${changes === 1 ? "" : "s"}.`,
  );
}

export function printWarnings(warnings: readonly Warning[]): void {
  for (const { message } of warnings) print(`${style.yellow("!")} ${message}`);
}

/** `warnings` are sentences, as in older versions; `warning_list` has their fields. */
export const toApplyJson = <T extends ApplyView>(view: T) => ({
  ...view,
  warnings: view.warnings.map(({ message }) => message),
  warning_list: view.warnings,
});

/** Commands no longer write files; scripts may read these fields. */
export const withoutFile = { file: null, older_warnings: 0 } as const;

export const entryText = (entry: EntryName) =>
  entry.kind === "route"
    ? `route ${entry.name} → ${entry.provider}/${entry.model}`
    : `${entry.kind} ${entry.name}`;
