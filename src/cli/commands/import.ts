import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { inFile, Problem } from "../../base/problem.ts";
import { replaceFile } from "../../base/replace-file.ts";
import { parseYaml, yamlValue } from "../../base/yaml.ts";
import { checkSettings } from "../../config/load.ts";
import {
  addToManifest,
  type Edited,
  fragmentOf,
  type ManifestDraft,
  type ModelDraft,
  type ProviderDraft,
} from "../../manifest/edit.ts";
import { fromLitellm, type LitellmImport } from "../../manifest/litellm/litellm.ts";
import type { Literals } from "../../manifest/literals.ts";
import type { ApplyView } from "../../platform/manifest/operations.ts";
import { type Command, jsonFlag, type Wiring } from "../command.ts";
import { print, printJson, style } from "../terminal/output.ts";
import {
  type ManifestFile,
  openManifest,
  putManifest,
  takeBack,
  warningLines,
} from "./manifest-file.ts";

const importLitellm: Command = {
  name: "import litellm",
  about:
    "Adds the models of a LiteLLM proxy's config to svc.yaml and applies it. Says what it could not take over.",
  positionals: ["FILE"],
  flags: {
    file: { about: "the file to add them to, in place of the config file", value: "PATH" },
    "keep-keys": {
      about: "also take keys that are written out: they are stored encrypted, not in svc.yaml",
    },
    "dry-run": { about: "print what would be added to svc.yaml and change nothing" },
    ...jsonFlag,
  },
  examples: [
    "svc import litellm config.yaml --dry-run",
    "svc import litellm config.yaml",
    "svc import litellm config.yaml --file ./catalogue.yaml --json",
  ],
  async run({ positionals: [source = ""], flags, switches, wiring }) {
    const dryRun = switches.has("dry-run");
    const file = await openTarget(wiring, flags["file"]);
    const imported = readSource({
      source,
      keepKeys: switches.has("keep-keys"),
      existing: providersOf(file),
      wiring,
    });
    const edited = edit(file, imported);
    const literals = ofNewProviders(imported.literals, edited);
    const put = { wiring, file, text: edited.text, literals, dryRun };
    const view = file.isOwn ? await putManifest(put) : await putBeside(put);
    show({ file, imported, edited, view, dryRun, isJson: switches.has("json") });
  },
};

export const importCommands: readonly Command[] = [importLitellm];

interface Target extends ManifestFile {
  /** The config file itself. */
  readonly isOwn: boolean;
}

async function openTarget(wiring: Wiring, named: string | undefined): Promise<Target> {
  const path = named === undefined ? undefined : resolve(named);
  const own = wiring.configuration().filePath;
  if (path === undefined || path === own) return { ...(await openManifest(wiring)), isOwn: true };
  const isThere = existsSync(path);
  return { path, text: isThere ? readText(path) : "", isThere, isOwn: false };
}

function readSource(options: {
  readonly source: string;
  readonly keepKeys: boolean;
  readonly existing: Readonly<Record<string, ProviderDraft>>;
  readonly wiring: Wiring;
}): LitellmImport {
  const { source, keepKeys, existing, wiring } = options;
  const { variable } = wiring.configuration();
  try {
    return fromLitellm(readText(source), { keepKeys, existing, variable });
  } catch (error) {
    throw inFile(source === "-" ? "standard input" : source, error);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Problem({ code: "not_found", message: `${path} cannot be read: ${message}`, cause });
  }
}

/** As they stand in the file, so that no name is taken for something else. */
function providersOf({ path, text }: Target): Readonly<Record<string, ProviderDraft>> {
  const { document, lineCounter, problems } = parseYaml(text);
  if (problems.length > 0)
    throw inFile(path, new Problem({ code: "invalid", message: problems.join("\n") }));
  const root = yamlValue(document, lineCounter);
  const all = isRecord(root) && isRecord(root["providers"]) ? root["providers"] : {};
  return Object.fromEntries(
    Object.entries(all).map(([name, fields]) => [name, isRecord(fields) ? fields : {}]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function edit(file: Target, { draft }: LitellmImport): Edited {
  try {
    return addToManifest(file.text, draft);
  } catch (error) {
    throw inFile(file.path, error);
  }
}

/** A provider that is there already keeps the key that it has. */
function ofNewProviders(literals: Literals, { added }: Edited): Literals {
  return Object.fromEntries(
    Object.entries(literals).filter(([name]) => added.includes(`provider ${name}`)),
  );
}

/** A file that is not the config file: as svc apply does, and then it is written. */
async function putBeside(options: {
  readonly wiring: Wiring;
  readonly file: Target;
  readonly text: string;
  readonly literals: Literals;
  readonly dryRun: boolean;
}): Promise<ApplyView> {
  const { wiring, file, text, literals, dryRun } = options;
  checkSettings({ path: file.path, text });
  const apply = (isTrial: boolean) =>
    wiring
      .withOperations((operations) =>
        operations.manifest.apply({ text, dryRun: isTrial, literals }),
      )
      .catch((error: unknown) => {
        throw inFile(file.path, error);
      });
  const planned = await apply(true);
  if (dryRun) return planned;
  // Written once it is known to be good, and before it is in force: what is in force can be read.
  const undo = replaceFile({ path: file.path, text });
  try {
    return await apply(false);
  } catch (error) {
    takeBack(file.path, undo);
    throw error;
  }
}

/** What is new alone: the rest of the file may hold keys. */
function newPart({ providers, models }: ManifestDraft, { added }: Edited): string {
  const isNew = (what: string) => added.includes(what);
  const shown = Object.entries(models).flatMap(([id, fields]): [string, ModelDraft][] => {
    if (isNew(`model ${id}`)) return [[id, fields]];
    const given: readonly unknown[] = Array.isArray(fields["routes"]) ? fields["routes"] : [];
    const routes = given.filter((route) => isNew(`route ${id} → ${targetOf(route)}`));
    return routes.length === 0 ? [] : [[id, { routes }]];
  });
  return fragmentOf({
    providers: Object.fromEntries(
      Object.entries(providers).filter(([name]) => isNew(`provider ${name}`)),
    ),
    models: Object.fromEntries(shown),
  });
}

const targetOf = (route: unknown) =>
  isRecord(route) ? `${String(route["provider"])}/${String(route["model"])}` : "";

function show(options: {
  readonly file: Target;
  readonly imported: LitellmImport;
  readonly edited: Edited;
  readonly view: ApplyView;
  readonly dryRun: boolean;
  readonly isJson: boolean;
}): void {
  const { file, edited, view, dryRun, isJson } = options;
  const { notes, draft } = options.imported;
  if (isJson)
    return printJson({
      file: file.path,
      added: edited.added,
      kept: edited.kept,
      notes: notes.map(({ line, text }) => ({ line, note: text })),
      ...view,
      ...(dryRun ? { yaml: newPart(draft, edited) } : {}),
    });
  const lines = [
    ...notes.map(({ line, text }) => `${style.yellow("!")} line ${line}: ${text}`),
    ...edited.kept.map((name) => `${style.dim("=")} ${name} is there already and stays`),
  ];
  if (dryRun) {
    // Alone on stdout, so that it can be put where people want it.
    process.stdout.write(newPart(draft, edited));
    for (const line of lines) process.stderr.write(`${line}\n`);
    return;
  }
  for (const name of edited.added) print(`${style.green("+")} ${name}`);
  for (const line of lines) print(line);
  for (const warning of warningLines(view)) print(warning);
  if (edited.added.length === 0) return print("Nothing to add: all of it is there already.");
  print(`${style.green("applied")} and written to ${file.path}: ${edited.added.length} added.`);
  print(style.dim("svc provider test NAME makes a real call to a provider."));
}
