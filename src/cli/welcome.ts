import type { SetProgress } from "../../engine/weights/sets.ts";
import type { Configuration } from "../config/load.ts";
import { setOf } from "../engine/embedded.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import type { Operations } from "../platform/operations.ts";
import type { ModelView } from "../platform/views.ts";
import { printApply } from "./commands.ts";
import { print, style } from "./output.ts";
import { createProgressView, megabytes, type ProgressView } from "./progress.ts";

export interface ServingOptions {
  readonly server: {
    readonly gatewayUrl: string;
    readonly platformUrl: string;
    readonly operations: Operations;
    readonly engine: Pick<EngineSupervisor, "progress" | "watchers"> | undefined;
    readonly applied: Parameters<typeof printApply>[0] | undefined;
  };
  readonly configuration: Configuration;
  readonly version: string;
}

/** What goes on below the first screen. */
export type Screen = Pick<ProgressView, "above" | "end">;
const nothingBelow: Screen = { above: (write) => write(), end: () => {} };

/** The first screen. Listeners are bound by now: what it says works. Progress goes on below it. */
export async function printServing({
  server,
  configuration,
  version,
}: ServingOptions): Promise<Screen> {
  const { operations, applied, gatewayUrl, platformUrl, engine } = server;
  const { settings, file } = configuration;
  const isNews = applied !== undefined && applied.differences.length + applied.warnings.length > 0;
  if (isNews && file !== undefined) {
    print(style.dim(file.path));
    printApply(applied, false);
    print();
  }
  const models = (await operations.listModels({})).filter(({ served }) => served);
  const weights = engine?.progress ?? [];
  print(`${style.bold("svc gateway")} ${version}\n`);
  print(`  gateway   ${style.cyan(`${gatewayUrl}/v1`)}`);
  print(`  console   ${style.cyan(platformUrl)}`);
  print(`  data      ${settings.dataDir}`);
  const key = settings.firstKey === "on" ? await makeFirstKey(operations) : undefined;
  if (key !== undefined)
    print(`  API key   ${style.bold(key)}  ${style.yellow("shown this once: keep it")}`);
  else if (settings.firstKey === "off")
    print(
      `  API key   ${style.dim("./svc account create NAME, then ./svc key create --account NAME")}`,
    );
  printModels(models, weights);
  if (key !== undefined)
    print(`\n  Call it\n\n    ${curlLine({ url: gatewayUrl, key, models, weights })}`);
  print(`\n  ${style.dim("ctrl-c stops it; ./svc --help lists the commands")}\n`);
  return engine === undefined ? nothingBelow : followWeights(engine, models);
}

function printModels(models: readonly ModelView[], weights: readonly SetProgress[]): void {
  if (models.length === 0) {
    print(`  models    ${style.yellow("none yet")}`);
    return print(
      `\n  Connect an upstream: declare a provider and a model in svc.yaml (see README), then start again or run ./svc apply svc.yaml`,
    );
  }
  const width = Math.max(...models.map(({ id }) => id.length));
  // In the order in which they get ready.
  const sizeOf = (model: ModelView) => waitingFor(model, weights)?.totalBytes ?? 0;
  const ordered = models.toSorted((left, right) => sizeOf(left) - sizeOf(right));
  for (const [at, model] of ordered.entries()) {
    const waiting = waitingFor(model, weights);
    const state =
      waiting === undefined
        ? `${style.green("ready")}  ${style.dim(tryLine(model))}`
        : style.yellow(`${megabytes(waiting.totalBytes)} MB to fetch`);
    print(`  ${at === 0 ? "models" : "      "}    ${model.id.padEnd(width)}  ${state}`);
  }
}

/** The weights that a model still waits for, if it can be served by the engine alone. */
function waitingFor(
  { routes }: ModelView,
  weights: readonly SetProgress[],
): SetProgress | undefined {
  const sets = routes.map((route) =>
    route.startsWith("engine/") ? setOf(route.slice("engine/".length)) : undefined,
  );
  const [first] = sets;
  if (first === undefined || sets.includes(undefined)) return undefined;
  return weights.find(({ set, phase }) => set === first && phase !== "ready");
}

/** Bars (or lines, where there is no terminal) until all weights are here, and what to try then. */
function followWeights(
  engine: Pick<EngineSupervisor, "progress" | "watchers">,
  models: readonly ModelView[],
): Screen {
  if (engine.progress.every(({ phase }) => phase === "ready")) return nothingBelow;
  const view: ProgressView = createProgressView();
  for (const progress of engine.progress) view.update(progress);
  const told = new Set<string>();
  const watch = (progress: SetProgress) => {
    view.update(progress);
    if (progress.phase !== "ready" || told.has(progress.set)) return;
    told.add(progress.set);
    view.above(() => {
      for (const model of models.filter((one) => usesSet(one, progress)))
        print(`${style.green("ready")}  ${model.id}  ${style.cyan(tryLine(model))}`);
    });
    if (engine.progress.every(({ phase }) => phase === "ready")) end();
  };
  const end = () => {
    engine.watchers.delete(watch);
    view.end();
  };
  engine.watchers.add(watch);
  return { above: view.above, end };
}

function usesSet({ routes }: ModelView, { set }: SetProgress): boolean {
  return routes.some(
    (route) => route.startsWith("engine/") && setOf(route.slice("engine/".length)) === set,
  );
}

/** Only on the very first start, when nobody has made an account yet. */
async function makeFirstKey(operations: Operations): Promise<string | undefined> {
  if ((await operations.listAccounts({})).length > 0) return undefined;
  const account = await operations.createAccount({ name: "default" });
  const { key } = await operations.createKey({ account: account.id, name: "first" });
  return key;
}

/** The models that a command takes when none is named. */
const usual = ["svc-3-flash", "svc-embedding-2", "multimodal-embedding-1", "svc-2.5-flash-tts"];

/** A command that works in every shell. */
function tryLine({ id, endpoint, input }: ModelView): string {
  const model = usual.includes(id) ? "" : ` --model ${id}`;
  if (endpoint === "chat") return `./svc chat "What is the capital of France?"${model}`;
  if (endpoint === "speech") return `./svc say "Hello from this machine." -o hello.wav${model}`;
  return input === "media"
    ? `./svc embed --image one.jpg --image two.jpg${model}`
    : `./svc embed "A cat sleeps." "A kitten naps."${model}`;
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
  if (chat === undefined) return `curl ${url}/v1/models -H "Authorization: Bearer ${key}"`;
  const body = JSON.stringify({
    model: chat.id,
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
  });
  return `curl -N ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}
