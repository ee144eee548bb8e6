import { defined } from "../../../base/defined.ts";
import { Problem } from "../../../base/problem.ts";
import type { Operations } from "../../../platform/operations.ts";
import type {
  ProviderView,
  SecretView,
  TargetView,
  TrialView,
} from "../../../platform/providers/schemas.ts";
import { type Command, jsonFlag, viewCommand } from "../../command.ts";
import { print, printJson, printTable, style } from "../../terminal/output.ts";
import { ProgressLine } from "../../terminal/progress-line.ts";
import { sourceText } from "../model.ts";
import { providerAdd } from "./add.ts";
import { providerChangeCommands } from "./change.ts";

const providerList = viewCommand({
  name: "provider list",
  about:
    "Lists the providers: address, where the key is, models, the file that defines them, and how a running server finds them.",
  examples: ["svc provider list", "svc provider list --json"],
  load: (operations) => operations.providers.list({}),
  show(providers) {
    if (providers.length === 0)
      return print("No providers yet. svc provider add --help lists those that are known.");
    printTable(
      ["name", "kind", "address", "key", "models", "defined in"],
      providers.map((provider) => [
        provider.name,
        kindText(provider),
        provider.base_url,
        keyText(provider),
        provider.models.map(({ id }) => id).join(", ") || null,
        sourceText(provider),
      ]),
    );
    printTargets(providers);
  },
});

const kindText = ({ kind, vendor }: ProviderView) =>
  vendor === null || vendor === kind ? kind : `${kind} (${vendor})`;

const secretsOf = ({ api_key: key, options }: ProviderView): readonly SecretView[] =>
  [key, ...Object.values(options)].filter(
    (one): one is SecretView => typeof one === "object" && one !== null,
  );

function keyText(provider: ProviderView): string | null {
  const texts = secretsOf(provider).map(({ variable, is_set: isSet }) =>
    variable === null ? "stored" : `\${${variable}} ${isSet ? "set" : style.red("not set")}`,
  );
  return texts.length === 0 ? null : texts.join(", ");
}

function printTargets(providers: readonly ProviderView[]): void {
  const rows = providers.flatMap((provider) =>
    (provider.targets ?? []).map((target) => [
      `${provider.name}/${target.model}`,
      hasKey(provider) ? stateTexts[target.state] : style.red("no key"),
      target.reason === null ? null : (reasons[target.reason] ?? target.reason),
      target.until,
      `${target.requests} requests, ${target.failures} failed`,
    ]),
  );
  if (rows.length === 0) return;
  print();
  printTable(["target", "state", "why", "until", "lately"], rows);
  const isOut = providers.some(({ targets }) => targets?.some(({ state }) => state !== "closed"));
  if (isOut)
    print(
      style.dim(
        "\nWhat is out of service is left out for a while. svc provider test NAME says what is wrong; svc provider reset NAME puts it back at once.",
      ),
    );
}

/** Without its key a target is left out by every call. */
const hasKey = (provider: ProviderView) => secretsOf(provider).every((one) => one.is_set);

/** The words of the docs and the log: those of a breaker read the wrong way round. */
const stateTexts: Readonly<Record<TargetView["state"], string>> = {
  closed: style.green("in service"),
  open: style.red("out of service"),
  "half-open": style.yellow("on trial"),
  resting: style.yellow("resting"),
};

const reasons: Readonly<Record<string, string>> = {
  auth: "key not accepted",
  quota: "no credit or quota left",
  missing: "model or address not found",
  limited: "rate limit reached",
  overloaded: "overloaded",
  timeout: "too slow",
  unreachable: "cannot be reached",
  failed: "failing",
  refused: "refuses the calls",
};

const providerTest: Command = {
  name: "provider test",
  about:
    "Makes one real call of each kind that a provider's routes have, and says what is wrong. Calls are small, but the vendor bills them. Also names routes to models that the vendor does not list, where its list is complete.",
  positionals: ["NAME"],
  flags: {
    model: { about: "only this model, by our name or the upstream's", value: "MODEL" },
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

/** One after another, each told when it has ended: one that hangs does not hide the others. */
async function runTrials(options: {
  readonly operations: Operations;
  readonly what: { readonly name: string; readonly model?: string };
  readonly isForPeople: boolean;
}): Promise<readonly TrialView[]> {
  const { operations, what, isForPeople } = options;
  const views: TrialView[] = [];
  const waiting = new ProgressLine();
  for (const { kind, model } of await operations.providers.planTrials(what)) {
    if (isForPeople && process.stderr.isTTY) waiting.show(`trying ${trialWords(kind, model)} …`);
    const tried = await operations.providers.test({ ...what, kind }).finally(() => waiting.clear());
    views.push(...tried);
    if (isForPeople) for (const view of tried) printTrial(view, what.name);
  }
  return views;
}

/** A good test calls the vendor and not the router, so it puts nothing back in service. */
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
    print(
      `${style.yellow("!")} ${model} is still ${state === "open" ? "out of service" : "resting"}${end}; svc provider reset ${name} puts it back at once.`,
    );
  }
}

const kindWords: Readonly<Record<TrialView["kind"], string>> = {
  chat: "chat",
  stream: "chat, streamed",
  embeddings: "embedding",
  media: "image embedding",
  speech: "speech",
  models: "list of models",
};

const trialWords = (kind: TrialView["kind"], model: string | null) =>
  `${kindWords[kind].padEnd(15)} ${model ?? ""}`.trimEnd();

function printTrial(
  { kind, model, ok, duration_ms: ms, result, problem, unlisted }: TrialView,
  provider: string,
): void {
  const mark = ok ? style.green("ok    ") : style.red("failed");
  print(
    `${mark}  ${trialWords(kind, model)}  ${style.dim(`${ms} ms${result === null ? "" : `, ${result}`}`)}`,
  );
  for (const { model: ours, upstream } of unlisted)
    print(
      `${style.yellow("!")} ${provider} does not list ${upstream}, which serves ${ours}. The vendor may have shut it down: change the route to a model that it lists.`,
    );
  if (problem === null) return;
  print(`        ${problem.what}`);
  if (problem.advice !== "") print(`        ${style.dim(problem.advice)}`);
}

const providerReset = viewCommand({
  name: "provider reset",
  about: "Puts a provider's targets back in service at once, whatever they did before.",
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
  providerReset,
];
