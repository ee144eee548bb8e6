import type { AuditStore } from "../../base/audit.ts";
import { Problem } from "../../base/problem.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import type { ServedTarget, TargetHealth } from "../../catalog/health.ts";
import { engineProvider, type ProviderEntry } from "../../catalog/model.ts";
import { keysOf, withKey } from "../../catalog/provider-keys.ts";
import { TargetStates } from "../../catalog/target-states.ts";
import type { ExportStore } from "../../exports/store.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { withLiterals } from "../../manifest/literals.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { toEntry } from "../../manifest/provider-entry.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { RunningMoney } from "../accounts/funds.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import {
  type CheckDependencies,
  checkConnection,
  keyTroubles,
  saveCheck,
  saveRejection,
} from "./check.ts";
import { LastDay } from "./last-day.ts";
import { canCompare, compareList, listingTrial, routesTo } from "./listing.ts";
import {
  type OfferedModel,
  type ProposalOptions,
  proposeModels,
  takenIds,
  useOf,
} from "./proposal.ts";
import type {
  ListingView,
  OfferView,
  PlannedTrialView,
  Proposal,
  ProviderView,
  RoutedView,
  TrialView,
} from "./schemas.ts";
import { TestRuns } from "./test-runs.ts";
import { keyTrial, type PlannedTrial, planTest } from "./trials.ts";
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
    /** Only with this key. */
    key?: string | undefined;
    /** The same for all steps of one test, which are then one entry in the audit log. */
    run?: string | undefined;
  }): Promise<readonly TrialView[]>;
  /**
   * Tries a provider before it is added; throws where that fails. One that was saved although it
   * failed is tried again, and what is found is recorded.
   */
  check(input: DraftedName & { readonly isSaved?: boolean }): Promise<{ readonly tested: boolean }>;
  /** The routes to it that name a model which its vendor does not list. */
  listing(input: { name: string }): Promise<ListingView>;
  /** Puts its targets back in service, untested. */
  reset(input: { name: string; model?: string | undefined }): Promise<{ readonly targets: number }>;
  /** Models that a provider offers and that are not routed yet; with a draft, before it is added. */
  offerOf(input: DraftedName): Promise<OfferView>;
  /** Models named by the operator, if the vendor has no list. */
  proposeNamed(input: DraftedName & { names: readonly string[] }): Promise<readonly Proposal[]>;
}

export const providerAudits = {
  list: null,
  planTrials: null,
  test: {
    action: "provider.test",
    // All steps of a test are one entry.
    detail: ({ run, ...input }) =>
      run === undefined ? omit(input, "name") : omit(input, "name", "kind", "key"),
  },
  check: null,
  listing: null,
  reset: { action: "provider.reset", detail: ({ model = null }) => ({ model }) },
  offerOf: null,
  proposeNamed: null,
} satisfies Audits<ProviderOperations>;

type Implementation = Unbound<ProviderOperations, typeof providerAudits>;

export interface ProviderDependencies extends CheckDependencies {
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly exports: ExportStore;
  readonly secrets: Secrets;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  /** Absent when a command has opened the store itself. */
  readonly money?: RunningMoney | undefined;
  readonly gateway?:
    | {
        health(): Promise<readonly TargetHealth[]>;
        forgetServed(target: ServedTarget): Promise<void>;
        resetHealth(provider: string, model?: string): Promise<number>;
      }
    | undefined;
}

export function providerOperations(dependencies: ProviderDependencies): Implementation {
  const { catalog, clock, gateway, money, targetChecks } = dependencies;
  const isSet = isSetIn(dependencies);
  const lastDay = money?.reports && new LastDay(money.reports, clock);
  return {
    async list() {
      const { providers, models } = await catalog.load();
      const health = await gateway?.health();
      const checks = await targetChecks.list();
      const states = new TargetStates({ providers, health, checks, isSet });
      // The rest is worth showing without the figures.
      const days = await lastDay?.views().catch(() => undefined);
      return providers.map((entry) =>
        toProviderView({
          entry,
          models,
          states,
          nowMs: clock.nowMs(),
          isRunning: gateway !== undefined,
          lastDay: days === undefined ? null : days(entry.name),
          isSet,
        }),
      );
    },
    ...trialOperations(dependencies),
    reset: resetTargets(dependencies),
    async offerOf({ provider, draft, literals = {} }) {
      const current = await catalog.load();
      const { entry, isNew } = entryOf({ dependencies, current, provider, draft, literals });
      const offer = await (await upstreamsOf(dependencies)).offer(entry, isNew);
      if ("problem" in offer) return { ...noOffer, problem: offer.problem };
      const all = offer.models ?? [];
      const routed = new Set(routesTo(current, provider).map(({ upstream }) => upstream));
      const models = all.filter(({ id }) => !routed.has(id));
      const proposals = await proposeFor(entry, {
        models,
        taken: takenIds(current.models),
        nowMs: clock.nowMs(),
      });
      return toOffer({ all, models, proposals });
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

/** Puts targets back in service: breakers close, and failed checks are forgotten. */
function resetTargets({
  catalog,
  gateway,
  targetChecks,
}: ProviderDependencies): Implementation["reset"] {
  return async ({ name, model }, { audit }) => {
    if (name !== engineProvider) findEntry(await catalog.load(), name);
    if (gateway === undefined)
      throw new Problem({
        code: "failed",
        message: "The gateway is not running, so there is nothing to reset.",
        command: "serve",
      });
    const known = [...(await gateway.health()), ...(await targetChecks.list())];
    const isKnown = known.some((one) => one.provider === name && one.model === model);
    if (model !== undefined && !isKnown)
      throw new Problem({
        code: "not_found",
        message: `${name} has no target ${model}, or it has not been called or tested yet.`,
        field: "model",
        command: "provider list",
      });
    const of = { provider: name, model };
    const failures = await targetChecks.forgetFailures(of, audit({ subject: name }));
    return { targets: Math.max(failures, await gateway.resetHealth(name, model)) };
  };
}

const noOffer = { proposals: [], left_out: 0, unsupported: [], listed: null };

const isServable = (model: OfferedModel) => useOf(model) !== undefined;
const idsOf = (models: readonly OfferedModel[]) => models.map(({ id }) => id);

function toOffer(options: {
  readonly all: readonly OfferedModel[];
  /** Those that are not routed yet. */
  readonly models: readonly OfferedModel[];
  readonly proposals: OfferView["proposals"];
}): OfferView {
  const { all, models, proposals } = options;
  return {
    proposals,
    left_out: models.length - proposals.length,
    unsupported: idsOf(models.filter((model) => !isServable(model))),
    problem: null,
    listed: all.length === 0 ? null : idsOf(all.filter(isServable)),
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
): Pick<Implementation, "planTrials" | "test" | "listing" | "check"> {
  const { catalog, clock } = dependencies;
  const upstreams = () => upstreamsOf(dependencies);
  const runs = new TestRuns(clock);
  return {
    async planTrials({ name, model }) {
      const content = await catalog.load();
      const entry = findTested(content, name);
      return planTest({ content, entry, model }).map((planned) => toPlannedView(entry, planned));
    },
    async test({ name, model, kind, key, run }, { actor, audit }) {
      const content = await catalog.load();
      const entry = findTested(content, name);
      const steps = planTest({ content, entry, model })
        .filter(({ trial }) => kind === undefined || (trial?.kind ?? "models") === kind)
        .filter((step) => key === undefined || step.key?.name === key);
      // The routes may have changed between two calls of one test.
      if (steps.length === 0) return [];
      // Vendors bill these calls.
      if (run === undefined || runs.isNew(JSON.stringify([actor.kind, actor.id, name, run])))
        await dependencies.audit.add(audit({ subject: name }));
      const routes = routesTo(content, name, model);
      const views: TrialView[] = [];
      // One after another: some vendors let a new key do one thing at a time.
      for (const step of steps) views.push(await runStep(dependencies, { entry, routes, step }));
      return views;
    },
    async check({ provider, draft, literals = {}, isSaved = false }) {
      const current = await catalog.load();
      const { entry } = entryOf({ dependencies, current, provider, draft, literals });
      const [key] = keysOf(entry);
      const trial = keyTrial(current, provider);
      const what = { entry, key, trial, savesAnyway: isSaved };
      const found = await checkConnection(dependencies, what);
      if (isSaved && found !== undefined) await saveCheck(dependencies, { entry, key, ...found });
      return { tested: found?.isOk === true };
    },
    async listing({ name }) {
      const content = await catalog.load();
      const entry = findEntry(content, name);
      const routes = routesTo(content, name);
      return compareList({ entry, routes, upstreams });
    },
  };
}

const toPlannedView = (entry: ProviderEntry, { trial, key }: PlannedTrial): PlannedTrialView => ({
  kind: trial?.kind ?? "models",
  model: trial?.model ?? null,
  key: keysOf(entry).length > 1 ? (key?.name ?? null) : null,
});

/** Makes one call of a test and records what came of it. */
async function runStep(
  dependencies: ProviderDependencies,
  options: {
    readonly entry: ProviderEntry;
    readonly routes: readonly RoutedView[];
    readonly step: PlannedTrial;
  },
): Promise<TrialView> {
  const { entry, routes, step } = options;
  const { key, trial } = step;
  const upstreams = () => upstreamsOf(dependencies);
  const tried = key === undefined ? entry : withKey(entry, key);
  const planned = toPlannedView(entry, step);
  const isListing = trial === undefined && routes.length > 0 && canCompare(entry);
  const [made] = isListing
    ? [await listingTrial({ entry: tried, routes, upstreams, isSet: isSetIn(dependencies) })]
    : await (await upstreams()).tryOut(tried, trial === undefined ? [] : [trial]);
  if (made === undefined) throw new Error("a test made no call");
  const { ok, problem } = made;
  // Another attempt may work: this says nothing of the target.
  const isPassing = problem !== null && passing.includes(problem.trouble);
  if (!isListing && !isPassing) {
    const model = trial?.model ?? "";
    await saveCheck(dependencies, { entry, key, model, isOk: ok });
    if (problem !== null && keyTroubles.includes(problem.trouble))
      await saveRejection(dependencies, { entry, key });
    if (!ok && model !== "")
      await dependencies.gateway?.forgetServed({
        provider: entry.name,
        key: planned.key ?? undefined,
        model,
      });
  }
  return { ...made, key: planned.key };
}

const passing: readonly string[] = ["limited", "overloaded"];

const isSetIn =
  ({ variable }: ProviderDependencies) =>
  (name: string) =>
    (variable(name) ?? "") !== "";

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
