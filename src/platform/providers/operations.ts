import type { AuditStore } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/problem.ts";
import type { Endpoint, InputKind } from "../../call/endpoint.ts";
import type { Trial, TrialKind, TrialLimits } from "../../call/trial.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import { engineProvider, type ProviderEntry, type Timeouts } from "../../catalog/model.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { withLiterals } from "../../manifest/literals.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { toEntry } from "../../manifest/provider-entry.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { canCompare, compareList, listingTrial, routesTo } from "./listing.ts";
import { type ProposalOptions, proposeModels, takenIds, useOf } from "./proposal.ts";
import type {
  ListingView,
  OfferView,
  PlannedTrialView,
  Proposal,
  ProviderView,
  TrialView,
} from "./schemas.ts";
import { findEntry, toProviderView, type Upstreams, vendorOf } from "./views.ts";

interface DraftedName {
  readonly provider: string;
  /** The draft, unless a provider with this name exists. */
  readonly draft?: ProviderDraft;
  readonly literals?: Readonly<Record<string, string>>;
}

export interface ProviderOperations {
  list(input: Record<never, never>): Promise<readonly ProviderView[]>;
  /** The calls of a test, in order: so that each can be asked for, and told, by itself. */
  planTrials(input: { name: string; model?: string }): Promise<readonly PlannedTrialView[]>;
  /**
   * One real call of each kind that its routes have, or of one; with no routes its models are listed.
   * Where the vendor's list is complete, the routes are compared with it last.
   */
  test(input: {
    name: string;
    model?: string;
    kind?: TrialView["kind"];
  }): Promise<readonly TrialView[]>;
  /** The routes to it that name a model which its vendor does not list. */
  listing(input: { name: string }): Promise<ListingView>;
  /** Puts its targets back in service. */
  reset(input: { name: string; model?: string | undefined }): Promise<{ readonly targets: number }>;
  /** Models that a provider offers and that are not routed yet; with a draft, before it is added. */
  offerOf(input: DraftedName): Promise<OfferView>;
  /** Models named by the operator, if the vendor has no list. */
  proposeNamed(input: DraftedName & { names: readonly string[] }): Promise<readonly Proposal[]>;
}

export const providerAudits = {
  list: null,
  planTrials: null,
  test: { action: "provider.test", detail: (input) => omit(input, "name") },
  listing: null,
  reset: { action: "provider.reset", detail: ({ model = null }) => ({ model }) },
  offerOf: null,
  proposeNamed: null,
} satisfies Audits<ProviderOperations>;

type Implementation = Unbound<ProviderOperations, typeof providerAudits>;

export interface ProviderDependencies {
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  /** Loaded on demand: most commands call no upstream. */
  readonly upstreams?: (() => Promise<Upstreams>) | undefined;
  readonly gateway?:
    | {
        health(): readonly TargetHealth[];
        resetHealth(provider: string, model?: string): number;
      }
    | undefined;
}

export function providerOperations(dependencies: ProviderDependencies): Implementation {
  const { catalog, clock, gateway, variable } = dependencies;
  const isSet = (name: string) => (variable(name) ?? "") !== "";
  return {
    async list() {
      const { providers, models } = await catalog.load();
      const health = gateway?.health();
      return providers.map((entry) => toProviderView({ entry, models, health, isSet }));
    },
    ...trialOperations(dependencies),
    async reset({ name, model }, { audit }) {
      if (name !== engineProvider) findEntry(await catalog.load(), name);
      if (gateway === undefined)
        throw new Problem({
          code: "failed",
          message: "The gateway is not running, so there is nothing to reset.",
          command: "serve",
        });
      const isSame = (one: TargetHealth) => one.provider === name && one.model === model;
      if (model !== undefined && !gateway.health().some(isSame))
        throw new Problem({
          code: "not_found",
          message: `${name} has no target ${model}, or it has not been called since the gateway started.`,
          field: "model",
          command: "provider list",
        });
      await dependencies.audit.add(audit({ subject: name }));
      return { targets: gateway.resetHealth(name, model) };
    },
    async offerOf({ provider, draft, literals = {} }) {
      const current = await catalog.load();
      const { entry, isNew } = entryOf({ dependencies, current, provider, draft, literals });
      const offer = await (await upstreamsOf(dependencies)).offer(entry, isNew);
      if ("problem" in offer)
        return { proposals: [], left_out: 0, problem: offer.problem, listed: null };
      const all = offer.models ?? [];
      const routed = new Set(routesTo(current, provider).map(({ upstream }) => upstream));
      const models = all.filter(({ id }) => !routed.has(id));
      const proposals = await proposeFor(entry, {
        models,
        taken: takenIds(current.models),
        nowMs: clock.nowMs(),
      });
      const servable = all.filter((model) => useOf(model) !== undefined).map(({ id }) => id);
      const left_out = models.length - proposals.length;
      return { proposals, left_out, problem: null, listed: all.length === 0 ? null : servable };
    },
    async proposeNamed({ provider, names, draft, literals = {} }) {
      const current = await catalog.load();
      const { entry } = entryOf({ dependencies, current, provider, draft, literals });
      const models = names.map((id) => ({ id }));
      return proposeFor(entry, {
        models,
        taken: takenIds(current.models),
        nowMs: clock.nowMs(),
      });
    },
  };
}

/** The existing entry, or else the one that a draft describes. */
function entryOf(options: {
  readonly dependencies: ProviderDependencies;
  readonly current: CatalogContent;
  readonly provider: string;
  readonly draft: ProviderDraft | undefined;
  readonly literals: Readonly<Record<string, string>>;
}): { readonly entry: ProviderEntry; readonly isNew: boolean } {
  const { dependencies, current, provider, draft, literals } = options;
  const known = current.providers.find(({ name }) => name === provider);
  if (known !== undefined || draft === undefined)
    return { entry: findEntry(current, provider), isNew: false };
  const whole = withLiterals(
    { providers: { [provider]: draft }, models: {} },
    { [provider]: literals },
  );
  const [given] = readDraft(whole, dependencies).providers;
  if (given === undefined) return { entry: findEntry(current, provider), isNew: false };
  return {
    entry: toEntry({ given, before: undefined, secrets: dependencies.secrets }),
    isNew: true,
  };
}

/** How a provider is doing, by real calls and by its own list. */
function trialOperations(
  dependencies: ProviderDependencies,
): Pick<Implementation, "planTrials" | "test" | "listing"> {
  const { catalog } = dependencies;
  const upstreams = () => upstreamsOf(dependencies);
  return {
    async planTrials({ name, model }) {
      const content = await catalog.load();
      const entry = findTested(content, name);
      const trials = trialsOf({ content, name, model });
      const isCompared = canCompare(entry) && routesTo(content, name, model).length > 0;
      const list = { kind: "models" as const, model: null };
      return [
        ...trials.map((trial) => ({ kind: trial.kind, model: trial.model })),
        ...(isCompared || trials.length === 0 ? [list] : []),
      ];
    },
    async test({ name, model, kind }, { audit }) {
      const content = await catalog.load();
      const entry = findTested(content, name);
      const all = trialsOf({ content, name, model });
      const trials = kind === undefined ? all : all.filter((trial) => trial.kind === kind);
      // The routes may have changed between two calls of one test.
      if (trials.length === 0 && kind !== undefined && kind !== "models") return [];
      // Vendors bill these calls.
      await dependencies.audit.add(audit({ subject: name }));
      const routes = routesTo(content, name, model);
      const isCompared = canCompare(entry) && routes.length > 0;
      if (!isCompared || (kind !== undefined && kind !== "models"))
        return (await upstreams()).tryOut(entry, trials);
      const tried = trials.length === 0 ? [] : await (await upstreams()).tryOut(entry, trials);
      return [...tried, await listingTrial({ entry, routes, upstreams })];
    },
    async listing({ name }) {
      const content = await catalog.load();
      const entry = findEntry(content, name);
      const routes = routesTo(content, name);
      return compareList({ entry, routes, upstreams });
    },
  };
}

function findTested(content: CatalogContent, name: string): ProviderEntry {
  if (name !== engineProvider) return findEntry(content, name);
  throw new Problem({
    code: "invalid",
    message: 'Provider "engine" serves the embedded models and needs no test.',
    command: "engine status",
  });
}

function upstreamsOf({ upstreams }: ProviderDependencies): Promise<Upstreams> {
  if (upstreams === undefined) throw new Error("upstreams are not wired");
  return upstreams();
}

const kindsOf = (endpoint: Endpoint, input: InputKind): readonly TrialKind[] => {
  if (endpoint === "chat") return ["chat", "stream"];
  if (endpoint === "speech") return ["speech"];
  return [input === "media" ? "media" : "embeddings"];
};

const kindOrder: readonly TrialKind[] = ["chat", "stream", "embeddings", "media", "speech"];

/** The first route of each kind; with a model named, that one, routed or not. */
function trialsOf(options: {
  readonly content: CatalogContent;
  readonly name: string;
  readonly model: string | undefined;
}): readonly Trial[] {
  const { content, name, model: wanted } = options;
  const trials = new Map<TrialKind, Trial>();
  for (const { id, endpoint, input, routes, timeouts } of content.models)
    for (const { provider, model, voices } of routes) {
      if (provider !== name || (wanted !== undefined && wanted !== id && wanted !== model))
        continue;
      for (const kind of kindsOf(endpoint, input))
        if (!trials.has(kind))
          trials.set(kind, { kind, model, voices, limits: limitsOf(timeouts) });
    }
  if (wanted === undefined || trials.size > 0)
    return kindOrder.flatMap((kind) => trials.get(kind) ?? []);
  const use = useOf({ id: wanted }) ?? { endpoint: "chat" as const, input: "text" as const };
  return kindsOf(use.endpoint, use.input).map((kind) => ({ kind, model: wanted }));
}

function limitsOf({ connect, firstByte, total }: Timeouts = {}): Partial<TrialLimits> {
  return {
    ...(connect === undefined ? {} : { lookMs: connect * 1000 }),
    ...(firstByte === undefined ? {} : { firstByteMs: firstByte * 1000 }),
    ...(total === undefined ? {} : { withinMs: total * 1000 }),
  };
}

const proposeFor = (
  entry: ProviderEntry,
  rest: Pick<ProposalOptions, "models" | "taken" | "nowMs">,
): Promise<Proposal[]> =>
  proposeModels({
    provider: entry.name,
    kind: entry.kind,
    vendor: vendorOf(entry)?.id,
    baseUrl: entry.baseUrl,
    ...rest,
  });
