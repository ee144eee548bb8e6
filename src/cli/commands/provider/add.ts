import { Problem } from "../../../base/problem.ts";
import { providerKinds } from "../../../catalog/provider-kinds.ts";
import { findVendor } from "../../../catalog/vendors.ts";
import { draftText } from "../../../manifest/draft.ts";
import type { Warning } from "../../../manifest/warnings.ts";
import type { AddedView } from "../../../platform/manifest/change.ts";
import {
  type DraftedProvider,
  draftProvider,
  vendorTable,
} from "../../../platform/providers/draft.ts";
import type { OfferView, Proposal } from "../../../platform/providers/schemas.ts";
import { type Command, type Invocation, jsonFlag } from "../../command.ts";
import { wrap } from "../../help.ts";
import { isNamed, notOffered, toChoice, troubleText } from "../../init/offer.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, printHint, printJson, style } from "../../terminal/output.ts";
import { askMany, askSecret, askYes, isInteractive } from "../../terminal/prompts.ts";
import { entryText, printWarnings, toApplyJson, withoutFile } from "../manifest.ts";
import { noTestFlag, readKey, saveTested } from "./change.ts";
import { checkOtherServer, checkVendor } from "./check-target.ts";

export const providerAdd: Command = {
  name: "provider add",
  about: "Connect a provider: a known vendor, or any server by its address.",
  positionals: ["VENDOR|NAME"],
  choices: vendorTable().map(([id]) => id),
  flags: {
    name: { about: "name of the provider (default: the vendor's id)", value: "NAME" },
    kind: {
      about: `protocol, if the vendor is unknown: ${providerKinds.join(", ")}`,
      value: "KIND",
      choices: providerKinds,
    },
    "base-url": { about: "address of the API, such as https://host/v1", value: "URL" },
    "key-env": { about: "environment variable that contains the key", value: "NAME" },
    "key-stdin": { about: "read the key from standard input and store it encrypted" },
    "allow-private": { about: "allow a private or loopback address" },
    option: {
      about: "option for its kind, such as region=us-east-1",
      value: "name=value",
      multiple: true,
    },
    models: {
      about: "models to serve, by the provider's names, separated by commas",
      value: "a,b",
    },
    "all-models": { about: "serve all models that it offers" },
    unlisted: { about: "accept names in --models that the provider does not list" },
    "no-models": { about: "only connect the provider; do not list or serve its models" },
    "dry-run": { about: "show the changes without making them" },
    ...noTestFlag,
    ...jsonFlag,
  },
  createsStore: true,
  examples: [
    "svc provider add groq --all-models",
    "svc provider add openai --key-env OPENAI_API_KEY --models gpt-4o-mini,text-embedding-3-small",
    "svc provider add mistral --key-stdin < key.txt",
    "svc provider add ollama",
    "svc provider add mine --base-url http://10.0.0.5:8000/v1 --allow-private",
    "svc provider add bedrock --option region=eu-central-1 --no-models",
    "svc provider add mine --base-url https://host/v1 --no-test",
  ],
  more: () => {
    const rows = vendorTable();
    const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
    const [ids = 0, titles = 0] = widths;
    return [
      style.bold("Vendors"),
      ...rows.map(
        ([id, title, about]) =>
          `  ${style.cyan(id.padEnd(ids))}  ${title.padEnd(titles)}  ${wrap(about.split(" "), { indent: ids + titles + 6 }).join("\n")}`,
      ),
    ];
  },
  run: (invocation) => interruptible((signal) => add(invocation, signal)),
};

async function add(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { switches, wiring } = invocation;
  const wished = readWishes(invocation);
  const known = await findAdded(invocation);
  const { provider, literals } = known ?? (await draftWithKey(invocation, signal));
  const drafted = { provider, literals, isNew: known === undefined };
  const isFailed = !(await passesTest({ invocation, drafted, signal }));
  // What has just failed is not asked for its models.
  const wishes = isFailed && wished === "asked" ? "none" : wished;
  const asked: Asked = { invocation, wishes, ...drafted, signal };
  const offer = wishes === "none" ? undefined : await ask(asked);
  const chosen = offer === undefined ? [] : await choose({ ...asked, offer });
  const draft = {
    providers: known === undefined ? { [provider.name]: provider.draft } : {},
    models: Object.fromEntries(chosen.map((one) => [one.id, one.draft])),
  };
  const dryRun = switches.has("dry-run");
  const view = await wiring.withOperations((operations) =>
    operations.manifest.add({ draft, literals: { [provider.name]: literals }, dryRun }),
  );
  if (isFailed)
    await wiring.withOperations((operations) =>
      operations.providers.check({ provider: provider.name, isSaved: true }),
    );
  const outcome: Outcome = { provider, chosen, offer, view, dryRun, yaml: draftText(draft) };
  if (switches.has("json")) printJson(toJson(outcome));
  else printAdded(outcome);
}

/** False where the test of a new provider failed, and it is to be saved anyway. */
function passesTest(options: {
  readonly invocation: Invocation;
  readonly drafted: Drafted;
  readonly signal: AbortSignal;
}): Promise<boolean> {
  const { invocation, drafted, signal } = options;
  const { switches, wiring } = invocation;
  if (!drafted.isNew || switches.has("dry-run")) return Promise.resolve(true);
  return saveTested({ invocation, signal }, async (test) => {
    if (Object.keys(test).length > 0) return test.save_anyway !== true;
    await wiring.withOperations((operations) => operations.providers.check(toDrafted(drafted)));
    return true;
  });
}

/** What the provider said, and the words for what kept it from that. */
interface Offer extends OfferView {
  readonly trouble: string | undefined;
}

interface Drafted {
  readonly provider: DraftedProvider;
  readonly literals: Readonly<Record<string, string>>;
  readonly isNew: boolean;
}

interface Asked extends Drafted {
  readonly invocation: Invocation;
  readonly wishes: Wishes;
  readonly signal: AbortSignal;
}

/** The provider as operations know it: by its name, or by what it would be. */
const toDrafted = ({ provider, literals, isNew }: Drafted) => ({
  provider: provider.name,
  ...(isNew ? { draft: provider.draft, literals } : {}),
});

async function ask(asked: Asked): Promise<Offer> {
  const offer = await asked.invocation.wiring.withOperations((operations) =>
    operations.providers.offerOf(toDrafted(asked)),
  );
  const { problem } = offer;
  return { ...offer, trouble: problem === null ? undefined : troubleText(problem) };
}

type Wishes = readonly string[] | "all" | "none" | "asked";

function readWishes({ flags: { models }, switches }: Invocation): Wishes {
  const given = [models !== undefined, switches.has("all-models"), switches.has("no-models")];
  if (given.filter(Boolean).length > 1)
    throw new Problem({
      code: "invalid",
      message: "Use only one of --models, --all-models and --no-models.",
      field: "models",
    });
  if (switches.has("all-models")) return "all";
  if (switches.has("no-models")) return "none";
  if (models === undefined) return "asked";
  const names = models
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0)
    throw new Problem({
      code: "invalid",
      message: "Expected model names, separated by commas.",
      field: "models",
    });
  return names;
}

/** An existing provider stays unchanged; only models are added to it. */
async function findAdded(invocation: Invocation): Promise<Keyed | undefined> {
  const { flags, switches, lists, positionals, wiring } = invocation;
  const name = flags["name"] ?? positionals[0] ?? "";
  const providers = await wiring.withOperations((operations) => operations.providers.list({}));
  if (!providers.some((known) => known.name === name)) return undefined;
  const others = ["kind", "base-url", "key-env"].some((flag) => flags[flag] !== undefined);
  const isOther =
    others ||
    switches.has("key-stdin") ||
    switches.has("allow-private") ||
    (lists["option"] ?? []).length > 0;
  const addsModels = flags["models"] !== undefined || switches.has("all-models");
  if (isOther || !(addsModels || isInteractive(invocation)))
    throw alreadyExists({ name, isOther, addsModels });
  const provider = {
    name,
    title: name,
    draft: {},
    literals: {},
    lacksKey: undefined,
    keyVariables: [],
  };
  return { provider, literals: {} };
}

function alreadyExists(given: {
  readonly name: string;
  /** Flags that would change the provider were set. */
  readonly isOther: boolean;
  readonly addsModels: boolean;
}): Problem {
  const { name, isOther, addsModels } = given;
  const advice = !isOther
    ? "Add models to it with --models or --all-models."
    : addsModels
      ? "To add models to it, omit the flags for its address, key and options."
      : "Change it with svc provider update, or choose another name with --name.";
  return new Problem({
    code: "conflict",
    message: `Provider "${name}" already exists. ${advice}`,
    field: "name",
    command:
      isOther && !addsModels
        ? `provider update ${name} --help`
        : `provider add ${name} --all-models`,
  });
}

interface Keyed {
  readonly provider: DraftedProvider;
  readonly literals: Readonly<Record<string, string>>;
}

async function draftWithKey(invocation: Invocation, signal: AbortSignal): Promise<Keyed> {
  const { flags, switches, lists, positionals, wiring } = invocation;
  const [word = ""] = positionals;
  const { variable } = wiring.configuration();
  checkVendor(word, flags);
  await checkOtherServer(flags["base-url"] ?? findVendor(word)?.baseUrl ?? "", wiring);
  if (switches.has("key-stdin") && flags["key-env"] !== undefined)
    throw new Problem({
      code: "invalid",
      message: "Use either --key-env or --key-stdin.",
      field: "key_env",
    });
  const draft = (hasLiteralKey: boolean) =>
    draftProvider({
      word,
      name: flags["name"],
      kind: flags["kind"],
      baseUrl: flags["base-url"],
      keyEnv: flags["key-env"],
      hasLiteralKey,
      allowPrivate: switches.has("allow-private"),
      options: lists["option"] ?? [],
      isSet: (name) => (variable(name) ?? "") !== "",
    });
  const isGiven = switches.has("key-stdin");
  const provider = draft(isGiven);
  const asks = isGiven
    ? process.stdin.isTTY
    : provider.lacksKey !== undefined && isInteractive(invocation);
  const question = `API key for ${provider.title} (stored encrypted)`;
  const key = asks
    ? await askSecret(question, signal)
    : isGiven
      ? readKey(await Bun.stdin.text())
      : "";
  if (key === "") {
    if (isGiven || provider.lacksKey !== undefined) throw withoutKey(provider);
    return { provider, literals: provider.literals };
  }
  const keyed = isGiven ? provider : draft(true);
  return { provider: keyed, literals: { ...keyed.literals, api_key: readKey(key) } };
}

function withoutKey({ title, keyVariables }: DraftedProvider): Problem {
  const [usual = "NAME"] = keyVariables;
  return new Problem({
    code: "invalid",
    message: `${title} needs a key. Set ${usual}, or pass the key with --key-env NAME or --key-stdin.`,
    field: "key_env",
  });
}

async function choose(options: Asked & { readonly offer: Offer }): Promise<readonly Proposal[]> {
  const { offer, wishes, provider, invocation, signal } = options;
  const { proposals, trouble } = offer;
  if (wishes === "none") return [];
  if (wishes !== "all" && wishes !== "asked") return chooseNamed({ ...options, names: wishes });
  const asks = wishes === "asked" && isInteractive(invocation);
  if (trouble !== undefined) {
    if (wishes === "all")
      throw new Problem({
        code: "failed",
        message: `The models of ${provider.name} cannot be listed. ${trouble}\nNothing was changed. To connect the provider without models, use --no-models.`,
      });
    if (!asks) return [];
    print(`${style.yellow("!")} ${trouble}`);
    const question = "Connect it anyway, without models?";
    if (await askYes({ question, offered: false, signal })) return [];
    throw new Problem({ code: "failed", message: "Nothing was changed." });
  }
  if (wishes === "all") return proposals;
  if (!asks || proposals.length === 0) return [];
  return askMany({
    question: `${provider.title} offers ${countOf(proposals.length, "model")}. Which ones do you want to serve?`,
    choices: proposals.map(toChoice),
    chosen: [],
    signal,
  });
}

/** The listed ones; others only without a list or with --unlisted. */
async function chooseNamed(
  asked: Asked & { readonly offer: Offer; readonly names: readonly string[] },
): Promise<readonly Proposal[]> {
  const { names, offer, provider, invocation } = asked;
  const { wiring, switches } = invocation;
  const chosen = offer.proposals.filter((one) => names.some((name) => isNamed(one, name)));
  const providers = await wiring.withOperations((operations) => operations.providers.list({}));
  const routed = new Set(
    providers
      .filter(({ name }) => name === provider.name)
      .flatMap(({ models }) => models.flatMap(({ upstream }) => upstream)),
  );
  const missing = names
    .filter((name) => !chosen.some((one) => isNamed(one, name)))
    .filter((name) => !routed.has(name) && !routed.has(`models/${name}`));
  if (missing.length === 0) return chosen;
  if (offer.listed !== null && !switches.has("unlisted"))
    throw notOffered({
      provider: provider.name,
      names: missing,
      listed: offer.listed,
      wayRound: "To use a name that is not listed, add --unlisted.",
    });
  const more = await wiring.withOperations((operations) =>
    operations.providers.proposeNamed({ ...toDrafted(asked), names: missing }),
  );
  return [...chosen, ...more];
}

const countOf = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

interface Outcome {
  readonly provider: DraftedProvider;
  readonly chosen: readonly Proposal[];
  readonly offer: Offer | undefined;
  readonly view: AddedView;
  readonly dryRun: boolean;
  /** What is new, as a file would have it. */
  readonly yaml: string;
}

function toJson({ provider, chosen, offer, view, dryRun, yaml }: Outcome) {
  const { trouble: _, listed: __, ...told } = offer ?? { trouble: undefined, listed: null };
  const { added: ___, kept: ____, ...applied } = toApplyJson(view);
  return {
    provider: provider.name,
    ...withoutFile,
    added: chosen,
    offer: offer === undefined ? null : told,
    ...applied,
    ...(dryRun ? { yaml } : {}),
  };
}

function printAdded({ provider, chosen, offer, view, dryRun, yaml }: Outcome): void {
  const { name } = provider;
  for (const entry of view.added) print(`${style.green("+")} ${entryText(entry)}`);
  for (const { id, note } of chosen)
    if (note !== null) print(`${style.yellow("!")} model ${id}: ${note}`);
  // A new model without a price already has a note about it.
  const isNoted = ({ kind, subject }: Warning) =>
    kind === "not_served" && chosen.some(({ id, price }) => price === null && id === subject);
  printWarnings(view.warnings.filter((warning) => !isNoted(warning)));
  const trouble = offer?.trouble;
  if (trouble !== undefined)
    print(`${style.yellow("!")} The models of ${name} could not be listed. ${trouble}`);
  if (dryRun) {
    print(`\n${yaml}`);
    return print("Nothing was changed (--dry-run).");
  }
  const unpriced = chosen.filter(({ price }) => price === null).map(({ id }) => id);
  if (unpriced.length > 0)
    printHint(style.dim("svc price set MODEL … --input USD --output USD sets their prices."));
  const word = trouble !== undefined || offer === undefined ? "added" : "connected";
  print(`${style.green(word)} ${name}`);
  if (chosen.length > 0 || trouble !== undefined || offer === undefined)
    return printHint(style.dim(`svc provider test ${name} makes one call of each type.`));
  const proposed = offer.proposals;
  if (proposed.length === 0) return;
  const [first] = proposed;
  print(`${name} offers ${countOf(proposed.length, "model")}. None is served yet. Add some:`);
  printHint(`  ${style.cyan(`svc provider add ${name} --models ${first?.id ?? "NAME"}`)}`);
  printHint(`  ${style.cyan(`svc provider add ${name} --all-models`)}`);
}
