import { conflict, invalid } from "../../base/problem.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import { engineProvider, type Model } from "../../catalog/model.ts";
import { definedIn, ownsField } from "../../catalog/origin.ts";
import { keysOf } from "../../catalog/provider-keys.ts";
import { findVendor } from "../../catalog/vendors.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { withLiterals } from "../../manifest/literals.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { toEntry } from "../../manifest/provider-entry.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import { auditOfEntry, type CatalogChangeDependencies, planOn, put } from "../manifest/change.ts";
import {
  type ConnectDependencies,
  checkConnection,
  type SavedProvider,
  saveCheck,
} from "./check.ts";
import { checkReference, draftProvider, readKey } from "./draft.ts";
import type { ProviderOperations } from "./operations.ts";
import type {
  NewProvider,
  OfferView,
  RemovedProvider,
  ServedModels,
  VendorView,
} from "./schemas.ts";
import { type ServeResult, serveModels, toServedDetail } from "./serve.ts";
import { type ProviderUpdate, updateEntry } from "./update.ts";
import { checkVariables } from "./variables.ts";
import { findEntry, vendorViews } from "./views.ts";

export interface ConnectOperations {
  vendors(input: Record<never, never>): Promise<readonly VendorView[]>;
  add(input: NewProvider): Promise<SavedProvider>;
  update(input: ProviderUpdate): Promise<SavedProvider>;
  /** With all routes to it; where a model would be left without one, only if that is said. */
  remove(input: {
    name: string;
    emptiesModels?: boolean | undefined;
    dryRun?: boolean;
  }): Promise<RemovedProvider>;
  /** Models that an existing provider offers and that are not routed yet. */
  offer(input: { name: string }): Promise<OfferView>;
  /** Serves some of what a provider offers, in one write. */
  serve(input: ServedModels & { name: string }): Promise<ServeResult>;
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
    detail: ({ kind, base_url, allow_private, api_key: key, options, paused }) => ({
      ...(paused === undefined ? {} : { paused }),
      ...(kind === undefined ? {} : { kind }),
      ...(base_url === undefined ? {} : { base_url }),
      ...(allow_private === undefined ? {} : { allow_private }),
      ...(key === undefined ? {} : { api_key: key === null ? "removed" : "replaced" }),
      ...(Object.keys(options ?? {}).length === 0 ? {} : { options: Object.keys(options ?? {}) }),
    }),
  },
  remove: { action: "provider.remove" },
  offer: null,
  serve: {
    action: "provider.models",
    detail: ({ ids, models = [] }) => ({ models: ids ?? models.map(toServedDetail) }),
  },
} satisfies Audits<ConnectOperations>;

/** Changes of providers in the store. */
export function connectOperations(
  dependencies: ConnectDependencies,
  { offerOf }: Pick<ProviderOperations, "offerOf">,
): Unbound<ConnectOperations, typeof connectAudits> {
  const { mutex } = dependencies;
  const isSet = (name: string) => (dependencies.variable(name) ?? "") !== "";
  return {
    vendors: async () => vendorViews(isSet),
    add: (given, author) => addEntry(dependencies, { given, isSet, author }),
    update: (input, author) => updateEntry(dependencies, input, author),
    remove: (input, author) => mutex.run(() => removeEntry(dependencies, input, author)),
    offer: ({ name }) => offerOf({ provider: name }),
    serve: (input, author) => serveModels(dependencies, { offerOf }, input, author),
  };
}

interface NamedDraft {
  readonly name: string;
  /** With its literals. */
  readonly draft: ProviderDraft;
}

async function addEntry(
  dependencies: ConnectDependencies,
  options: {
    readonly given: NewProvider;
    readonly isSet: (name: string) => boolean;
    readonly author: Author;
  },
): Promise<SavedProvider> {
  const { given, isSet, author } = options;
  const { catalog, mutex, secrets } = dependencies;
  const { name, draft } = readNew(given, isSet);
  const refuseKnown = ({ providers }: CatalogContent) => {
    if (providers.some((known) => known.name === name))
      throw conflict({ name: `Provider "${name}" already exists. Choose another name.` });
  };
  const content = await catalog.load();
  refuseKnown(content);
  const manifest = readDraft({ providers: { [name]: draft } }, dependencies);
  const [read] = manifest.providers;
  if (read === undefined) throw new Error("the draft was not read");
  const entry = toEntry({ given: read, before: undefined, secrets });
  const { exports } = dependencies;
  await checkVariables({ entry, content, exports, actor: author.actor });
  const [key] = keysOf(entry);
  // The vendor may take its time: nobody else's change waits for it.
  const savesAnyway = given.save_anyway;
  const tested =
    given.skip_test === true
      ? undefined
      : await checkConnection(dependencies, { entry, key, trial: undefined, savesAnyway });
  return mutex.run(async () => {
    const current = await catalog.load();
    refuseKnown(current);
    const plan = planOn(dependencies, { manifest, current });
    const { warnings } = await put(dependencies, { plan, toAudit: auditOfEntry(author, name) });
    if (tested !== undefined) {
      const saved = findEntry(await catalog.load(), name);
      await saveCheck(dependencies, { entry: saved, key: keysOf(saved)[0], ...tested });
    }
    return { name, warnings, isTested: tested?.isOk === true };
  });
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
  for (const [option, value] of texts) checkReference(value, option);
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
