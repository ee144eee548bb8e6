import { Problem } from "../../../base/problem.ts";
import { endpoints } from "../../../call/endpoint.ts";
import { priceKeys } from "../../../call/price.ts";
import { type VoiceMap, voices } from "../../../call/speak.ts";
import { engineProvider } from "../../../catalog/model.ts";
import { stateRank } from "../../../catalog/state.ts";
import type { SourceView } from "../../../platform/http/schemas.ts";
import type {
  ModelChanges,
  ModelView,
  RouteChanges,
  TimeoutChanges,
} from "../../../platform/models/schemas.ts";
import type { Operations } from "../../../platform/operations.ts";
import { type Command, type Invocation, viewCommand } from "../../command.ts";
import { printHint, printTable } from "../../terminal/output.ts";
import { lifecycleCommands } from "./lifecycle.ts";
import { nameCommands } from "./names.ts";
import { priceText, printSaved } from "./saved.ts";

const modelList = viewCommand({
  name: "model list",
  about: "List all models with their state, price, routes and source file.",
  examples: ["svc model list", "svc model list --json"],
  load: (operations) => operations.models.list({}),
  show(models) {
    if (models.length === 0)
      return printHint("No models yet. svc init finds providers, and svc model add adds a model.");
    printTable(
      ["id", "endpoint", "state", "price (USD)", "aliases", "routes", "defined in"],
      worstFirst(models).map((model) => [
        model.id,
        model.endpoint,
        stateText(model),
        priceText(model),
        model.aliases.join(", ") || null,
        model.routes.join(", ") || null,
        sourceText(model),
      ]),
    );
  },
});

const worstFirst = (models: readonly ModelView[]) =>
  models.toSorted((one, other) => stateRank(one.state) - stateRank(other.state));

/** The file that defines it; null if the database owns it. */
export const sourceText = ({ source }: { readonly source: SourceView }) => source.file;

/** The state as the console names it, with the lifecycle where that says more. */
function stateText({ state, status, deprecated_at, retires_at }: ModelView): string {
  if (state === null) return "retired";
  const words = state.replace("_", " ");
  if (status === "deprecated") return `${words}, deprecated, retires ${retires_at?.slice(0, 10)}`;
  return deprecated_at === null ? words : `${words}, deprecated from ${deprecated_at.slice(0, 10)}`;
}

/** Ends the help of flags that change what exists. */
const orNone = "; none removes it";
const modelFlags = (none: string) =>
  ({
    endpoint: { about: endpoints.join(", "), value: "ENDPOINT", choices: endpoints },
    input: {
      about: "input of an embeddings model: text or media",
      value: "KIND",
      choices: ["text", "media"],
    },
    "owned-by": { about: "owner, as shown to callers", value: "TEXT" },
    "context-length": { about: `maximum tokens in a request and its reply${none}`, value: "N" },
    "max-output-tokens": { about: `maximum tokens in a reply${none}`, value: "N" },
    "max-image-tokens": { about: `maximum tokens per image${none}`, value: "N" },
    "max-audio-seconds": { about: `maximum length of speech, in seconds${none}`, value: "N" },
    timeout: {
      about: `connect, first_byte, idle or total timeout, such as idle=60${none}`,
      value: "name=SECONDS",
      multiple: true,
    },
  }) as const satisfies Command["flags"];

function readModel({ flags, lists }: Invocation): ModelChanges {
  const timeouts = readPairs(lists["timeout"] ?? [], "timeout", timeoutNames).map(
    ([name, text]) => [name, readSeconds(text)] as const,
  );
  return {
    endpoint: flags["endpoint"],
    input: flags["input"],
    owned_by: flags["owned-by"],
    context_length: optionalCount(flags, "context-length"),
    max_output_tokens: optionalCount(flags, "max-output-tokens"),
    max_image_tokens: optionalCount(flags, "max-image-tokens"),
    max_audio_seconds: optionalCount(flags, "max-audio-seconds"),
    ...(timeouts.length === 0 ? {} : { timeouts: Object.fromEntries(timeouts) as TimeoutChanges }),
  };
}

const timeoutNames = ["connect", "first_byte", "idle", "total"] as const;

const optionalCount = (flags: Invocation["flags"], name: string) =>
  flags[name] === undefined ? undefined : readCount(flags[name], name.replaceAll("-", "_"));

function readSeconds(text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,5}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new Problem({
    code: "invalid",
    message: `"${text}" is not a number of seconds, such as 30 or 2.5.`,
    field: "timeout",
  });
}

function readCount(text: string, field: string): number | null {
  if (text === "none") return null;
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw invalidCount(field, `a whole number above 0, or none, not "${text}"`);
}

const invalidCount = (field: string, expected: string) =>
  new Problem({ code: "invalid", message: `Expected ${expected}.`, field });

/** `name=value` each, or several with commas, with one of some names. */
function readPairs<const T extends string>(
  texts: readonly string[],
  field: string,
  names: readonly T[],
): readonly (readonly [T, string])[] {
  return texts
    .flatMap((text) => text.split(","))
    .map((text) => {
      const at = text.indexOf("=");
      const name = names.find((one) => one === text.slice(0, at));
      if (name !== undefined) return [name, text.slice(at + 1)] as const;
      throw new Problem({
        code: "invalid",
        message: `"${text}" must be name=value with one of: ${names.join(", ")}.`,
        field,
      });
    });
}

const routeFlags = (none: string) =>
  ({
    priority: { about: "1 to 100; the lowest is tried first", value: "N" },
    weight: { about: "share of requests among routes with the same priority", value: "N" },
    voice: {
      about:
        "speech only: the provider's name for a voice, such as Kore=nova, or same if the names match",
      value: "NAME=THEIRS",
      multiple: true,
    },
    dimensions: {
      about: `embeddings only: default vector length, own (the model's) or 3072${none}`,
      value: "WORD",
      choices: ["own", "3072", "none"],
    },
    cost: {
      about: `vendor's price in USD, such as input=0.30,output=2.50${none}`,
      value: "class=USD",
      multiple: true,
    },
  }) as const satisfies Command["flags"];

function readRoute({ flags, lists }: Invocation): RouteChanges {
  const { priority, weight, dimensions } = flags;
  const costs = lists["cost"] ?? [];
  return {
    priority: readWithin(priority, { field: "priority", least: 1, most: 100 }),
    weight: readWithin(weight, { field: "weight", least: 0, most: 1_000_000 }),
    voices: readVoices(lists["voice"] ?? []),
    dimensions: readDimensions(dimensions),
    ...(costs.length === 0 ? {} : { cost: readCost(costs) }),
  };
}

function readWithin(
  text: string | undefined,
  range: { readonly field: string; readonly least: number; readonly most: number },
): number | undefined {
  const { field, least, most } = range;
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw invalidCount(field, `a whole number from ${least} to ${most}, not "${text}"`);
}

function readDimensions(text: string | undefined): RouteChanges["dimensions"] {
  if (text === undefined || text === "own" || text === "3072") return text;
  if (text === "none") return null;
  throw new Problem({
    code: "invalid",
    message: "Expected own, 3072 or none.",
    field: "dimensions",
  });
}

const readCost = (texts: readonly string[]) =>
  texts.length === 1 && texts[0] === "none"
    ? null
    : Object.fromEntries(readPairs(texts, "cost", priceKeys));

function readVoices(texts: readonly string[]): VoiceMap | undefined {
  if (texts.length === 0) return undefined;
  if (texts.length === 1 && texts[0] === "same") return "same";
  const map = Object.fromEntries(readPairs(texts, "voice", voices));
  const { Kore, Puck, Charon, Fenrir, Aoede } = map;
  if (Kore && Puck && Charon && Fenrir && Aoede) return { Kore, Puck, Charon, Fenrir, Aoede };
  throw new Problem({
    code: "invalid",
    message: `Map all five voices (${voices.join(", ")}), or set same.`,
    field: "voice",
  });
}

const modelAdd = viewCommand({
  name: "model add",
  about: "Create a model. It is served once it has a route and a price.",
  positionals: ["ID"],
  flags: {
    ...modelFlags(""),
    alias: { about: "further id that callers can use", value: "ID", multiple: true },
    provider: { about: "provider of its first route", value: "NAME" },
    upstream: { about: "the provider's name for the model", value: "MODEL" },
    ...routeFlags(""),
    price: {
      about: "price for callers in USD, such as input=0.30,output=2.50",
      value: "class=USD",
      multiple: true,
    },
  },
  createsStore: true,
  examples: [
    "svc model add fast --provider groq --upstream llama-3.1-8b --price input=0.1 --price output=0.2",
    "svc model add vectors --endpoint embeddings --input text",
  ],
  check: (invocation) => void toNewModel(invocation),
  load: (operations, invocation) => operations.catalog.create(toNewModel(invocation)),
  show: (model) => printSaved(model, "added"),
});

function toNewModel(invocation: Invocation) {
  const { positionals, flags, lists } = invocation;
  const [id = ""] = positionals;
  const { provider, upstream } = flags;
  if ((provider === undefined) !== (upstream === undefined))
    throw new Problem({
      code: "invalid",
      message: "A route needs both --provider and --upstream.",
      field: provider === undefined ? "provider" : "upstream",
    });
  const route = readRoute(invocation);
  const stray = Object.entries(route).find(([, value]) => value !== undefined);
  if (provider === undefined && stray !== undefined)
    throw new Problem({
      code: "invalid",
      message: "Route flags need a route. Add --provider and --upstream.",
      field: "provider",
    });
  const prices = readPairs(lists["price"] ?? [], "price", priceKeys);
  const aliases = lists["alias"] ?? [];
  return {
    id,
    ...readModel(invocation),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(prices.length === 0 ? {} : { price: Object.fromEntries(prices) }),
    ...(provider === undefined || upstream === undefined
      ? {}
      : { routes: [{ provider, model: upstream, ...route }] }),
  };
}

const modelEdit = viewCommand({
  name: "model edit",
  needsChange: true,
  about: "Change a model. Omitted fields stay unchanged. svc price set changes its price.",
  positionals: ["ID"],
  flags: modelFlags(orNone),
  examples: [
    "svc model edit fast --max-output-tokens 8192 --context-length 131072",
    "svc model edit fast --timeout first_byte=300 --max-image-tokens none",
  ],
  load: (operations, invocation) =>
    operations.catalog.update({ id: invocation.positionals[0] ?? "", ...readModel(invocation) }),
  show: (model) => printSaved(model, "changed"),
});

const routeCommand = (options: {
  readonly verb: "add" | "edit" | "remove";
  readonly about: string;
  readonly examples: readonly string[];
}) =>
  viewCommand({
    name: `model route ${options.verb}`,
    ...(options.verb === "edit" ? { needsChange: true } : {}),
    about: options.about,
    positionals: ["ID", "PROVIDER", "MODEL"],
    flags: options.verb === "remove" ? {} : routeFlags(options.verb === "edit" ? orNone : ""),
    examples: options.examples,
    async load(operations, invocation) {
      const { catalog } = operations;
      const [id = "", provider = "", model = ""] = invocation.positionals;
      const name = { id, provider, model };
      if (options.verb === "remove") return catalog.removeRoute(name);
      const route = { ...name, ...readRoute(invocation) };
      if (options.verb === "edit") return catalog.updateRoute(route);
      await requireProvider(operations, provider);
      return catalog.addRoute(route);
    },
    show: (view) =>
      printSaved(view, options.verb === "remove" ? "removed a route from" : "changed"),
  });

async function requireProvider({ providers }: Operations, name: string): Promise<void> {
  if (name === engineProvider) return;
  if ((await providers.list({})).some((one) => one.name === name)) return;
  throw new Problem({
    code: "not_found",
    message: `Provider "${name}" does not exist.`,
    command: "provider list",
  });
}

const routeCommands = [
  routeCommand({
    verb: "add",
    about: "Add a route to a model: another provider, or another model of a provider.",
    examples: [
      "svc model route add fast groq llama-3.1-8b-instant --priority 2",
      "svc model route add voice openai tts-1 --voice same --cost audio_output=15",
    ],
  }),
  routeCommand({
    verb: "edit",
    about: "Change the priority, weight, voices, dimensions or cost of a route.",
    examples: ["svc model route edit fast groq llama-3.1-8b-instant --weight 3"],
  }),
  routeCommand({
    verb: "remove",
    about: "Remove a route from a model. A model without routes is not served.",
    examples: ["svc model route remove fast groq llama-3.1-8b-instant"],
  }),
];

export const modelCommands: readonly Command[] = [
  modelList,
  modelAdd,
  modelEdit,
  ...routeCommands,
  ...nameCommands,
  ...lifecycleCommands,
];
