import { Problem } from "../../base/problem.ts";
import { vendors } from "../../catalog/vendors.ts";
import { draftText } from "../../manifest/draft.ts";
import { presetNames } from "../../manifest/presets.ts";
import type { AddedView } from "../../platform/manifest/change.ts";
import type { ModelView } from "../../platform/models/schemas.ts";
import { readMarkup } from "../../platform/prices/import.ts";
import type { ProviderView } from "../../platform/providers/schemas.ts";
import { type Command, type Invocation, jsonFlag, type Wiring } from "../command.ts";
import { entryText, toApplyJson, withoutFile } from "../commands/manifest.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printAside, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";
import { askYes, isInteractive } from "../terminal/prompts.ts";
import { askMarkup, askModels, askWhich } from "./dialogue.ts";
import { discover, type Found } from "./discover.ts";
import { type LeftOut, type Outcome, type Planned, printNext } from "./finish.ts";
import { chooseModels, type Offer, readOffers } from "./offer.ts";
import {
  type Connection,
  chooseFound,
  draftOf,
  fitPreset,
  localPreset,
  nameWithin,
  omit,
  presetFate,
} from "./plan.ts";
import { notListed, tellFound, withNothing } from "./show.ts";

export const initCommand: Command = {
  name: "init",
  about:
    "Connect providers and choose the models to serve. It finds keys in the environment and servers on this machine, and lists their models.",
  flags: {
    provider: {
      about: "vendor to connect (default: all that were found)",
      value: "VENDOR",
      choices: vendors.map(({ id }) => id),
      multiple: true,
    },
    models: {
      about: "models to serve, separated by commas (default: those with a known price)",
      value: "IDS",
      multiple: true,
    },
    "all-models": {
      about: "add all models, including those that need a price first",
    },
    markup: { about: "markup on the vendors' prices in percent, such as 20", value: "PERCENT" },
    preset: {
      about:
        "google: the whole catalog on Gemini and Vertex AI; local: all servers on this machine",
      value: "NAME",
      choices: [...presetNames, localPreset],
    },
    yes: { about: "skip the questions", short: "y" },
    print: { about: "print a file for svc apply without changing anything" },
    "dry-run": { about: "show the changes without making them" },
    ...jsonFlag,
  },
  refusedFlags: {
    file: "--file was removed. Use svc init --print > FILE, then svc apply FILE.",
    force:
      "--force was removed. svc init only adds entries. Use svc apply FILE to make the catalog match a file.",
  },
  createsStore: true,
  examples: [
    "svc init",
    "svc init --preset google --markup 20",
    "svc init --provider groq --models llama-3.3-70b-versatile --yes",
    "svc init --preset local --yes",
    "svc init --print > svc.yaml",
  ],
  run: (invocation) => interruptible((signal) => run(invocation, signal)),
};

async function run(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { flags, switches, wiring } = invocation;
  const { settings, variable } = wiring.configuration();
  const { preset } = flags;
  // A preset that does not exist is reported before anything else is done.
  if (isFilePreset(preset)) fitPreset(preset, { variable, factor: readMarkup("0") });
  const all = await discover({ variable, ownPort: settings.port });
  const isPrinted = switches.has("print");
  const isUnasked = switches.has("yes") || isPrinted || switches.has("dry-run");
  const asks = !isUnasked && isInteractive(invocation);
  if (!asks && !isUnasked) return tellFound({ found: all, isJson: switches.has("json"), preset });
  const { providers, models } = await wiring.withOperations(async (operations) => ({
    providers: await operations.providers.list({}),
    models: await operations.models.list({}),
  }));
  const found = all.map((one) => nameWithin(one, providers));
  const planned = await plan({ invocation, providers, models, found, asks, signal });
  signal.throwIfAborted();
  if (isPrinted) return printFile(planned);
  const add = (dryRun: boolean) =>
    wiring.withOperations((operations) =>
      operations.manifest.add({ draft: planned.draft, replaces: planned.moved, dryRun }),
    );
  if (asks && !(await isConfirmed(await add(true), signal))) return;
  signal.throwIfAborted();
  const dryRun = switches.has("dry-run");
  const outcome = { ...planned, view: await add(dryRun), dryRun };
  if (switches.has("json")) return printJson(toJson(outcome));
  await printNext(outcome, wiring);
}

const isFilePreset = (name: string | undefined): name is string =>
  name !== undefined && name !== localPreset;

interface Wishes {
  readonly invocation: Invocation;
  readonly providers: readonly ProviderView[];
  readonly models: readonly ModelView[];
  readonly found: readonly Found[];
  /** False where the flags decide. */
  readonly asks: boolean;
  readonly signal: AbortSignal;
}

async function plan(wishes: Wishes): Promise<Planned> {
  const { invocation, models, asks, signal } = wishes;
  const { flags, wiring } = invocation;
  const { preset: presetName, markup = "0" } = flags;
  const given = readMarkup(markup);
  const isFile = isFilePreset(presetName);
  const chosen = await choose(wishes, isFile);
  const { connections, leftOut, unlisted } = await connect(wishes, chosen);
  const isPriced = isFile || connections.some(({ models: some }) => some.some(({ cost }) => cost));
  const isAsked = asks && flags["markup"] === undefined && isPriced;
  const factor = isAsked ? await askMarkup(signal) : given;
  const preset = isFile
    ? fitPreset(presetName, { variable: wiring.configuration().variable, factor })
    : undefined;
  const { variable } = wiring.configuration();
  const fate = presetFate(preset, models, (name) => (variable(name) ?? "") !== "");
  const kept = [...fate.stays, ...fate.waits.map(({ id }) => id)];
  const more = draftOf(connections, factor);
  const draft = {
    providers: { ...preset?.draft.providers, ...more.providers },
    models: { ...omit(preset?.draft.models ?? {}, kept), ...more.models },
  };
  const presetText = connections.length === 0 ? preset?.text : undefined;
  return { draft, presetText, connections, leftOut, unlisted, ...fate };
}

/** Which providers are meant; a preset that is a file brings its own. */
async function choose(wishes: Wishes, isFile: boolean): Promise<readonly Found[]> {
  const { invocation, found, providers, asks, signal } = wishes;
  const { flags, lists } = invocation;
  const names = lists["provider"] ?? [];
  if (names.length > 0) return chooseFound(found, names).map((one) => nameWithin(one, providers));
  if (isFile) return [];
  if (flags["preset"] === localPreset) {
    const local = found.filter(({ isLocal }) => isLocal);
    if (local.length > 0) return local;
    throw new Problem({
      code: "not_found",
      message:
        "No model server found on this machine. Start Ollama, LM Studio, vLLM or llama.cpp and try again, or connect a server by its address.",
      command: "provider add NAME --base-url URL --allow-private",
    });
  }
  if (found.length === 0) throw withNothing();
  return asks ? askWhich(found, signal) : chooseFound(found, []);
}

/** Lists the models of the providers and takes those that are wanted. */
async function connect(
  { invocation, providers, found, asks, signal }: Wishes,
  chosen: readonly Found[],
): Promise<Pick<Planned, "connections" | "leftOut" | "unlisted">> {
  const { flags, lists, switches, wiring } = invocation;
  if (chosen.length === 0) return { connections: [], leftOut: [], unlisted: [] };
  const names = (lists["models"] ?? [])
    .flatMap((text) => text.split(",").map((one) => one.trim()))
    .filter((name) => name !== "");
  const wantsAll = switches.has("all-models") || flags["preset"] === localPreset;
  const offers = await askAll({ wiring, chosen, found, signal });
  const unlisted = offers.flatMap(({ found: { name }, problem }): LeftOut[] =>
    problem === undefined ? [] : [{ provider: name, reason: problem }],
  );
  if (asks && names.length === 0 && !wantsAll) {
    const connections: Connection[] = [];
    for (const offer of offers) {
      const connection = await askModels(offer, signal);
      if (connection !== undefined) connections.push(connection);
    }
    return { connections, leftOut: [], unlisted: unlisted.filter(isAdded(connections)) };
  }
  const isLeftOut = ({ problem, isHere }: AskedOffer) =>
    problem !== undefined && isHere && names.length === 0;
  const leftOut = offers
    .filter(isLeftOut)
    .map(({ found: { name }, problem = "" }) => ({ provider: name, reason: problem }));
  const good = offers.filter((offer) => !isLeftOut(offer));
  const isNamed = (lists["provider"] ?? []).length > 0;
  const [first] = leftOut;
  if (first !== undefined && (isNamed || good.length === 0))
    throw new Problem({ code: "failed", message: first.reason });
  const connections = await wiring.withOperations((operations) =>
    chooseModels({
      operations,
      offers: good,
      wishes: { names, wantsAll },
      isRouted: (provider, name) =>
        providers.some(
          (view) =>
            view.name === provider && view.models.some(({ upstream }) => upstream.includes(name)),
        ),
    }),
  );
  return { connections, leftOut, unlisted: unlisted.filter(isAdded(connections)) };
}

interface AskedOffer extends Offer {
  /** Its key or its server is here, so that it could be asked. */
  readonly isHere: boolean;
}

async function askAll(options: {
  readonly wiring: Wiring;
  readonly chosen: readonly Found[];
  readonly found: readonly Found[];
  readonly signal: AbortSignal;
}): Promise<readonly AskedOffer[]> {
  const { wiring, chosen, found, signal } = options;
  const isHere = ({ vendor, isLocal }: Found) =>
    isLocal || found.some((one) => one.vendor === vendor);
  const progress = new ProgressLine();
  progress.show(`Listing the models of ${chosen.map(({ title }) => title).join(", ")} …`);
  const asking = wiring.withOperations((operations) =>
    readOffers(operations, chosen.filter(isHere)),
  );
  const asked = await untilAborted(asking, signal).finally(() => progress.clear());
  return chosen.map((one) => {
    const offer = asked.find((each) => each.found === one);
    if (offer !== undefined) return { ...offer, isHere: true };
    return { found: one, proposals: [], problem: unasked(one), listed: null, isHere: false };
  });
}

const isAdded =
  (connections: readonly Connection[]) =>
  ({ provider }: LeftOut) =>
    connections.some(({ found }) => found.name === provider);

const unasked = ({ by }: Found) =>
  `${by} ${by.includes(",") ? "are" : "is"} not set. Set ${by.includes(",") ? "them" : "it"} and run svc init again, or name models with --models.`;

/** Providers can be slow. Ctrl-C does not wait for them. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const head = `# Providers and models of this gateway, for svc apply. The server applies svc.yaml on every start.
# Prices are in USD per million tokens. \${NAME} is an environment variable.

`;

const fileText = ({ draft, presetText }: Planned) => presetText ?? head + draftText(draft);

function printFile(planned: Planned): void {
  const { leftOut, unlisted } = planned;
  process.stdout.write(fileText(planned));
  for (const { provider, reason } of leftOut) printAside(`Skipped ${provider}: ${reason}`);
  for (const { provider, reason } of unlisted) printAside(`${notListed(provider)}: ${reason}`);
}

async function isConfirmed({ added, kept }: AddedView, signal: AbortSignal): Promise<boolean> {
  if (added.length === 0) return true;
  print();
  for (const entry of added) print(`${style.green("+")} ${entryText(entry)}`);
  for (const entry of kept) print(`${style.dim("=")} ${entryText(entry)} already exists`);
  if (await askYes({ question: "Add these?", offered: true, signal })) return true;
  print("Nothing was changed.");
  return false;
}

function toJson(outcome: Outcome) {
  const { view, connections, leftOut, unlisted, moved, stays, dryRun } = outcome;
  const { added, kept, applied, warnings, warning_list } = toApplyJson(view);
  return {
    ...withoutFile,
    written: added.length > 0 && !dryRun,
    applied,
    providers: connections.map(({ found }) => found.name),
    added: added.map(entryText),
    added_list: added,
    kept: kept.map(entryText),
    kept_list: kept,
    left_out: leftOut,
    unlisted,
    moved_from_engine: moved,
    left_as_they_are: stays,
    warnings,
    warning_list,
    ...(dryRun ? { text: fileText(outcome) } : {}),
  };
}
