import { defined } from "../../../base/defined.ts";
import { leastFresh } from "../../../base/freshness.ts";
import { Problem } from "../../../base/problem.ts";
import type { Operations } from "../../../platform/operations.ts";
import type {
  PlannedTrialView,
  ProviderView,
  TargetView,
  TrialView,
} from "../../../platform/providers/schemas.ts";
import { type Command, jsonFlag, viewCommand } from "../../command.ts";
import { print, printHint, printJson, printTable, style } from "../../terminal/output.ts";
import { ProgressLine } from "../../terminal/progress-line.ts";
import { sourceText } from "../model/model.ts";
import { printBehind } from "../money-text.ts";
import { providerAdd } from "./add.ts";
import { providerChangeCommands } from "./change.ts";
import { providerKeyCommands } from "./keys.ts";
import { lastDayText, secretText, statusText } from "./words.ts";

const providerList = viewCommand({
  name: "provider list",
  about: "List the providers with their address, key, models, source file and health.",
  examples: ["svc provider list", "svc provider list --json"],
  load: (operations) => operations.providers.list({}),
  show(providers) {
    if (providers.length === 0)
      return printHint("No providers yet. svc provider add --help lists the known vendors.");
    printTable(
      ["name", "state", "kind", "address", "key", "models", "last 24 h", "defined in"],
      providers.map((provider) => [
        provider.name,
        stateText(provider),
        kindText(provider),
        provider.base_url,
        keyText(provider),
        provider.models.map(({ id }) => id).join(", ") || null,
        lastDayText(provider.last_24h),
        sourceText(provider),
      ]),
    );
    printBehind(leastFresh(providers.flatMap((one) => one.last_24h ?? [])));
    printTargets(providers);
  },
});

/** Models without a price are a to-do: they take no calls, whatever their targets do. */
function stateText({ status, needs_price: unpriced }: ProviderView): string {
  if (unpriced.length === 0) return statusText(status);
  const toDo = style.yellow(`needs price (${unpriced.length})`);
  return status === "serving" ? toDo : `${statusText(status)}, ${toDo}`;
}

const kindText = ({ kind, vendor }: ProviderView) =>
  vendor === null || vendor === kind ? kind : `${kind} (${vendor})`;

function keyText({ keys, options }: ProviderView): string | null {
  const secrets = Object.values(options).filter((one) => typeof one === "object");
  const texts = [
    ...keys.map((key) => (keys.length > 1 ? `${key.name}: ` : "") + secretText(key.secret)),
    ...secrets.map(secretText),
  ];
  return texts.length === 0 ? null : texts.join(", ");
}

function printTargets(providers: readonly ProviderView[]): void {
  const rows = providers.flatMap((provider) =>
    (provider.targets ?? []).map((target) => [
      `${provider.name}/${target.model}${target.key === null ? "" : ` (key ${target.key})`}`,
      targetText(target),
      target.reason === null ? null : (reasons[target.reason] ?? target.reason),
      target.until,
      target.requests === 0
        ? "none"
        : `${target.requests} ${target.requests === 1 ? "request" : "requests"}, ${target.failures} failed`,
    ]),
  );
  if (rows.length === 0) return;
  print();
  printTable(["target", "state", "reason", "until", "recent requests"], rows);
  const isOut = providers.some(({ targets }) => targets?.some(({ state }) => state !== "closed"));
  if (isOut)
    printHint(
      style.dim(
        "\nTargets that are out of service are skipped until they recover.\nsvc provider test NAME finds the cause. svc provider reset NAME restores them immediately.",
      ),
    );
}

/** What the circuit breaker does is said where it does something. */
function targetText({ status, state, nodes }: TargetView): string {
  const more = {
    closed: "",
    open: " (skipped)",
    "half-open": " (retrying)",
    resting: " (backing off)",
  };
  const where = nodes === undefined ? "" : ` on ${nodes.join(", ")}`;
  return statusText(status) + more[state] + where;
}

const reasons: Readonly<Record<string, string>> = {
  auth: "key rejected",
  quota: "no credit or quota left",
  missing: "model or address not found",
  limited: "rate limit reached",
  overloaded: "overloaded",
  timeout: "timed out",
  unreachable: "unreachable",
  failed: "failing",
  refused: "rejects the calls",
};

const providerTest: Command = {
  name: "provider test",
  about:
    "Test a provider with one real call of each type. The calls are small, but the vendor bills them. Also reports routes to models that the vendor no longer lists.",
  positionals: ["NAME"],
  flags: {
    model: { about: "only this model, by its id or the provider's name", value: "MODEL" },
    ...jsonFlag,
  },
  examples: [
    "svc provider test groq",
    "svc provider test groq --model llama-3.3-70b-versatile",
    "svc provider test groq --json",
  ],
  async run({ positionals: [name = ""], flags: { model }, switches, wiring }) {
    const what = { name, ...defined({ model }) };
    const isForPeople = !switches.has("json");
    const trials = await wiring.withOperations(async (operations) => {
      const views = await runTrials({ operations, what, isForPeople });
      if (isForPeople) await printStillOut({ operations, name, views });
      return views;
    });
    if (!isForPeople) printJson(trials);
    const failed = trials.filter(({ ok }) => !ok).length;
    if (failed > 0)
      throw new Problem({
        code: "failed",
        message:
          trials.length === 1 ? "The call failed." : `${failed} of ${trials.length} calls failed.`,
      });
  },
};

/** One after another, each reported when it ends, so that one that hangs does not hide the others. */
async function runTrials(options: {
  readonly operations: Operations;
  readonly what: { readonly name: string; readonly model?: string };
  readonly isForPeople: boolean;
}): Promise<readonly TrialView[]> {
  const { operations, what, isForPeople } = options;
  const views: TrialView[] = [];
  const waiting = new ProgressLine();
  const run = crypto.randomUUID();
  for (const planned of await operations.providers.planTrials(what)) {
    const { kind, key } = planned;
    if (isForPeople && process.stderr.isTTY) waiting.show(`testing ${trialWords(planned)} …`);
    const tried = await operations.providers
      .test({ ...what, kind, run, ...(key === null ? {} : { key }) })
      .finally(() => waiting.clear());
    views.push(...tried);
    if (isForPeople) for (const view of tried) printTrial(view, what.name);
  }
  return views;
}

/** A test calls the vendor directly, so it does not put a target back in service. */
async function printStillOut(options: {
  readonly operations: Operations;
  readonly name: string;
  readonly views: readonly TrialView[];
}): Promise<void> {
  const { operations, name, views } = options;
  const good = new Set(views.flatMap(({ ok, model }) => (ok && model !== null ? [model] : [])));
  for (const { model } of views.filter(({ ok }) => !ok)) good.delete(model ?? "");
  if (good.size === 0) return;
  const provider = (await operations.providers.list({})).find((one) => one.name === name);
  for (const { model, state, until } of provider?.targets ?? []) {
    if (!good.has(model) || (state !== "open" && state !== "resting")) continue;
    const end = until === null ? "" : ` until ${until}`;
    printHint(
      `${style.yellow("!")} ${model} is still ${state === "open" ? "out of service" : "backing off"}${end}. svc provider reset ${name} restores it immediately.`,
    );
  }
}

const kindWords: Readonly<Record<TrialView["kind"], string>> = {
  chat: "chat",
  stream: "streamed chat",
  embeddings: "embedding",
  media: "image embedding",
  speech: "speech",
  transcription: "transcription",
  models: "model list",
};

const trialWords = ({ kind, model, key }: PlannedTrialView) =>
  `${kindWords[kind].padEnd(15)} ${model ?? ""}${key === null ? "" : ` (key ${key})`}`.trimEnd();

function printTrial(view: TrialView, provider: string): void {
  const { ok, duration_ms: ms, result, problem, unlisted } = view;
  const mark = ok ? style.green("ok    ") : style.red("failed");
  print(
    `${mark}  ${trialWords(view)}  ${style.dim(`${ms} ms${result === null ? "" : `, ${result}`}`)}`,
  );
  for (const { model: ours, upstream } of unlisted)
    print(
      `${style.yellow("!")} ${provider} does not list ${upstream}, which serves ${ours}. It may be shut down. Change the route to a listed model.`,
    );
  if (problem === null) return;
  print(`        ${problem.what}`);
  if (problem.advice !== "") print(`        ${style.dim(problem.advice)}`);
}

const providerReset = viewCommand({
  name: "provider reset",
  about: "Put the targets of a provider back in service immediately.",
  positionals: ["NAME"],
  optional: ["MODEL"],
  examples: ["svc provider reset groq", "svc provider reset groq llama-3.3-70b-versatile"],
  load: (operations, { positionals: [name = "", model] }) =>
    operations.providers.reset({ name, ...defined({ model }) }),
  show(view, { positionals: [name = ""] }) {
    const targets = `${view.targets} target${view.targets === 1 ? "" : "s"}`;
    print(`${style.green("reset")} ${targets} of ${name}`);
  },
});

export const providerCommands: readonly Command[] = [
  providerAdd,
  providerList,
  providerTest,
  ...providerChangeCommands,
  ...providerKeyCommands,
  providerReset,
];
