import { conflict, invalid, Problem } from "../../base/problem.ts";
import { engineProvider, type Model, type ProviderEntry } from "../../catalog/model.ts";
import { checkFields, definedIn, ownsField } from "../../catalog/origin.ts";
import { providerKindShapes, providerKinds } from "../../catalog/provider-kinds.ts";
import { findVendor } from "../../catalog/vendors.ts";
import { isRecord, type ProviderDraft } from "../../manifest/draft.ts";
import { toProviderDraft } from "../../manifest/export.ts";
import { withLiterals } from "../../manifest/literals.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { toEntry } from "../../manifest/provider-entry.ts";
import { providerWarnings, type Warning } from "../../manifest/warnings.ts";
import { referencedName } from "../../secrets/secrets.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import {
  addEntries,
  auditOfEntry,
  type CatalogChangeDependencies,
  planOn,
  put,
} from "../manifest/change.ts";
import { draftProvider } from "./draft.ts";
import type { ProviderOperations } from "./operations.ts";
import type {
  NewProvider,
  OfferView,
  ProviderChanges,
  RemovedProvider,
  VendorView,
} from "./schemas.ts";
import { findEntry, vendorViews } from "./views.ts";

export interface SavedProvider {
  readonly name: string;
  readonly warnings: readonly Warning[];
}

export interface ConnectOperations {
  vendors(input: Record<never, never>): Promise<readonly VendorView[]>;
  add(input: NewProvider): Promise<SavedProvider>;
  update(input: ProviderChanges & { name: string }): Promise<SavedProvider>;
  /** With all routes to it; where a model would be left without one, only if that is said. */
  remove(input: {
    name: string;
    emptiesModels?: boolean | undefined;
    dryRun?: boolean;
  }): Promise<RemovedProvider>;
  /** Models that an existing provider offers and that are not routed yet. */
  offer(input: { name: string }): Promise<OfferView>;
  /** Serves some of what a provider offers, by the names that were proposed. */
  serve(input: { name: string; ids: readonly string[] }): Promise<{
    readonly served: readonly string[];
    readonly warnings: readonly Warning[];
  }>;
}

export const connectAudits = {
  vendors: null,
  add: {
    action: "provider.add",
    detail: ({ vendor = null, base_url = null }) => ({ vendor, base_url }),
  },
  update: {
    action: "provider.update",
    // Keys and options may be secrets: only which of them changed.
    detail: ({ kind, base_url, allow_private, api_key: key, options }) => ({
      ...(kind === undefined ? {} : { kind }),
      ...(base_url === undefined ? {} : { base_url }),
      ...(allow_private === undefined ? {} : { allow_private }),
      ...(key === undefined ? {} : { api_key: key === null ? "removed" : "replaced" }),
      ...(Object.keys(options ?? {}).length === 0 ? {} : { options: Object.keys(options ?? {}) }),
    }),
  },
  remove: { action: "provider.remove" },
  offer: null,
  serve: { action: "provider.models", detail: ({ ids }) => ({ models: ids }) },
} satisfies Audits<ConnectOperations>;

/** Changes of providers in the store. */
export function connectOperations(
  dependencies: CatalogChangeDependencies,
  { offerOf }: Pick<ProviderOperations, "offerOf">,
): Unbound<ConnectOperations, typeof connectAudits> {
  const { mutex } = dependencies;
  const isSet = (name: string) => (dependencies.variable(name) ?? "") !== "";
  return {
    vendors: async () => vendorViews(isSet),
    add: (given, author) => mutex.run(() => addEntry(dependencies, readNew(given, isSet), author)),
    update: (input, author) => mutex.run(() => updateEntry(dependencies, input, author)),
    remove: (input, author) => mutex.run(() => removeEntry(dependencies, input, author)),
    offer: ({ name }) => offerOf({ provider: name }),
    async serve({ name, ids }, author) {
      const { proposals, problem } = await offerOf({ provider: name });
      if (problem !== null)
        throw new Problem({ code: "failed", message: `${problem.what} ${problem.advice}` });
      const chosen = proposals.filter(({ id }) => ids.includes(id));
      const missing = ids.find((id) => !chosen.some((one) => one.id === id));
      if (missing !== undefined)
        throw new Problem({
          code: "not_found",
          message: `${name} no longer offers ${missing}.`,
          field: "ids",
        });
      const models = Object.fromEntries(chosen.map(({ id, draft }) => [id, draft]));
      const draft = { providers: {}, models };
      const { warnings } = await mutex.run(() =>
        addEntries(dependencies, { draft, dryRun: false }, auditOfEntry(author, name)),
      );
      return { served: chosen.map(({ id }) => id), warnings };
    },
  };
}

interface NamedDraft {
  readonly name: string;
  /** With its literals. */
  readonly draft: ProviderDraft;
}

async function addEntry(
  dependencies: CatalogChangeDependencies,
  { name, draft }: NamedDraft,
  author: Author,
): Promise<SavedProvider> {
  const current = await dependencies.catalog.load();
  if (current.providers.some((known) => known.name === name))
    throw conflict({ name: `Provider "${name}" already exists. Choose another name.` });
  const manifest = readDraft({ providers: { [name]: draft } }, dependencies);
  const plan = planOn(dependencies, { manifest, current });
  const { warnings } = await put(dependencies, { plan, toAudit: auditOfEntry(author, name) });
  return { name, warnings };
}

function readNew(given: NewProvider, isSet: (name: string) => boolean): NamedDraft {
  const { name, vendor, kind, options = {} } = given;
  const baseUrl = given.base_url === "" ? undefined : given.base_url;
  if (name === engineProvider)
    throw invalid({
      name: 'The name "engine" is reserved for the embedded models. Choose another name.',
    });
  if (vendor !== undefined && findVendor(vendor) === undefined)
    throw invalid({ vendor: `Unknown vendor "${vendor}".` });
  if (vendor === undefined && kind === undefined && baseUrl === undefined)
    throw invalid({ base_url: "Base URL is missing. Set it, or choose a vendor." });
  const { keyEnv, literal } = readKey(given.api_key?.trim() ?? "");
  const texts = Object.entries(options).filter(([, value]) => value !== "");
  for (const [option, value] of texts) checkReference(referencedName(value), option);
  const drafted = draftProvider({
    // No vendor's id: a server of one's own may be called like a vendor.
    word: vendor ?? "server",
    name,
    kind,
    baseUrl,
    keyEnv,
    hasLiteralKey: literal !== undefined,
    allowPrivate: given.allow_private === true,
    options: texts.map(([option, value]) => `${option}=${value}`),
    isSet,
  });
  if (drafted.lacksKey !== undefined)
    throw invalid({
      api_key: `${drafted.title} requires an API key. Enter the key, or \${NAME} to read it from the gateway's environment.`,
    });
  const literals =
    literal === undefined ? drafted.literals : { ...drafted.literals, api_key: literal };
  const whole = withLiterals(
    { providers: { [name]: drafted.draft }, models: {} },
    { [name]: literals },
  );
  return { name, draft: whole.providers[name] ?? {} };
}

function readKey(text: string): {
  readonly keyEnv?: string | undefined;
  readonly literal?: string | undefined;
} {
  if (text === "") return {};
  const keyEnv = referencedName(text);
  checkReference(keyEnv, "api_key");
  if (keyEnv !== undefined) return { keyEnv };
  if (text.includes("${") || /^\$[A-Za-z_]\w*$/.test(text))
    throw invalid({
      api_key: "API key must be exactly ${NAME}, with braces, to refer to a variable.",
    });
  // A value that a header cannot carry is not a key; most often it has more than one line.
  if (!/^[\x21-\x7e]+$/.test(text))
    throw invalid({ api_key: "API key must be a single line of printable ASCII without spaces." });
  return { literal: text };
}

/** Otherwise an operator could send the gateway's own secrets to another server. */
function checkReference(variable: string | undefined, field: string): void {
  if (variable?.startsWith("SVC_") === true)
    throw invalid({
      [field]: "Variables that start with SVC_ are reserved for the gateway. Use another variable.",
    });
}

async function updateEntry(
  dependencies: CatalogChangeDependencies,
  { name, ...changes }: Parameters<ConnectOperations["update"]>[0],
  { audit }: Author,
): Promise<SavedProvider> {
  const { catalog, clock, secrets, takeEffect, variable } = dependencies;
  const before = findEntry(await catalog.load(), name);
  const { draft, fields } = changeDraft(before, changes);
  checkFields({ subject: `Provider ${name}`, entry: before, fields });
  const [given] = readDraft({ providers: { [name]: draft } }, dependencies).providers;
  if (given === undefined) throw new Error("the draft was not read");
  const { origin } = before;
  const after = {
    ...toEntry({ given, before, secrets }),
    ...(origin === undefined ? {} : { origin }),
  };
  // A sealed secret has other bytes each time, so a key that is given again is a change.
  if (!Bun.deepEquals(before, after)) {
    const write = { atMs: clock.nowMs(), saveProviders: [after] };
    await catalog.write(write, audit({ subject: name }));
    await takeEffect();
  }
  return { name, warnings: providerWarnings(after, (one) => (variable(one) ?? "") !== "") };
}

/** The entry with its changes, and the fields of svc.yaml that these concern. */
function changeDraft(
  before: ProviderEntry,
  changes: ProviderChanges,
): { readonly draft: ProviderDraft; readonly fields: readonly string[] } {
  const { options: passed, ...present } = toProviderDraft(before);
  const kind = changes.kind ?? before.kind;
  // The command line hands over what was typed.
  if (!providerKinds.includes(kind))
    throw invalid({ kind: `Kind must be one of ${providerKinds.join(", ")}.` });
  const { options: known, takesOptions } = providerKindShapes[kind];
  // Options of the kind that it had mean nothing to the new one.
  const isOther = kind !== before.kind;
  const own = isOther ? sharedOf(present) : present;
  const changed: ProviderDraft = {};
  const more: ProviderDraft = isRecord(passed) && !isOther ? { ...passed } : {};
  const fields: string[] = [];
  const set = (name: string, value: unknown) => {
    if (value === undefined) return;
    changed[name] = value === "" ? null : value;
    fields.push(name);
  };
  set("kind", changes.kind);
  set("base_url", changes.base_url);
  if (typeof changes.api_key === "string") readKey(changes.api_key.trim());
  set("api_key", typeof changes.api_key === "string" ? changes.api_key.trim() : changes.api_key);
  set("allow_private", changes.allow_private);
  for (const [name, value] of Object.entries(changes.options ?? {})) {
    if (value !== null) checkReference(referencedName(value), `options.${name}`);
    if (Object.hasOwn(known, name)) set(name, value);
    else if (value === null && isOther) continue;
    else if (takesOptions === true) {
      more[name] = value === "" ? null : value;
      fields.push("options");
    } else
      throw new Problem({
        code: "invalid",
        message: `Unknown option "${name}" for kind ${kind}.`,
        field: `options.${name}`,
      });
  }
  const draft = { ...own, ...changed, ...(takesOptions === true ? { options: more } : {}) };
  return { draft, fields };
}

/** Without the vendor, whose kind is another one. */
const sharedOf = ({ base_url, api_key, allow_private }: ProviderDraft): ProviderDraft => ({
  ...(base_url === undefined ? {} : { base_url }),
  ...(api_key === undefined ? {} : { api_key }),
  ...(allow_private === undefined ? {} : { allow_private }),
});

async function removeEntry(
  { catalog, clock, takeEffect }: CatalogChangeDependencies,
  input: Parameters<ConnectOperations["remove"]>[0],
  { audit }: Author,
): Promise<RemovedProvider> {
  const { name, emptiesModels = false, dryRun = false } = input;
  const current = await catalog.load();
  const { origin } = findEntry(current, name);
  if (origin !== undefined) throw definedIn({ subject: `Provider ${name}`, file: origin.file });
  const touched = current.models.filter(({ routes }) =>
    routes.some(({ provider }) => provider === name),
  );
  const owned = touched.find((model) => ownsField(model, "routes"));
  if (owned?.origin !== undefined)
    throw definedIn({
      subject: `The route of model ${owned.id} to ${name}`,
      file: owned.origin.file,
    });
  const without = (model: Model): Model => ({
    ...model,
    routes: model.routes.filter(({ provider }) => provider !== name),
  });
  const saveModels = touched.map(without);
  const emptied = saveModels.filter(({ routes }) => routes.length === 0).map(({ id }) => id);
  if (emptied.length > 0 && !emptiesModels && !dryRun)
    throw conflict({
      empties_models: `Removing ${name} leaves ${emptied.join(", ")} without a route. Add another route first, or confirm the removal.`,
    });
  const count = (list: readonly Model[]) => list.reduce((sum, one) => sum + one.routes.length, 0);
  const routes = count(touched) - count(saveModels);
  if (!dryRun) {
    const write = { atMs: clock.nowMs(), removeProviders: [name], saveModels };
    await catalog.write(write, audit({ subject: name, detail: { routes, emptied } }));
    await takeEffect();
  }
  return { name, routes, emptied };
}
