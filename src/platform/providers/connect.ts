import type { AuditRecord } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { Mutex } from "../../base/mutex.ts";
import { Problem } from "../../base/problem.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import { engineProvider, type Model } from "../../catalog/model.ts";
import { providerKindShapes } from "../../catalog/provider-kinds.ts";
import { findVendor, vendors } from "../../catalog/vendors.ts";
import { addToManifest } from "../../manifest/edit.ts";
import { exportManifest } from "../../manifest/export.ts";
import { type Literals, withLiterals } from "../../manifest/literals.ts";
import { readManifest } from "../../manifest/manifest.ts";
import { planApply } from "../../manifest/plan.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import { referencedName, type Secrets } from "../../secrets/secrets.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import { type DraftedProvider, draftProvider } from "./draft.ts";
import type { OfferView, ProviderOperations } from "./operations.ts";

/** A vendor, for a form: what it needs to be called. */
export interface VendorView {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  /** `{name}` in it stands for what only the operator knows; null where the kind makes its own. */
  readonly base_url: string | null;
  readonly on_this_machine: boolean;
  /** Where its key is kept by custom, and whether it is there now. */
  readonly variables: readonly { readonly name: string; readonly is_set: boolean }[];
  readonly needs_key: boolean;
  readonly options: readonly {
    readonly name: string;
    readonly about: string;
    readonly needed: boolean;
    readonly secret: boolean;
    /** Read from there where none is given. */
    readonly variable: string | null;
  }[];
}

export interface NewProvider {
  readonly name: string;
  /** A vendor that is known; else `base_url` says where it is. */
  readonly vendor?: string | undefined;
  readonly base_url?: string | undefined;
  /** The key itself, which is kept encrypted, or `${NAME}`. */
  readonly api_key?: string | undefined;
  readonly allow_private?: boolean | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
}

export interface AddedProvider {
  readonly name: string;
  readonly warnings: readonly string[];
}

export interface RemovedProvider {
  readonly name: string;
  /** How many went with it. */
  readonly routes: number;
  /** The models that have no route any more. */
  readonly emptied: readonly string[];
}

export interface ConnectOperations {
  vendors(input: Record<never, never>): Promise<readonly VendorView[]>;
  /** Puts a provider in force without a word of it in svc.yaml. */
  add(input: NewProvider): Promise<AddedProvider>;
  /** With all routes to it; where a model would be left without one, only if that is said. */
  remove(input: { name: string; emptiesModels?: boolean }): Promise<RemovedProvider>;
  /** What a provider that is in force offers beyond what is routed to it. */
  offer(input: { name: string }): Promise<OfferView>;
  /** Serves some of what a provider offers, by the names that were proposed. */
  serve(input: { name: string; ids: readonly string[] }): Promise<{
    readonly served: readonly string[];
    readonly warnings: readonly string[];
  }>;
}

export const connectAudits = {
  vendors: null,
  add: {
    action: "provider.add",
    detail: ({ vendor = null, base_url = null }) => ({ vendor, base_url }),
  },
  remove: { action: "provider.remove" },
  offer: null,
  serve: { action: "provider.models", detail: ({ ids }) => ({ models: ids }) },
} satisfies Audits<ConnectOperations>;

export interface ConnectParts {
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  readonly takeEffect: () => Promise<void>;
}

/** Changes of what is in force that leave svc.yaml alone. */
export function connectOperations(
  parts: ConnectParts,
  { offerOf }: Pick<ProviderOperations, "offerOf">,
): Unbound<ConnectOperations, typeof connectAudits> {
  const { catalog, clock } = parts;
  const mutex = new Mutex();
  const isSet = (name: string) => (parts.variable(name) ?? "") !== "";
  const text = async () => exportManifest(await catalog.load(), clock.nowMs());
  const offer = async (name: string) => {
    await findEntry(catalog, name);
    return offerOf({ text: await text(), provider: name });
  };
  return {
    vendors: async () => vendorViews(isSet),
    add: (given, { audit }) =>
      mutex.run(async () => {
        const { draft, literals } = readNew(given, isSet);
        await checkFree(catalog, given.name);
        const drafted = { providers: { [given.name]: draft }, models: {} };
        const whole = addToManifest(await text(), drafted).text;
        const warnings = await putBeside(parts, {
          text: whole,
          literals: { [given.name]: literals },
          audit: audit({ subject: given.name }),
          isNew: (name) => name === given.name,
        }).catch((error: unknown) => {
          throw byField(error, given.name);
        });
        const own = warnings.filter((warning) => warning.startsWith(`provider ${given.name}:`));
        return { name: given.name, warnings: own };
      }),
    remove: (input, author) => mutex.run(() => removeEntry(parts, input, author)),
    offer: ({ name }) => offer(name),
    serve: ({ name, ids }, { audit }) =>
      mutex.run(async () => {
        const { proposals, problem } = await offer(name);
        if (problem !== null)
          throw new Problem({ code: "failed", message: `${problem.what} ${problem.advice}` });
        const chosen = proposals.filter(({ id }) => ids.includes(id));
        const missing = ids.find((id) => !chosen.some((one) => one.id === id));
        if (missing !== undefined)
          throw new Problem({
            code: "not_found",
            message: `${name} does not offer ${missing} any more.`,
          });
        const models = Object.fromEntries(chosen.map(({ id, draft }) => [id, draft]));
        const whole = addToManifest(await text(), { providers: {}, models }).text;
        const isNew = (id: string) => ids.includes(id);
        const warnings = await putBeside(parts, {
          text: whole,
          literals: {},
          audit: audit({ subject: name }),
          isNew,
        });
        return {
          served: chosen.map(({ id }) => id),
          warnings: warnings.filter((one) => ids.some((id) => one.startsWith(`model ${id} `))),
        };
      }),
  };
}

interface Beside {
  /** All that is in force, and more. */
  readonly text: string;
  readonly literals: Literals;
  readonly audit: AuditRecord;
  /** The rest is left alone: it may have changed meanwhile. */
  readonly isNew: (name: string) => boolean;
}

async function putBeside(
  { catalog, secrets, clock, checkAddress, variable, takeEffect }: ConnectParts,
  { text, literals, audit, isNew }: Beside,
): Promise<readonly string[]> {
  const { write, warnings } = planApply({
    manifest: withLiterals(readManifest(text, checkAddress), literals),
    current: await catalog.load(),
    secrets,
    hasVariable: (name) => (variable(name) ?? "") !== "",
    nowMs: clock.nowMs(),
  });
  const { atMs, saveProviders = [], saveModels = [], addPrices = [] } = write;
  await catalog.write(
    {
      atMs,
      saveProviders: saveProviders.filter(({ name }) => isNew(name)),
      saveModels: saveModels.filter(({ id }) => isNew(id)),
      addPrices: addPrices.filter(({ modelId }) => isNew(modelId)),
    },
    audit,
  );
  await takeEffect();
  return warnings;
}

interface ReadProvider {
  readonly draft: DraftedProvider["draft"];
  readonly literals: Readonly<Record<string, string>>;
}

function readNew(given: NewProvider, isSet: (name: string) => boolean): ReadProvider {
  const { name, vendor, options = {} } = given;
  const baseUrl = given.base_url === "" ? undefined : given.base_url;
  if (name === engineProvider)
    throw new Problem({
      code: "invalid",
      field: "name",
      message: "The name engine is taken by the embedded models. Choose another.",
    });
  if (vendor !== undefined && findVendor(vendor) === undefined)
    throw new Problem({ code: "invalid", field: "vendor", message: `Unknown vendor "${vendor}".` });
  if (vendor === undefined && baseUrl === undefined)
    throw new Problem({
      code: "invalid",
      field: "base_url",
      message: "A server that is no known vendor's needs an address.",
    });
  const { keyEnv, literal } = readKey(given.api_key?.trim() ?? "");
  const texts = Object.entries(options).filter(([, value]) => value !== "");
  for (const [, value] of texts) checkReference(referencedName(value));
  const drafted = draftProvider({
    // No vendor's id: a server of one's own may be called like a vendor.
    word: vendor ?? "server",
    name,
    baseUrl,
    keyEnv,
    hasLiteralKey: literal !== undefined,
    allowPrivate: given.allow_private === true,
    options: texts.map(([option, value]) => `${option}=${value}`),
    isSet,
  });
  if (drafted.lacksKey !== undefined)
    throw new Problem({
      code: "invalid",
      field: "api_key",
      message: `${drafted.title} needs an API key. Give the key itself, or \${NAME} for a variable that is set where the gateway runs.`,
    });
  return {
    draft: drafted.draft,
    literals: literal === undefined ? drafted.literals : { ...drafted.literals, api_key: literal },
  };
}

function readKey(text: string): {
  readonly keyEnv?: string | undefined;
  readonly literal?: string | undefined;
} {
  if (text === "") return {};
  const keyEnv = referencedName(text);
  checkReference(keyEnv);
  if (keyEnv !== undefined) return { keyEnv };
  if (text.includes("${") || /^\$[A-Za-z_]\w*$/.test(text))
    throw new Problem({
      code: "invalid",
      field: "api_key",
      message: "The API key must be exactly ${NAME}, with braces, to name a variable.",
    });
  // What a header cannot carry is no key: most often more than one line.
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new Problem({
      code: "invalid",
      field: "api_key",
      message: "The API key must be one line without spaces.",
    });
  return { literal: text };
}

/** Else whoever adds a provider could have the gateway's own secrets sent to a server of theirs. */
function checkReference(variable: string | undefined): void {
  if (variable?.startsWith("SVC_") === true)
    throw new Problem({
      code: "invalid",
      field: "api_key",
      message:
        "The API key must not name a variable that begins with SVC_: those are the gateway's own.",
    });
}

async function checkFree(catalog: CatalogStore, name: string): Promise<void> {
  const { providers } = await catalog.load();
  if (providers.some((known) => known.name === name))
    throw new Problem({
      code: "conflict",
      field: "name",
      message: `The provider ${name} already exists. Choose another name.`,
    });
}

async function findEntry(catalog: CatalogStore, name: string): Promise<void> {
  const { providers } = await catalog.load();
  if (!providers.some((known) => known.name === name))
    throw new Problem({ code: "not_found", message: `Unknown provider "${name}".` });
}

async function removeEntry(
  { catalog, clock, takeEffect }: ConnectParts,
  { name, emptiesModels = false }: Parameters<ConnectOperations["remove"]>[0],
  { audit }: Author,
): Promise<RemovedProvider> {
  await findEntry(catalog, name);
  const { models } = await catalog.load();
  const touched = models.filter(({ routes }) => routes.some(({ provider }) => provider === name));
  const without = (model: Model): Model => ({
    ...model,
    routes: model.routes.filter(({ provider }) => provider !== name),
  });
  const saveModels = touched.map(without);
  const emptied = saveModels.filter(({ routes }) => routes.length === 0).map(({ id }) => id);
  if (emptied.length > 0 && !emptiesModels)
    throw new Problem({
      code: "conflict",
      message: `Without ${name} nobody serves ${emptied.join(", ")}. Give ${emptied.length === 1 ? "it" : "them"} another route first, or say that this is meant.`,
    });
  const count = (list: readonly Model[]) => list.reduce((sum, one) => sum + one.routes.length, 0);
  const routes = count(touched) - count(saveModels);
  await catalog.write(
    { atMs: clock.nowMs(), removeProviders: [name], saveModels },
    audit({ subject: name, detail: { routes, emptied } }),
  );
  await takeEffect();
  return { name, routes, emptied };
}

/** There is no file, so no line of it: what is wrong is told by the field. */
function byField(error: unknown, provider: string): unknown {
  if (!(error instanceof Problem) || error.code !== "invalid") return error;
  const start = `providers.${provider}.`;
  const [line = ""] = error.message.split("\n");
  const at = line.indexOf(start);
  if (at === -1) return error;
  const [field = "", ...rest] = line.slice(at + start.length).split(" ");
  const words = rest.join(" ").replace("add allow_private: true", "allow private addresses");
  return new Problem({
    code: "invalid",
    field,
    message: `${field} ${words}`,
    cause: error,
  });
}

function vendorViews(isSet: (name: string) => boolean): readonly VendorView[] {
  return vendors.map(({ id, title, kind, baseUrl, keyVariables, isLocal }) => {
    const shape = providerKindShapes[kind];
    return {
      id,
      title,
      kind,
      base_url: baseUrl === "" ? (shape.baseUrl ?? "") || null : baseUrl,
      on_this_machine: isLocal === true,
      variables: keyVariables.map((name) => ({ name, is_set: isSet(name) })),
      needs_key: shape.needsKey || (keyVariables.length > 0 && kind === "openai"),
      options: Object.entries(shape.options)
        .filter(([name]) => name !== "vendor" && name !== "image_urls")
        .map(([name, { about, isNeeded, isSecret, variable }]) => ({
          name,
          about,
          needed: isNeeded === true,
          secret: isSecret === true,
          variable: variable ?? null,
        })),
    };
  });
}
