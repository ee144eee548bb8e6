import type { AuditStore } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/problem.ts";
import type { Endpoint, InputKind } from "../../call/endpoint.ts";
import type { Trial, TrialKind, TrialLimits } from "../../call/trial.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import {
  engineProvider,
  type Model,
  type ProviderEntry,
  type Timeouts,
} from "../../catalog/model.ts";
import { type Literals, withLiterals } from "../../manifest/literals.ts";
import { type Manifest, readManifest } from "../../manifest/manifest.ts";
import { planApply } from "../../manifest/plan.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { canCompare, compareList, type ListingView, listingTrial, routesTo } from "./listing.ts";
import {
  type KnownModel,
  type OfferedModel,
  type Proposal,
  proposeModels,
  type TakenIds,
  takenIds,
  useOf,
} from "./proposal.ts";
import type { TrialView, TroubleView, Upstreams } from "./views.ts";
import { type ProviderView, toProviderView, vendorOf } from "./views.ts";

/** A call that a test would make. */
export interface PlannedTrialView {
  readonly kind: TrialView["kind"];
  readonly model: string | null;
}

export interface OfferView {
  /** What could be served of it. */
  readonly proposals: readonly Proposal[];
  /** How many it offers that cannot be served here, or are there already. */
  readonly left_out: number;
  /** Why it could not be asked. */
  readonly problem: TroubleView | null;
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
  reset(input: { name: string; model?: string }): Promise<{ readonly targets: number }>;
  /** What a provider that stands in a text would offer, in force or not. */
  offerOf(input: { text: string; provider: string; literals?: Literals }): Promise<OfferView>;
}

export const providerAudits = {
  list: null,
  planTrials: null,
  test: { action: "provider.test", detail: (input) => omit(input, "name") },
  listing: null,
  reset: { action: "provider.reset", detail: ({ model = null }) => ({ model }) },
  offerOf: null,
} satisfies Audits<ProviderOperations>;

type Implementation = Unbound<ProviderOperations, typeof providerAudits>;

export interface ProviderParts {
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  /** Loaded when it is needed: most commands call nobody. */
  readonly upstreams?: (() => Promise<Upstreams>) | undefined;
  readonly gateway?:
    | {
        health(): readonly TargetHealth[];
        resetHealth(provider: string, model?: string): number;
      }
    | undefined;
}

export function providerOperations(parts: ProviderParts): Implementation {
  const { catalog, clock, gateway, variable } = parts;
  const isSet = (name: string) => (variable(name) ?? "") !== "";
  const planOf = (manifest: Manifest, current: CatalogContent) =>
    planApply({
      manifest,
      current,
      secrets: parts.secrets,
      hasVariable: isSet,
      nowMs: clock.nowMs(),
    });
  return {
    async list() {
      const { providers, models } = await catalog.load();
      const health = gateway?.health();
      return providers.map((entry) => toProviderView({ entry, models, health, isSet }));
    },
    ...trialOperations(parts),
    async reset({ name, model }, { audit }) {
      if (name !== engineProvider) findProvider(await catalog.load(), name);
      if (gateway === undefined)
        throw new Problem({
          code: "failed",
          message: "The gateway is not running, so no target is out of service.",
          command: "serve",
        });
      await parts.audit.add(audit({ subject: name }));
      const targets = gateway.resetHealth(name, model);
      if (targets === 0 && model !== undefined)
        throw new Problem({
          code: "not_found",
          message: `No call was made to ${model} of ${name} since the gateway started.`,
          command: "provider list",
        });
      return { targets };
    },
    async offerOf({ text, provider, literals = {} }) {
      const manifest = withLiterals(readManifest(text, parts.checkAddress), literals);
      const current = await catalog.load();
      const { saveProviders = [] } = planOf(manifest, current).write;
      const entry = saveProviders.find(({ name }) => name === provider);
      if (entry === undefined)
        throw new Problem({
          code: "not_found",
          message: `The file has no provider "${provider}".`,
        });
      const taken = takenIds(
        current.models.map((model) => toKnown(model, model.prices.length > 0)),
        manifest.models.map((model) => toKnown(model, model.price !== undefined)),
      );
      const isNew = !current.providers.some(({ name }) => name === provider);
      const offer = await (await upstreamsOf(parts)).offer(entry, isNew);
      if ("problem" in offer) return { proposals: [], left_out: 0, problem: offer.problem };
      const isRouted = ({ id }: OfferedModel) =>
        manifest.models.some(({ routes }) =>
          routes.some((route) => route.provider === provider && route.model === id),
        );
      const models = (offer.models ?? []).filter((model) => !isRouted(model));
      return offerView({ entry, models, taken, nowMs: clock.nowMs() });
    },
  };
}

/** How a provider is doing, by real calls and by its own list. */
function trialOperations(
  parts: ProviderParts,
): Pick<Implementation, "planTrials" | "test" | "listing"> {
  const { catalog } = parts;
  const upstreams = () => upstreamsOf(parts);
  return {
    async planTrials({ name, model }) {
      const content = await catalog.load();
      const entry = findProvider(content, name);
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
      const entry = findProvider(content, name);
      const all = trialsOf({ content, name, model });
      const trials = kind === undefined ? all : all.filter((trial) => trial.kind === kind);
      // The routes may have changed between two calls of one test.
      if (trials.length === 0 && kind !== undefined && kind !== "models") return [];
      // Vendors bill these calls.
      await parts.audit.add(audit({ subject: name }));
      const routes = routesTo(content, name, model);
      const isCompared = canCompare(entry) && routes.length > 0;
      if (!isCompared || (kind !== undefined && kind !== "models"))
        return (await upstreams()).tryOut(entry, trials);
      const tried = trials.length === 0 ? [] : await (await upstreams()).tryOut(entry, trials);
      return [...tried, await listingTrial({ entry, routes, upstreams })];
    },
    async listing({ name }) {
      const content = await catalog.load();
      const entry = findProvider(content, name);
      const routes = routesTo(content, name);
      return compareList({ entry, routes, upstreams });
    },
  };
}

const toKnown = (
  { id, endpoint, input, routes }: Pick<Model, "id" | "endpoint" | "input" | "routes">,
  hasPrice: boolean,
): KnownModel => ({ id, endpoint, input, isRouted: routes.length > 0, hasPrice });

function upstreamsOf({ upstreams }: ProviderParts): Promise<Upstreams> {
  if (upstreams === undefined) throw new Error("no way to the upstreams was wired");
  return upstreams();
}

function findProvider({ providers }: CatalogContent, name: string): ProviderEntry {
  const entry = providers.find((one) => one.name === name);
  if (entry !== undefined) return entry;
  if (name === engineProvider)
    throw new Problem({
      code: "invalid",
      message: "engine is the provider of the embedded models and cannot be tested.",
      command: "engine status",
    });
  throw new Problem({
    code: "not_found",
    message: `Unknown provider "${name}".`,
    command: providers.length === 0 ? "provider add NAME" : "provider list",
  });
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

async function offerView(options: {
  readonly entry: ProviderEntry;
  readonly models: readonly OfferedModel[];
  readonly taken: TakenIds;
  readonly nowMs: number;
}): Promise<OfferView> {
  const { entry, models, taken, nowMs } = options;
  const proposals = await proposeModels({
    provider: entry.name,
    kind: entry.kind,
    vendor: vendorOf(entry)?.id,
    baseUrl: entry.baseUrl,
    models,
    taken,
    nowMs,
  });
  return { proposals, left_out: models.length - proposals.length, problem: null };
}
