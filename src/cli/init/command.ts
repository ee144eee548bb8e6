import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { inFile, Problem } from "../../base/problem.ts";
import { replaceFile } from "../../base/replace-file.ts";
import { checkSettings } from "../../config/load.ts";
import { readMarkup } from "../../platform/prices/import.ts";
import { type Command, type Invocation, jsonFlag } from "../command.ts";
import { openManifest, putManifest, takeBack } from "../commands/manifest-file.ts";
import { Asker } from "../terminal/ask.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";
import { askMarkup, askModels, askWhich, type Dialogue } from "./dialogue.ts";
import { discover, type Found } from "./discover.ts";
import { readFileIfThere } from "./file.ts";
import type { Goal, LeftOut, Outcome, Planned, Written } from "./finish.ts";
import { printNext } from "./finish.ts";
import { chooseModels, type Offer, readOffers } from "./offer.ts";
import {
  type Connection,
  chooseFound,
  fileWith,
  fitPreset,
  localPreset,
  nameWithin,
  type Present,
  presetFate,
  readPresent,
} from "./plan.ts";
import { notListed, showChange, tellFound, withNothing } from "./show.ts";

export const initCommand: Command = {
  name: "init",
  about:
    "Connects providers: finds keys in the environment and servers on this machine, lists their models, writes svc.yaml.",
  flags: {
    provider: {
      about: "connect this one, by its vendor; all that were found unless told",
      value: "VENDOR",
      multiple: true,
    },
    models: {
      about: "take these models, by commas; those with a known price unless told",
      value: "IDS",
      multiple: true,
    },
    "all-models": {
      about: "take every model, also those that are not served until they have a price",
    },
    markup: { about: "percent on top of the vendors' prices, such as 20", value: "PERCENT" },
    preset: {
      about:
        "google: the whole catalogue on Gemini and Vertex AI; local: all servers of this machine",
      value: "NAME",
    },
    file: { about: "the file to write; the config file unless told", value: "PATH" },
    force: { about: "replace the file; it is added to unless told" },
    yes: { about: "ask nothing and write it", short: "y" },
    "dry-run": { about: "print the file and write nothing" },
    ...jsonFlag,
  },
  examples: [
    "svc init",
    "svc init --preset google --markup 20",
    "svc init --provider groq --models llama-3.3-70b-versatile --yes",
    "svc init --preset local --yes",
    "svc init --dry-run > proposed.yaml",
  ],
  run: (invocation) => interruptible((signal) => run(invocation, signal)),
};

async function run(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { flags, switches, wiring } = invocation;
  const { settings, variable } = wiring.configuration();
  const { preset } = flags;
  // A preset that does not exist is told before anything else is done.
  if (isFilePreset(preset)) fitPreset(preset, { variable, factor: readMarkup("0") });
  const all = await discover({ variable, ownPort: settings.port });
  const isQuiet = switches.has("json") || switches.has("dry-run");
  const asks = !switches.has("yes") && !isQuiet && isTerminal();
  if (!asks && !switches.has("yes") && !switches.has("dry-run"))
    return tellFound({ found: all, isJson: switches.has("json"), preset });
  const goal = await openGoal(invocation);
  const { isReplaced, file } = goal;
  const before = isReplaced ? "" : file.text;
  const present = presentIn(before, file.path);
  const found = all.map((one) => nameWithin(one, present));
  const dialogue = asks ? openDialogue(signal) : undefined;
  const wishes = { invocation, before, isReplaced, present, found, dialogue, signal };
  const planned = await plan(wishes);
  const outcome: Outcome = { ...planned, goal };
  signal.throwIfAborted();
  if (switches.has("dry-run")) return printDryRun(outcome, switches.has("json"));
  if (dialogue !== undefined && !(await isConfirmed(outcome, before, dialogue))) return;
  signal.throwIfAborted();
  const written = await writeAndApply(outcome, invocation);
  if (switches.has("json")) return printJson(toView(outcome, written));
  await printNext({ outcome, written, wiring });
}

const isFilePreset = (name: string | undefined): name is string =>
  name !== undefined && name !== localPreset;

const isTerminal = () => process.stdin.isTTY === true && process.stdout.isTTY === true;

function openDialogue(signal: AbortSignal): Dialogue {
  const write = (text: string) => void process.stdout.write(text);
  return { asker: new Asker({ input: process.stdin, write, signal }), print };
}

function presentIn(text: string, path: string): Present {
  try {
    checkSettings({ path, text });
    return readPresent(text);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem({
      code: "invalid",
      message: `${path} cannot be read: ${String(error)}`,
      cause: error,
    });
  }
}

interface Wishes {
  readonly invocation: Invocation;
  readonly before: string;
  readonly isReplaced: boolean;
  readonly present: Present;
  readonly found: readonly Found[];
  /** Absent where the flags decide. */
  readonly dialogue: Dialogue | undefined;
  readonly signal: AbortSignal;
}

async function plan(wishes: Wishes): Promise<Planned> {
  const { invocation, before, dialogue } = wishes;
  const { flags, wiring } = invocation;
  const { preset: presetName, markup = "0" } = flags;
  const told = readMarkup(markup);
  const isFile = isFilePreset(presetName);
  const chosen = await choose(wishes, isFile);
  const { connections, leftOut, unlisted } = await connect(wishes, chosen);
  const isPriced = isFile || connections.some(({ models }) => models.some(({ cost }) => cost));
  const factor =
    dialogue !== undefined && flags["markup"] === undefined && isPriced
      ? await askMarkup(dialogue)
      : told;
  const preset = isFile
    ? fitPreset(presetName, { variable: wiring.configuration().variable, factor })
    : undefined;
  const models = await wiring.withOperations((operations) => operations.models.list({}));
  const { moved, stays } = presetFate({ preset, present: wishes.present, models });
  const edited = fileWith({ before, preset, connections, factor });
  return { edited, connections, leftOut, unlisted, moved, stays };
}

/** Which providers are meant; a preset that is a file brings its own. */
async function choose(wishes: Wishes, isFile: boolean): Promise<readonly Found[]> {
  const { invocation, found, present, dialogue } = wishes;
  const { flags, lists } = invocation;
  const names = lists["provider"] ?? [];
  if (names.length > 0) return chooseFound(found, names).map((one) => nameWithin(one, present));
  if (isFile) return [];
  if (flags["preset"] === localPreset) {
    const local = found.filter(({ isLocal }) => isLocal);
    if (local.length > 0) return local;
    throw new Problem({
      code: "not_found",
      message:
        "No server of a known kind answers on this machine. Start Ollama, LM Studio, vLLM or llama.cpp and run this again, or connect one by its address: svc provider add NAME --base-url URL --allow-private",
    });
  }
  if (found.length === 0) throw withNothing();
  return dialogue === undefined ? chooseFound(found, []) : askWhich(found, dialogue);
}

/** Asks the providers for their models, and takes those that are wanted. */
async function connect(
  { invocation, before, isReplaced, present, found, dialogue, signal }: Wishes,
  chosen: readonly Found[],
): Promise<Pick<Planned, "connections" | "leftOut" | "unlisted">> {
  const { flags, lists, switches, wiring } = invocation;
  if (chosen.length === 0) return { connections: [], leftOut: [], unlisted: [] };
  const names = (lists["models"] ?? []).flatMap((text) => text.split(",").map((one) => one.trim()));
  const wantsAll = switches.has("all-models") || flags["preset"] === localPreset;
  // One that nothing was found of cannot be asked: its key is not here.
  const isHere = ({ vendor, isLocal }: Found) =>
    isLocal || found.some((one) => one.vendor === vendor);
  const progress = new ProgressLine();
  progress.show(`asking ${chosen.map(({ title }) => title).join(", ")} for models`);
  const asking = wiring.withOperations((operations) =>
    readOffers({ operations, chosen: chosen.filter(isHere), text: before, isReplaced }),
  );
  const asked = await untilAborted(asking, signal).finally(() => progress.clear());
  const offers = chosen.map(
    (one): Offer =>
      asked.find((offer) => offer.found === one) ?? {
        found: one,
        proposals: [],
        problem: undefined,
        listed: undefined,
      },
  );
  const unlisted = offers.flatMap((offer): LeftOut[] => {
    const reason = isHere(offer.found) ? offer.problem : unasked(offer.found);
    return reason === undefined ? [] : [{ provider: offer.found.name, reason }];
  });
  if (dialogue !== undefined && names.length === 0 && !wantsAll) {
    const connections: Connection[] = [];
    for (const offer of offers) {
      const connection = await askModels(offer, dialogue);
      if (connection !== undefined) connections.push(connection);
    }
    return { connections, leftOut: [], unlisted: unlisted.filter(isAdded(connections)) };
  }
  const good = offers.filter(({ problem }) => problem === undefined || names.length > 0);
  const leftOut = offers.flatMap(({ found: { name }, problem }) =>
    problem === undefined || names.length > 0 ? [] : [{ provider: name, reason: problem }],
  );
  const isNamed = (lists["provider"] ?? []).length > 0;
  const [first] = leftOut;
  if (first !== undefined && (isNamed || good.length === 0))
    throw new Problem({ code: "failed", message: first.reason });
  const wish = { names: names.filter((name) => name !== ""), wantsAll };
  const connections = await chooseModels({
    offers: good,
    wishes: wish,
    present,
    nowMs: Date.now(),
  });
  return { connections, leftOut, unlisted: unlisted.filter(isAdded(connections)) };
}

const isAdded =
  (connections: readonly Connection[]) =>
  ({ provider }: LeftOut) =>
    connections.some(({ found }) => found.name === provider);

const unasked = ({ by }: Found) =>
  `${by} ${by.includes(",") ? "are" : "is"} not set here. Set it and run svc init again, or name models with --models.`;

/** Providers may take long to answer: ctrl-c does not wait for them. */
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

async function openGoal({ flags, switches, wiring }: Invocation): Promise<Goal> {
  const own = await openManifest(wiring);
  const named = flags["file"] === undefined ? own.path : resolve(flags["file"]);
  const path = existsSync(named) ? realpathSync(named) : named;
  const isOwn = path === own.path;
  const text = isOwn ? own.text : (readFileIfThere(path) ?? "");
  const file = isOwn ? own : { path, text, isThere: existsSync(path) };
  return { file, isOwn, isReplaced: switches.has("force") && text !== "" };
}

function printDryRun(outcome: Outcome, isJson: boolean): void {
  if (isJson) return printJson({ ...toView(outcome, nothingWritten), text: outcome.edited.text });
  process.stdout.write(outcome.edited.text);
  for (const { provider, reason } of outcome.leftOut)
    process.stderr.write(`${provider} was left out: ${reason}\n`);
  for (const { provider, reason } of outcome.unlisted)
    process.stderr.write(`${notListed(provider)}: ${reason}\n`);
}

async function isConfirmed(
  { goal, edited }: Outcome,
  before: string,
  { asker }: Dialogue,
): Promise<boolean> {
  const { file, isReplaced } = goal;
  if (edited.text === file.text) return true;
  print(`\n${style.bold(file.path)}\n`);
  showChange(before, edited.text, print);
  print();
  const question = isReplaced ? "Replace the whole file with this?" : "Write it?";
  if (await asker.confirm(question, !isReplaced)) return true;
  print("Nothing was written.");
  return false;
}

/** Checked before it is written, so that a file which cannot be applied never stands there. */
async function writeAndApply(
  { goal, edited: { text } }: Outcome,
  { wiring }: Invocation,
): Promise<Written> {
  const { file, isOwn, isReplaced } = goal;
  if (text === file.text && file.isThere) return nothingWritten;
  if (isOwn && !isReplaced)
    return { isWritten: true, applied: await putManifest({ wiring, file, text, dryRun: false }) };
  const apply = (dryRun: boolean) =>
    wiring.withOperations((operations) =>
      operations.manifest.apply({ text, dryRun, isOwnFile: isOwn }),
    );
  try {
    await apply(true);
    const undo = replaceFile({ path: file.path, text });
    if (!isOwn) return { isWritten: true, applied: undefined };
    const applied = await apply(false).catch((error: unknown) => {
      takeBack(file.path, undo);
      throw error;
    });
    return { isWritten: true, applied };
  } catch (error) {
    throw inFile(file.path, error);
  }
}

function toView(outcome: Outcome, written: Written) {
  const { goal, edited, connections, leftOut, unlisted, moved, stays } = outcome;
  const { isWritten, applied } = written;
  return {
    file: goal.file.path,
    written: isWritten,
    applied: applied?.applied ?? false,
    providers: connections.map(({ found }) => found.name),
    added: edited.added,
    kept: edited.kept,
    left_out: leftOut,
    unlisted,
    moved_from_engine: moved,
    left_as_they_are: stays,
    warnings: applied?.warnings ?? [],
    older_warnings: applied?.older_warnings ?? 0,
  };
}

const nothingWritten: Written = { isWritten: false, applied: undefined };
