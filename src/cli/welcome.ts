import { type SetProgress, setNames } from "../../engine/weights/sets.ts";
import { curlCommand } from "../base/text/curl.ts";
import { engineProvider } from "../catalog/model.ts";
import type { Configuration } from "../config/load.ts";
import { setOf } from "../engine/embedded.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import type { ModelView } from "../platform/models/schemas.ts";
import type { Operations } from "../platform/operations.ts";
import { printApply } from "./commands/manifest.ts";
import { print, style } from "./terminal/output.ts";
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
  /** What this start has created, where it was the first. */
  readonly first: {
    readonly key: { readonly secret: string; readonly balanceUsd: string } | undefined;
    readonly operatorLink: string | undefined;
  };
}

/** What goes on below the first screen. */
export type Screen = Pick<ProgressView, "above" | "end">;
const nothingBelow: Screen = { above: (write) => write(), end: () => {} };

/** The first screen. Listeners are bound by now: what it says works. Progress goes on below it. */
export async function printServing({
  server,
  configuration,
  version,
  first: { key, operatorLink },
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
  print(`  data      ${settings.dataDir}`);
  if (key !== undefined) {
    print(`  API key   ${style.bold(key.secret)}`);
    print(`            ${style.yellow("shown this once: keep it")}`);
    print(
      `  balance   ${key.balanceUsd} USD ${style.dim("to try it; more: ./svc account credit default 5 --reference TEXT")}`,
    );
  }
  if (operatorLink !== undefined) {
    print(`  operator  ${style.cyan(operatorLink)}`);
    print(`            ${style.yellow("works once: open it to choose your email and password")}`);
  }
  if (key === undefined && settings.firstKey === "off")
    print(
      `  API key   ${style.dim("svc account create NAME, then svc key create --account NAME")}`,
    );
  printModels(models, engine, settings.engine === "off");
  if (key !== undefined)
    print(`\n  Call it\n\n    ${curlLine({ url: gatewayUrl, key: key.secret, models, weights })}`);
  print(`\n  ${style.dim("ctrl-c stops it; ./svc --help lists the commands")}\n`);
  return engine === undefined ? nothingBelow : followWeights(engine, models);
}

function printModels(
  models: readonly ModelView[],
  engine: ServedEngine | undefined,
  isOff: boolean,
): void {
  if (models.length === 0) {
    print(`  models    ${style.yellow("none yet")}${isOff ? " (SVC_ENGINE=off)" : ""}`);
    return print(
      `\n  Connect an upstream: declare a provider and a model in svc.yaml (see README),\n  then start again or run svc apply svc.yaml`,
    );
  }
  const width = Math.max(...models.map(({ id }) => id.length));
  for (const [at, model] of models.entries())
    print(
      `  ${at === 0 ? "models" : "      "}    ${model.id.padEnd(width)}  ${stateText(model, engine)}`,
    );
  const ready = models.filter((model) => isReady(model, engine));
  if (ready.length === 0) return;
  print(`\n  Try it in another shell\n`);
  for (const model of ready) print(`    ${style.cyan(tryLine(model))}`);
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
      ? "its runtime is being installed"
      : `${megabytes(totalBytes)} MB to fetch`,
  );
}

const isReady = (model: ModelView, engine: ServedEngine | undefined) =>
  waitingFor(model, engine?.progress ?? []) === undefined &&
  engineModels(model).every((name) => engine?.problemOf(name) === undefined);

/** The names that its routes give to models of the engine. */
function engineModels({ route_list }: ModelView): readonly string[] {
  return route_list.filter(({ provider }) => provider === engineProvider).map(({ model }) => model);
}

/** The weights that a model still waits for, if it can be served by the engine alone. */
function waitingFor(model: ModelView, weights: readonly SetProgress[]): SetProgress | undefined {
  const names = engineModels(model);
  const [first] = names;
  if (first === undefined || names.length < model.routes.length) return undefined;
  return weights.find(({ set, phase }) => set === setOf(first) && phase !== "ready");
}

/** Bars (or lines, where there is no terminal) until all weights are here, and what to try then. */
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
        print(
          `  ${style.green("ready")}  ${model.id.padEnd(width)}  ${style.cyan(tryLine(model))}`,
        );
    });
    // Several may be ready at once, when their runtime is: each is told before the end.
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

/** Those of the engine in the order in which their weights come. */
function inOrder(models: readonly ModelView[]): readonly ModelView[] {
  const place = (model: ModelView) => {
    const [name] = engineModels(model);
    const set = name === undefined ? undefined : setOf(name);
    return set === undefined ? -1 : setNames.indexOf(set);
  };
  return models.toSorted((left, right) => place(left) - place(right));
}

/** The models that a command takes when none is named. */
const usual = ["svc-3-flash", "svc-embedding-2", "multimodal-embedding-1", "svc-2.5-flash-tts"];

/** A command that works in every shell. */
function tryLine({ id, endpoint, input }: ModelView): string {
  const model = usual.includes(id) ? "" : ` --model ${id}`;
  if (endpoint === "chat") return `svc chat "What is the capital of France?"${model}`;
  if (endpoint === "speech") return `svc say "Hello there." -o hello.wav${model}`;
  return input === "media"
    ? `svc embed --image one.jpg --image two.jpg${model}`
    : `svc embed "A cat sleeps." "A kitten naps."${model}`;
}

/** The first call for people with curl: of a chat model that can answer now, else the list. */
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
