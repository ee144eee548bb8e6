import { join } from "node:path";
import { type SetProgress, setNames } from "../../engine/weights/sets.ts";
import { curlCommand } from "../base/text/curl.ts";
import { engineProvider } from "../catalog/model.ts";
import type { Configuration } from "../config/load.ts";
import { databasePlace, isPostgresUrl } from "../config/setting-readers.ts";
import { setOf } from "../engine/embedded.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import type { ModelView } from "../platform/models/schemas.ts";
import type { Operations } from "../platform/operations.ts";
import { printApply } from "./commands/manifest.ts";
import { print, printHint, style } from "./terminal/output.ts";
import { createProgressView, megabytes, type ProgressView } from "./terminal/progress.ts";

type ServedEngine = Pick<EngineSupervisor, "progress" | "watchers" | "problemOf">;

export interface ServingOptions {
  readonly server: {
    readonly gatewayUrl: string;
    readonly platformUrl: string;
    readonly operations: Operations;
    readonly engine: ServedEngine | undefined;
    readonly applied: Parameters<typeof printApply>[0] | undefined;
  };
  readonly configuration: Configuration;
  readonly version: string;
  /** The names of the workers, where there are any. */
  readonly workers?: readonly string[] | undefined;
  /** What this start has created, where it was the first. */
  readonly first: {
    readonly key: { readonly secret: string; readonly balanceUsd: string } | undefined;
    readonly operatorLink: string | undefined;
  };
}

/** The progress below the first screen. */
export type Screen = Pick<ProgressView, "above" | "end">;
const nothingBelow: Screen = { above: (write) => write(), end: () => {} };

/** The first screen. The server already listens. Progress is shown below it. */
export async function printServing({
  server,
  configuration,
  version,
  workers = [],
  first,
}: ServingOptions): Promise<Screen> {
  const { operations, applied, gatewayUrl, platformUrl, engine } = server;
  const { settings, file } = configuration;
  const isNews = applied !== undefined && applied.differences.length + applied.warnings.length > 0;
  if (isNews && file !== undefined) {
    print(style.dim(file.path));
    printApply(applied, false);
    print();
  }
  const models = inOrder((await operations.models.list({})).filter(({ served }) => served));
  const weights = engine?.progress ?? [];
  print(`${style.bold("svc gateway")} ${version}\n`);
  print(`  gateway   ${style.cyan(`${gatewayUrl}/v1`)}`);
  print(`  console   ${style.cyan(platformUrl)}`);
  if (workers.length > 0) print(`  workers   ${workersText(workers)}`);
  printData(settings);
  printFirst(first);
  const { key } = first;
  if (key === undefined && settings.firstKey === "off")
    printHint(
      `  API key   ${style.dim("svc account create NAME, then svc key create --account NAME")}`,
    );
  const hasExample = printModels(models, engine, settings.engine === "off");
  if (key !== undefined) {
    const line = curlLine({ url: gatewayUrl, key: key.secret, models, weights });
    print(`\n  ${hasExample ? "Or call the API" : "Call the API"}\n\n    ${line}`);
    const tools = "svc connect shows the settings for Claude Code, Codex and other tools.";
    printHint(`\n  ${style.dim(tools)}`);
  }
  printHint(
    `${key === undefined ? "\n" : ""}  ${style.dim("Ctrl-C stops the server. svc --help lists the commands.")}\n`,
  );
  return engine === undefined ? nothingBelow : followWeights(engine, models);
}

/** The screen of `svc gateway`. */
export function printGateway(options: {
  readonly gatewayUrl: string;
  readonly metricsUrl: string;
  readonly configuration: Configuration;
  readonly version: string;
}): void {
  const { gatewayUrl, metricsUrl, configuration, version } = options;
  const { settings } = configuration;
  print(`${style.bold("svc gateway")} ${version}\n`);
  print(`  gateway   ${style.cyan(`${gatewayUrl}/v1`)}`);
  print(`  metrics   ${settings.metricsAccess === "off" ? "off" : style.cyan(metricsUrl)}`);
  print(`  node      ${settings.node}`);
  printData(settings);
  print(`\n  ${style.dim("Ctrl-C stops the gateway.")}\n`);
}

/** The screen of `svc platform`. */
export function printPlatform(options: {
  readonly url: string;
  readonly configuration: Configuration;
  readonly version: string;
  readonly first: ServingOptions["first"];
}): void {
  const { url, configuration, version, first } = options;
  print(`${style.bold("svc platform")} ${version}\n`);
  print(`  console   ${style.cyan(url)}`);
  printData(configuration.settings);
  printFirst(first);
  print(`\n  ${style.dim("Ctrl-C stops the platform.")}\n`);
}

function printData({ dataDir, databaseUrl }: Configuration["settings"]): void {
  const database = isPostgresUrl(databaseUrl)
    ? databasePlace(databaseUrl)
    : (databaseUrl ?? join(dataDir, "svc.db"));
  print(`  data      ${dataDir}`);
  print(`  database  ${database}`);
}

/** More names would not fit on a line. */
const shownWorkers = 8;

function workersText(names: readonly string[]): string {
  return names.length <= shownWorkers ? names.join(", ") : `${names[0]} to ${names.at(-1)}`;
}

/** What is shown once. */
function printFirst({ key, operatorLink }: ServingOptions["first"]): void {
  if (key !== undefined) {
    print(`  API key   ${style.bold(key.secret)}`);
    print(`            ${style.yellow("shown only once; save it now")}`);
    printHint(
      `  balance   ${key.balanceUsd} USD ${style.dim("to start with (svc account credit adds more)")}`,
    );
  }
  if (operatorLink !== undefined) {
    print(`  operator  ${style.cyan(operatorLink)}`);
    print(`            ${style.yellow("works once; open it to create the operator account")}`);
  }
}

/** Whether it has shown a command that calls one of them. */
function printModels(
  models: readonly ModelView[],
  engine: ServedEngine | undefined,
  isOff: boolean,
): boolean {
  if (models.length === 0) {
    print(`  models    ${style.yellow("none yet")}${isOff ? " (SVC_ENGINE=off)" : ""}`);
    printHint(`\n  Connect a provider in another shell\n\n    ${style.cyan("svc init")}`);
    return false;
  }
  const width = Math.max(...models.map(({ id }) => id.length));
  for (const [at, model] of models.entries())
    print(
      `  ${at === 0 ? "models" : "      "}    ${model.id.padEnd(width)}  ${stateText(model, engine)}`,
    );
  const ready = models.filter((model) => isReady(model, engine));
  const example = ready.find(({ endpoint }) => endpoint === "chat") ?? ready[0];
  if (example === undefined) return false;
  printHint(`\n  Try it in another shell\n\n    ${style.cyan(tryLine(example))}`);
  return true;
}

function stateText(model: ModelView, engine: ServedEngine | undefined): string {
  const problem = engineModels(model).map((name) => engine?.problemOf(name));
  if (problem.length === model.routes.length && problem.every((one) => one !== undefined))
    return style.red(problem[0] ?? "");
  const waiting = waitingFor(model, engine?.progress ?? []);
  if (waiting === undefined) return style.green("ready");
  const { doneBytes, totalBytes, phase } = waiting;
  return style.yellow(
    phase === "waiting" && doneBytes === totalBytes
      ? "installing its runtime"
      : `${megabytes(totalBytes)} MB to download`,
  );
}

const isReady = (model: ModelView, engine: ServedEngine | undefined) =>
  waitingFor(model, engine?.progress ?? []) === undefined &&
  engineModels(model).every((name) => engine?.problemOf(name) === undefined);

/** The names that its routes give to models of the engine. */
function engineModels({ route_list }: ModelView): readonly string[] {
  return route_list.filter(({ provider }) => provider === engineProvider).map(({ model }) => model);
}

/** The weights that a model still needs, if only the engine serves it. */
function waitingFor(model: ModelView, weights: readonly SetProgress[]): SetProgress | undefined {
  const names = engineModels(model);
  const [first] = names;
  if (first === undefined || names.length < model.routes.length) return undefined;
  return weights.find(({ set, phase }) => set === setOf(first) && phase !== "ready");
}

/** Bars (lines without a terminal) until all weights are downloaded, then an example for each. */
export function followWeights(engine: ServedEngine, models: readonly ModelView[]): Screen {
  if (engine.progress.every(isHere)) return nothingBelow;
  const view: ProgressView = createProgressView();
  for (const progress of engine.progress) view.update(progress);
  const width = Math.max(0, ...models.map(({ id }) => id.length));
  const told = new Set(engine.progress.filter(isHere).map(({ set }) => set));
  const watch = (progress: SetProgress) => {
    view.update(progress);
    if (progress.phase !== "ready" || told.has(progress.set)) return;
    told.add(progress.set);
    view.above(() => {
      for (const model of models.filter((one) => usesSet(one, progress)))
        printHint(
          `  ${style.green("ready")}  ${model.id.padEnd(width)}  ${style.cyan(tryLine(model))}`,
        );
    });
    // Several can become ready at once, with their runtime. Each is announced before the end.
    if (engine.progress.every((one) => isHere(one) && told.has(one.set))) end();
  };
  const end = () => {
    engine.watchers.delete(watch);
    view.end();
  };
  engine.watchers.add(watch);
  return { above: view.above, end };
}

const isHere = ({ phase }: SetProgress) => phase === "ready";

function usesSet(model: ModelView, { set }: SetProgress): boolean {
  return engineModels(model).some((name) => setOf(name) === set);
}

/** Those of the engine in the order of their downloads. */
function inOrder(models: readonly ModelView[]): readonly ModelView[] {
  const place = (model: ModelView) => {
    const [name] = engineModels(model);
    const set = name === undefined ? undefined : setOf(name);
    return set === undefined ? -1 : setNames.indexOf(set);
  };
  return models.toSorted((left, right) => place(left) - place(right));
}

/** The models that commands use by default. */
const usual = [
  "svc-3-flash",
  "svc-embedding-2",
  "multimodal-embedding-1",
  "svc-2.5-flash-tts",
  "svc-transcribe-1",
];

/** A command that works in every shell. */
function tryLine({ id, endpoint, input }: ModelView): string {
  const model = usual.includes(id) ? "" : ` --model ${id}`;
  if (endpoint === "chat") return `svc chat "What is the capital of France?"${model}`;
  if (endpoint === "speech") return `svc say "Hello there." -o hello.wav${model}`;
  if (endpoint === "transcription") return `svc transcribe hello.wav${model}`;
  return input === "media"
    ? `svc embed --image one.jpg --image two.jpg${model}`
    : `svc embed "A cat sleeps." "A kitten naps."${model}`;
}

/** A first call with curl: to a chat model that is ready, otherwise to the model list. */
function curlLine(options: {
  readonly url: string;
  readonly key: string;
  readonly models: readonly ModelView[];
  readonly weights: readonly SetProgress[];
}): string {
  const { url, key, models, weights } = options;
  const chat = models.find(
    (model) => model.endpoint === "chat" && waitingFor(model, weights) === undefined,
  );
  if (chat === undefined) return curlCommand({ url: `${url}/v1/models`, bearer: key });
  const body = JSON.stringify({
    model: chat.id,
    messages: [{ role: "user", content: "What is the capital of France?" }],
    stream: true,
  });
  return curlCommand({ url: `${url}/v1/chat/completions`, bearer: key, body, isStream: true });
}
