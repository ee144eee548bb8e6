import { inFile } from "../../base/problem.ts";
import {
  draftText,
  isRecord,
  type ManifestDraft,
  type ModelDraft,
  type ProviderDraft,
} from "../../manifest/draft.ts";
import { fromLitellm, type LitellmImport } from "../../manifest/litellm/litellm.ts";
import { type OutsideUse, outsideUses, outsideUseText } from "../../manifest/outside-uses.ts";
import type { AddedView, EntryName } from "../../platform/manifest/change.ts";
import { isSamePlace, toDraft } from "../../platform/providers/place.ts";
import { type Command, type Invocation, jsonFlag, type Wiring } from "../command.ts";
import { print, printAside, printHint, printJson, style } from "../terminal/output.ts";
import { entryText, printWarnings, readText, toApplyJson, withoutFile } from "./manifest.ts";

const importLitellm: Command = {
  name: "import litellm",
  about: "Import the models of a LiteLLM proxy config. Lists the parts that it could not import.",
  positionals: ["FILE"],
  flags: {
    "keep-keys": { about: "also import literal keys and store them encrypted" },
    print: { about: "print a file for svc apply without changing anything" },
    "dry-run": { about: "show the changes without making them" },
    ...jsonFlag,
  },
  refusedFlags: {
    file: "--file was removed. Use svc import litellm config.yaml --print > FILE, then svc apply FILE.",
  },
  createsStore: true,
  examples: [
    "svc import litellm config.yaml --dry-run",
    "svc import litellm config.yaml",
    "svc import litellm config.yaml --print > svc.yaml",
  ],
  async run(invocation) {
    const { positionals, switches, wiring } = invocation;
    const [source = ""] = positionals;
    const isPrinted = switches.has("print");
    const dryRun = switches.has("dry-run") || isPrinted;
    const imported = await readSource({ source, keepKeys: switches.has("keep-keys"), wiring });
    const { draft, literals } = imported;
    const add = (isTrial: boolean) =>
      wiring
        .withOperations((operations) =>
          operations.manifest.add({ draft, literals, dryRun: isTrial }),
        )
        .catch((error: unknown) => {
          throw inFile(nameOf(source), error);
        });
    const planned = await add(true);
    const uses = outsideUses(newPart(draft, planned.added).providers);
    // Before anything is written, because the file may be another person's.
    const write = isPrinted ? printAside : print;
    if (!switches.has("json")) for (const use of uses) write(outsideUseText(use));
    const view = dryRun ? planned : await add(false);
    show({ imported, uses, view, isPrinted, dryRun, invocation });
  },
};

export const importCommands: readonly Command[] = [importLitellm];

const nameOf = (source: string) => (source === "-" ? "standard input" : source);

async function readSource(options: {
  readonly source: string;
  readonly keepKeys: boolean;
  readonly wiring: Wiring;
}): Promise<LitellmImport> {
  const { source, keepKeys, wiring } = options;
  const { variable } = wiring.configuration();
  const text = await readText(source);
  const views = await wiring.withOperations((operations) => operations.providers.list({}));
  const existing = Object.fromEntries(views.map((view) => [view.name, toDraft(view)]));
  try {
    return fromLitellm(text, { keepKeys, existing, isSame: isSameProvider, variable });
  } catch (error) {
    throw inFile(nameOf(source), error);
  }
}

/** One server with one key. */
const isSameProvider = (one: ProviderDraft, other: ProviderDraft) =>
  isSamePlace(one, other) && one["api_key"] === other["api_key"];

/** Only the new entries. */
function newPart({ providers, models }: ManifestDraft, added: readonly EntryName[]): ManifestDraft {
  const isNew = (kind: EntryName["kind"], name: string) =>
    added.some((one) => one.kind === kind && one.name === name);
  const shown = Object.entries(models).flatMap(([id, fields]): [string, ModelDraft][] => {
    if (isNew("model", id)) return [[id, fields]];
    const given: readonly unknown[] = Array.isArray(fields["routes"]) ? fields["routes"] : [];
    const routes = given.filter((route) => isRecord(route) && isNewRoute(added, id, route));
    return routes.length === 0 ? [] : [[id, { routes }]];
  });
  const created = Object.entries(providers).filter(([name]) => isNew("provider", name));
  return { providers: Object.fromEntries(created), models: Object.fromEntries(shown) };
}

const isNewRoute = (added: readonly EntryName[], id: string, route: Record<string, unknown>) =>
  added.some(
    (one) =>
      one.kind === "route" &&
      one.name === id &&
      one.provider === route["provider"] &&
      one.model === route["model"],
  );

function show(options: {
  readonly imported: LitellmImport;
  readonly uses: readonly OutsideUse[];
  readonly view: AddedView;
  readonly isPrinted: boolean;
  readonly dryRun: boolean;
  readonly invocation: Invocation;
}): void {
  const { imported, uses, view, isPrinted, dryRun, invocation } = options;
  const { notes, draft } = imported;
  const { added, kept } = view;
  if (invocation.switches.has("json"))
    return printJson({
      ...withoutFile,
      ...toApplyJson(view),
      added: added.map(entryText),
      added_list: added,
      kept: kept.map(entryText),
      kept_list: kept,
      uses,
      notes: notes.map(({ line, text }) => ({ line, note: text })),
      ...(dryRun ? { yaml: draftText(newPart(draft, added)) } : {}),
    });
  const lines = [
    ...notes.map(({ line, text }) => `${style.yellow("!")} line ${line}: ${text}`),
    ...kept.map(
      (entry) => `${style.dim("=")} ${entryText(entry)} already exists and stays unchanged`,
    ),
  ];
  if (isPrinted) {
    // Only the file on stdout, so that it can be redirected.
    process.stdout.write(draftText(draft));
    for (const line of lines) printAside(line);
    return;
  }
  for (const entry of added) print(`${style.green("+")} ${entryText(entry)}`);
  for (const line of lines) print(line);
  printWarnings(view.warnings);
  if (added.length === 0) return print("Nothing to add. Everything exists already.");
  if (dryRun) return print("Nothing was changed (--dry-run).");
  print(`${style.green("added")} ${added.length} ${added.length === 1 ? "entry" : "entries"}`);
  printHint(style.dim("svc provider test NAME tests a provider with real calls."));
}
