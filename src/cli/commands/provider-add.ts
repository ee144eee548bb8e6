import { inFile, Problem } from "../../base/problem.ts";
import { addToManifest, fragmentOf, namesOf } from "../../manifest/edit.ts";
import type { Literals } from "../../manifest/literals.ts";
import {
  type DraftedProvider,
  draftProvider,
  vendorTable,
} from "../../platform/providers/draft.ts";
import type { OfferView } from "../../platform/providers/operations.ts";
import { type Proposal, takenIds } from "../../platform/providers/proposal.ts";
import { type Command, type Invocation, jsonFlag } from "../command.ts";
import { isNamed, listedNames, notOffered, proposeNamed } from "../init/named-models.ts";
import { readPresent } from "../init/plan.ts";
import { showProposals } from "../init/show.ts";
import { readChoice } from "../terminal/ask.ts";
import { askHidden } from "../terminal/hidden-line.ts";
import { isInteractive, openAsker } from "../terminal/interactive.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printJson, style } from "../terminal/output.ts";
import { byFlags, newTrouble } from "./connect-advice.ts";
import {
  type ManifestFile,
  openManifest,
  type PutView,
  putManifest,
  warningLines,
} from "./manifest-file.ts";

export const providerAdd: Command = {
  name: "provider add",
  about:
    "Connects a provider: a vendor that is known, or any server by its address. Writes svc.yaml and puts it in force.",
  positionals: ["VENDOR|NAME"],
  flags: {
    name: { about: "what to call it; the vendor's id unless told", value: "NAME" },
    kind: { about: "the wire format of a server that is no known vendor's", value: "KIND" },
    "base-url": { about: "where it is", value: "URL" },
    "key-env": { about: "the variable that holds the key", value: "NAME" },
    "key-stdin": { about: "read the key from standard input; it is kept encrypted" },
    "allow-private": { about: "let it be on a private or loopback address" },
    option: { about: "what its kind needs beside that", value: "name=value", multiple: true },
    models: { about: "serve these, by the upstream's names, by commas", value: "a,b" },
    "all-models": { about: "serve all that it offers" },
    unlisted: { about: "take names of --models also where they are not on its list" },
    "no-models": { about: "serve none yet, and do not ask for its models" },
    "dry-run": { about: "show what would change and change nothing" },
    ...jsonFlag,
  },
  examples: [
    "svc provider add groq --all-models",
    "svc provider add openai --key-env OPENAI_API_KEY --models gpt-4o-mini,text-embedding-3-small",
    "svc provider add mistral --key-stdin < key.txt",
    "svc provider add ollama",
    "svc provider add mine --base-url http://10.0.0.5:8000/v1 --allow-private",
    "svc provider add bedrock --option region=eu-central-1 --no-models",
  ],
  more: () => {
    const rows = vendorTable();
    const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
    return [
      style.bold("Vendors"),
      ...rows.map(
        ([id, title, about]) =>
          `  ${style.cyan(id.padEnd(widths[0] ?? 0))}  ${title.padEnd(widths[1] ?? 0)}  ${style.dim(about)}`,
      ),
    ];
  },
  run: (invocation) => interruptible((signal) => add(invocation, signal)),
};

async function add(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { switches, wiring } = invocation;
  const wishes = readWishes(invocation);
  const file = await openManifest(wiring);
  const present = findAdded(invocation, file);
  const { provider, literals } = present ?? (await draftWithKey(invocation, signal));
  const explain = (error: unknown) => {
    const told = inFile(file.path, error);
    return present === undefined ? byFlags(told, provider.name) : told;
  };
  const { text } = addToManifest(file.text, {
    providers: { [provider.name]: provider.draft },
    models: {},
  });
  const secret = { [provider.name]: literals };
  try {
    const asked: Asked = { invocation, wishes, provider, text, literals: secret, signal };
    const isNew = present === undefined;
    const offer = wishes === "none" ? undefined : await ask(asked);
    const chosen = offer === undefined ? [] : await choose({ ...asked, offer });
    const models = Object.fromEntries(chosen.map(({ id, draft }) => [id, draft]));
    const whole = addToManifest(text, { providers: {}, models }).text;
    const dryRun = switches.has("dry-run");
    const view = await putManifest({ wiring, file, text: whole, literals: secret, dryRun });
    const providers = isNew ? { [provider.name]: provider.draft } : {};
    const yaml = fragmentOf({ providers, models });
    const outcome: Outcome = { provider, file, chosen, offer, view, dryRun, yaml };
    if (switches.has("json")) printJson(toJson(outcome));
    else printAdded(outcome);
  } catch (error) {
    throw explain(error);
  }
}

/** What the provider said, and the words for what kept it from that. */
interface Offer extends OfferView {
  readonly trouble: string | undefined;
}

interface Asked {
  readonly invocation: Invocation;
  readonly wishes: Wishes;
  readonly provider: DraftedProvider;
  /** The file with the provider in it. */
  readonly text: string;
  readonly literals: Literals;
  readonly signal: AbortSignal;
}

async function ask({ invocation, provider, text, literals }: Asked): Promise<Offer> {
  const offer = await invocation.wiring.withOperations((operations) =>
    operations.providers.offerOf({ text, provider: provider.name, literals }),
  );
  const { problem } = offer;
  return { ...offer, trouble: problem === null ? undefined : newTrouble(problem) };
}

type Wishes = readonly string[] | "all" | "none" | "asked";

function readWishes({ flags: { models }, switches }: Invocation): Wishes {
  const given = [models !== undefined, switches.has("all-models"), switches.has("no-models")];
  if (given.filter(Boolean).length > 1)
    throw new Problem({
      code: "invalid",
      message: "--models, --all-models and --no-models exclude each other.",
    });
  if (switches.has("all-models")) return "all";
  if (switches.has("no-models")) return "none";
  if (models === undefined) return "asked";
  const names = models
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0)
    throw new Problem({ code: "invalid", message: "--models needs names, by commas." });
  return names;
}

/** One that is in the file stays as it is; only models are added to it. */
function findAdded(invocation: Invocation, file: ManifestFile): Keyed | undefined {
  const { flags, switches, lists, positionals } = invocation;
  const name = flags["name"] ?? positionals[0] ?? "";
  if (!namesOf(file.text, "providers").includes(name)) return undefined;
  const others = ["kind", "base-url", "key-env"].some((flag) => flags[flag] !== undefined);
  const isOther =
    others ||
    switches.has("key-stdin") ||
    switches.has("allow-private") ||
    (lists["option"] ?? []).length > 0;
  const addsModels = flags["models"] !== undefined || switches.has("all-models");
  if (isOther || !(addsModels || isInteractive(invocation)))
    throw new Problem({
      code: "conflict",
      message: `There is a provider ${name} in ${file.path} already: --models or --all-models adds models to it, and --name gives a new one another name. To change its key or address, edit the file and run svc apply ${file.path}.`,
    });
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

interface Keyed {
  readonly provider: DraftedProvider;
  readonly literals: Readonly<Record<string, string>>;
}

async function draftWithKey(invocation: Invocation, signal: AbortSignal): Promise<Keyed> {
  const { flags, switches, lists, positionals, wiring } = invocation;
  const [word = ""] = positionals;
  const { variable } = wiring.configuration();
  if (switches.has("key-stdin") && flags["key-env"] !== undefined)
    throw new Problem({
      code: "invalid",
      message: "--key-env and --key-stdin exclude each other.",
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
  const question = `API key of ${provider.title} (not shown; it is kept encrypted):`;
  const key = asks
    ? await askHidden(question, signal)
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

function readKey(text: string): string {
  const key = text.trim();
  if (key === "")
    throw new Problem({ code: "invalid", message: "There is no key on standard input." });
  // What a header cannot carry is no key: most often more than one line, or a file's head.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Problem({
      code: "invalid",
      message: "This is no key: a key is one line without blanks.",
    });
  return key;
}

function withoutKey({ title, keyVariables }: DraftedProvider): Problem {
  const [usual = "NAME"] = keyVariables;
  return new Problem({
    code: "invalid",
    message: `${title} needs a key: set ${usual} (it is then read from there), name another variable with --key-env, or hand the key over with --key-stdin.`,
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
        message: `The models of ${provider.name} cannot be listed: ${trouble}\nNothing was changed. --no-models connects it without them.`,
      });
    if (!asks) return [];
    print(`${style.yellow("!")} ${trouble}`);
    if (await openAsker(signal).confirm("Connect it all the same, without models?", false))
      return [];
    throw new Problem({ code: "failed", message: "Nothing was changed." });
  }
  if (wishes === "all") return proposals;
  if (!asks || proposals.length === 0) return [];
  print(`${style.bold(provider.title)} offers ${countOf(proposals.length, "model")}\n`);
  showProposals(proposals, { most: proposals.length, print });
  print();
  return openAsker(signal).ask({
    question: "Serve which? (numbers, names, all, none)",
    offered: "none",
    read: (answer) =>
      readChoice(
        answer,
        proposals.map(({ id }) => id),
      ).flatMap((at) => proposals[at] ?? []),
  });
}

/** Those on its list; the others only where there is no list, or the operator knows better. */
async function chooseNamed({
  names,
  offer,
  provider: { name: provider },
  invocation,
  text,
  literals,
}: Asked & { readonly offer: Offer; readonly names: readonly string[] }): Promise<
  readonly Proposal[]
> {
  const { proposals, problem } = offer;
  const { wiring, switches } = invocation;
  const present = readPresent(text);
  const fields = present.providers[provider] ?? {};
  const chosen = proposals.filter((one) => names.some((name) => isNamed(one, name)));
  const missing = names
    .filter((name) => !chosen.some((one) => isNamed(one, name)))
    .filter((name) =>
      ["", "models/"].every((way) => !present.routes.has(`${provider}/${way}${name}`)),
    );
  if (missing.length === 0) return chosen;
  const listed =
    problem === null
      ? await wiring.withOperations((operations) =>
          listedNames({ operations, provider, fields, literals }),
        )
      : undefined;
  if (listed !== undefined && !switches.has("unlisted")) {
    const wayRound = "--unlisted takes a name that is not on its list.";
    throw notOffered({ provider, names: missing, listed, wayRound });
  }
  const known = await wiring.withOperations((operations) => operations.models.list({}));
  const inForce = known.map(({ id, endpoint, input, routes, price }) => ({
    id,
    endpoint,
    input,
    isRouted: routes.length > 0,
    hasPrice: price !== null,
  }));
  const taken = takenIds(inForce, present.models);
  for (const { id } of chosen) taken.set(id, undefined);
  const more = await proposeNamed({ provider, fields, names: missing, taken, nowMs: Date.now() });
  return [...chosen, ...more];
}

const countOf = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

interface Outcome {
  readonly provider: DraftedProvider;
  readonly file: ManifestFile;
  readonly chosen: readonly Proposal[];
  readonly offer: Offer | undefined;
  readonly view: PutView;
  readonly dryRun: boolean;
  /** What is new in the file. */
  readonly yaml: string;
}

function toJson({ provider, file, chosen, offer, view, dryRun, yaml }: Outcome) {
  const { trouble: _, ...told } = offer ?? { trouble: undefined };
  return {
    provider: provider.name,
    file: file.path,
    added: chosen,
    offer: offer === undefined ? null : told,
    ...view,
    ...(dryRun ? { yaml } : {}),
  };
}

function printAdded({ provider, file, chosen, offer, view, dryRun, yaml }: Outcome): void {
  const { name } = provider;
  for (const { action, kind, name: what } of view.differences)
    if (action === "create" || action === "change")
      print(`${action === "create" ? style.green("+") : style.yellow("~")} ${kind} ${what}`);
  for (const { id, note } of chosen)
    if (note !== null) print(`${style.yellow("!")} model ${id}: ${note}`);
  // A new model without a price has a note that says so.
  const isTold = (warning: string) =>
    chosen.some(
      ({ id, price }) => price === null && warning.startsWith(`model ${id} has no price`),
    );
  const warnings = view.warnings.filter((warning) => !isTold(warning));
  for (const line of warningLines({ ...view, warnings })) print(line);
  const trouble = offer?.trouble;
  if (trouble !== undefined)
    print(`${style.yellow("!")} ${name} does not tell its models: ${trouble}`);
  if (dryRun) {
    print(`\n${yaml}`);
    return print("Nothing was changed (--dry-run).");
  }
  const word = trouble !== undefined || offer === undefined ? "added" : "connected";
  print(`${style.green(word)} ${name}, written into ${file.path}`);
  if (chosen.length > 0 || trouble !== undefined || offer === undefined)
    return print(style.dim(`svc provider test ${name} makes a call of each kind.`));
  const proposed = offer.proposals;
  if (proposed.length === 0) return;
  const [first] = proposed;
  print(
    `${name} offers ${countOf(proposed.length, "model")}; none is served yet. Run it again with --models ${first?.id ?? "NAME"} or --all-models, or write routes into the file.`,
  );
}
