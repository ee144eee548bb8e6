import { Problem } from "../base/problem.ts";
import { addToManifest, namesOf } from "../manifest/edit.ts";
import type { ApplyView } from "../platform/operations.ts";
import type { Proposal } from "../platform/proposal.ts";
import { type DraftedProvider, draftProvider, vendorTable } from "../platform/provider-draft.ts";
import type { OfferView } from "../platform/provider-operations.ts";
import { readChoice } from "./ask.ts";
import { type Command, type Invocation, jsonFlag } from "./command.ts";
import { askHidden } from "./hidden-line.ts";
import { showProposals } from "./init-show.ts";
import { isInteractive, openAsker } from "./interactive.ts";
import { interruptible } from "./interrupt.ts";
import { type ManifestFile, openManifest, putManifest } from "./manifest-file.ts";
import { print, printJson, style } from "./output.ts";

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
  run: (invocation) =>
    interruptible((signal) =>
      add(invocation, signal).catch((error: unknown) => {
        throw byFlags(error);
      }),
    ),
};

async function add(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { switches, wiring } = invocation;
  const wishes = readWishes(invocation);
  const file = await openManifest(wiring);
  const { provider, literals } =
    findAdded(invocation, file) ?? (await draftWithKey(invocation, signal));
  const bare = addToManifest(file.text, {
    providers: { [provider.name]: provider.draft },
    models: {},
  });
  const secret = { [provider.name]: literals };
  const offer =
    wishes === "none"
      ? undefined
      : await wiring.withOperations((operations) =>
          operations.offerModels({
            text: bare.text,
            provider: provider.name,
            literals: secret,
            ...(Array.isArray(wishes) ? { models: wishes } : {}),
          }),
        );
  const chosen =
    offer === undefined ? [] : await choose({ offer, wishes, provider, invocation, signal });
  const drafts = Object.fromEntries(chosen.map(({ id, draft }) => [id, draft]));
  const { text } = addToManifest(bare.text, { providers: {}, models: drafts });
  const dryRun = switches.has("dry-run");
  const view = await putManifest({ wiring, file, text, literals: secret, dryRun });
  if (switches.has("json"))
    return printJson({
      provider: provider.name,
      file: file.path,
      added: chosen,
      offer: offer ?? null,
      ...view,
    });
  printAdded({ provider, file, chosen, offer, view, dryRun });
}

/** What a file is told to do, told as the flag that does it. */
function byFlags(error: unknown): unknown {
  if (!(error instanceof Problem) || !error.message.includes("allow_private: true")) return error;
  const message = error.message.replace("add allow_private: true", "add --allow-private");
  return new Problem(error.code, message, error);
}

type Wishes = readonly string[] | "all" | "none" | "asked";

function readWishes({ flags: { models }, switches }: Invocation): Wishes {
  const given = [models !== undefined, switches.has("all-models"), switches.has("no-models")];
  if (given.filter(Boolean).length > 1)
    throw new Problem("invalid", "--models, --all-models and --no-models exclude each other.");
  if (switches.has("all-models")) return "all";
  if (switches.has("no-models")) return "none";
  if (models === undefined) return "asked";
  const names = models
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) throw new Problem("invalid", "--models needs names, by commas.");
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
    throw new Problem(
      "conflict",
      `There is a provider ${name} in ${file.path} already: --models or --all-models adds models to it, and --name gives a new one another name. To change its key or address, edit the file and run svc apply ${file.path}.`,
    );
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
    throw new Problem("invalid", "--key-env and --key-stdin exclude each other.");
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
  if (key === "") throw new Problem("invalid", "There is no key on standard input.");
  // What a header cannot carry is no key: most often more than one line, or a file's head.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Problem("invalid", "This is no key: a key is one line without blanks.");
  return key;
}

function withoutKey({ title, keyVariables }: DraftedProvider): Problem {
  const [usual = "NAME"] = keyVariables;
  return new Problem(
    "invalid",
    `${title} needs a key: set ${usual} (it is then read from there), name another variable with --key-env, or hand the key over with --key-stdin.`,
  );
}

interface Choice {
  readonly offer: OfferView;
  readonly wishes: Wishes;
  readonly provider: DraftedProvider;
  readonly invocation: Invocation;
  readonly signal: AbortSignal;
}

async function choose({
  offer,
  wishes,
  provider,
  invocation,
  signal,
}: Choice): Promise<readonly Proposal[]> {
  const { proposals, problem } = offer;
  const asks = wishes === "asked" && isInteractive(invocation);
  if (problem !== null) {
    const words = `${problem.what} ${problem.advice}`.trim();
    if (wishes !== "asked")
      throw new Problem(
        "failed",
        `The models of ${provider.name} cannot be listed: ${words}\nNothing was changed. --no-models connects it without them.`,
      );
    if (!asks) return [];
    print(`${style.yellow("!")} ${words}`);
    if (await openAsker(signal).confirm("Connect it all the same, without models?", false))
      return [];
    throw new Problem("failed", "Nothing was changed.");
  }
  if (wishes !== "asked") return wishes === "none" ? [] : proposals;
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

const countOf = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

interface Outcome {
  readonly provider: DraftedProvider;
  readonly file: ManifestFile;
  readonly chosen: readonly Proposal[];
  readonly offer: OfferView | undefined;
  readonly view: ApplyView;
  readonly dryRun: boolean;
}

function printAdded({ provider, file, chosen, offer, view, dryRun }: Outcome): void {
  const { name } = provider;
  for (const { action, kind, name: what } of view.differences)
    if (action === "create" || action === "change")
      print(`${action === "create" ? style.green("+") : style.yellow("~")} ${kind} ${what}`);
  for (const { id, note } of chosen)
    if (note !== null) print(`${style.yellow("!")} model ${id}: ${note}`);
  for (const warning of view.warnings) print(`${style.yellow("!")} ${warning}`);
  const problem = offer?.problem ?? null;
  if (problem !== null) print(`${style.yellow("!")} ${problem.what} ${problem.advice}`.trimEnd());
  print(
    dryRun
      ? "Nothing was changed (--dry-run)."
      : `${style.green("connected")} ${name}, written into ${file.path}`,
  );
  if (chosen.length > 0)
    return print(style.dim(`svc provider test ${name} makes a call of each kind.`));
  const proposed = offer?.proposals ?? [];
  if (proposed.length === 0) return;
  const [first] = proposed;
  print(
    `${name} offers ${countOf(proposed.length, "model")}; none is served yet. Run it again with --models ${first?.id ?? "NAME"} or --all-models, or write routes into the file.`,
  );
}
