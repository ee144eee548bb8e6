import { conflict, invalid, Problem } from "../../base/problem.ts";
import { checkNames, ownerOf } from "../../catalog/aliases.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { Model } from "../../catalog/model.ts";
import { checkFields } from "../../catalog/origin.ts";
import { isRecord, type ModelDraft } from "../../manifest/draft.ts";
import { toModelDraft, toRouteDraft } from "../../manifest/export.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { hasSameRoutes, replaceModel } from "../../manifest/merge-model.ts";
import { type Audits, type Author, before, omit, type Unbound } from "../audit/author.ts";
import { findModel } from "../input/values.ts";
import { auditOfEntry, planOn, put } from "../manifest/change.ts";
import { type NameDependencies, type NameOperations, nameAudits, nameOperations } from "./names.ts";
import type { CatalogEntryView, ModelChanges, NewModel, RouteInput } from "./schemas.ts";
import { toEntryView, viewedBy } from "./views.ts";

interface Target {
  readonly provider: string;
  /** By the upstream's own name. */
  readonly model: string;
}

export interface CatalogOperations extends NameOperations {
  /** All models, as the operator sees them. */
  list(input: Record<never, never>): Promise<readonly CatalogEntryView[]>;
  show(input: { id: string }): Promise<CatalogEntryView>;
  create(input: NewModel): Promise<CatalogEntryView>;
  update(input: ModelChanges & { id: string }): Promise<CatalogEntryView>;
  /** All routes of a model; what is known of those that stay is kept. */
  setRoutes(input: { id: string; routes: readonly RouteInput[] }): Promise<CatalogEntryView>;
  addRoute(input: RouteInput & { id: string }): Promise<CatalogEntryView>;
  updateRoute(input: RouteInput & { id: string }): Promise<CatalogEntryView>;
  removeRoute(input: Target & { id: string }): Promise<CatalogEntryView>;
}

type Dependencies = NameDependencies;

export const catalogAudits = {
  list: null,
  show: null,
  create: { action: "model.create", detail: (input) => omit(input, "id") },
  update: { action: "model.update", detail: (input) => omit(input, "id") },
  setRoutes: { action: "model.routes", detail: ({ routes }) => ({ routes }) },
  addRoute: { action: "model.routes", detail: (input) => ({ add: omit(input, "id") }) },
  updateRoute: { action: "model.routes", detail: (input) => ({ update: omit(input, "id") }) },
  removeRoute: { action: "model.routes", detail: (input) => ({ remove: omit(input, "id") }) },
  ...nameAudits,
} satisfies Audits<CatalogOperations>;

/** The models as the operator keeps them. */
export function catalogOperations(
  dependencies: Dependencies,
): Unbound<CatalogOperations, typeof catalogAudits> {
  const { catalog, clock, mutex } = dependencies;
  const changeRoutes = (
    id: string,
    author: Author,
    change: (model: Model) => readonly RouteInput[],
  ) =>
    mutex.run(async () => {
      const current = await catalog.load();
      const model = findModel(current.models, id);
      const routes = change(model).map((route) => routeDraft(model, route));
      const fields = ["routes"];
      return save(dependencies, { current, model, changes: { routes }, fields, author });
    });
  return {
    async list() {
      const nowMs = clock.nowMs();
      const content = await catalog.load();
      const viewed = await viewedBy(dependencies, content);
      return content.models.map((model) => toEntryView({ ...viewed, model, nowMs }));
    },
    show: ({ id }) => show(dependencies, id),
    create: (input, author) => mutex.run(() => create(dependencies, input, author)),
    update: ({ id, ...changes }, author) =>
      mutex.run(async () => {
        const current = await catalog.load();
        const model = findModel(current.models, id);
        const fields = Object.keys(changes).filter(
          (name) => changes[name as keyof typeof changes] !== undefined,
        );
        const draft = modelDraft(model, changes);
        return save(dependencies, { current, model, changes: draft, fields, author });
      }),
    setRoutes: ({ id, routes }, author) => changeRoutes(id, author, () => routes),
    addRoute: ({ id, ...route }, author) =>
      changeRoutes(id, author, ({ routes }) => {
        if (routes.some((known) => isSame(known, route)))
          throw conflict({
            model: `Model ${id} already has a route to ${route.provider}/${route.model}.`,
          });
        return [...routes.map(toName), route];
      }),
    updateRoute: ({ id, ...route }, author) =>
      changeRoutes(id, author, (model) => {
        findRoute(model, route);
        return model.routes.map((known) => (isSame(known, route) ? route : toName(known)));
      }),
    removeRoute: ({ id, provider, model: target }, author) =>
      changeRoutes(id, author, (model) => {
        const gone = findRoute(model, { provider, model: target });
        return model.routes.filter((known) => known !== gone).map(toName);
      }),
    ...nameOperations(dependencies),
  };
}

async function show(dependencies: Dependencies, id: string): Promise<CatalogEntryView> {
  const content = await dependencies.catalog.load();
  const model = findModel(content.models, id);
  const viewed = await viewedBy(dependencies, content);
  return toEntryView({ ...viewed, model, nowMs: dependencies.clock.nowMs() });
}

const toName = ({ provider, model }: Target): RouteInput => ({ provider, model });

const isSame = (one: Target, other: Target) =>
  one.provider === other.provider && one.model === other.model;

function findRoute(model: Model, route: Target): Model["routes"][number] {
  const found = model.routes.find((known) => isSame(known, route));
  if (found !== undefined) return found;
  throw new Problem({
    code: "not_found",
    message: `Model ${model.id} has no route to ${route.provider}/${route.model}.`,
    field: "model",
    command: "model list",
  });
}

async function create(
  dependencies: Dependencies,
  input: NewModel,
  author: Author,
): Promise<CatalogEntryView> {
  const { id, price, routes = [], ...changes } = input;
  const current = await dependencies.catalog.load();
  const owner = ownerOf(current.models, id);
  if (owner !== undefined)
    throw conflict({
      id: owner.id === id ? `Model "${id}" already exists.` : `"${id}" is an alias of ${owner.id}.`,
    });
  const draft: ModelDraft = {
    endpoint: "chat",
    ...modelDraft(undefined, changes),
    ...(price === undefined ? {} : { price }),
    ...(routes.length === 0 ? {} : { routes: routes.map((route) => routeDraft(undefined, route)) }),
  };
  const manifest = readModels(dependencies, current, { [id]: draft });
  await put(dependencies, {
    plan: planOn(dependencies, { manifest, current }),
    toAudit: auditOfEntry(author, id),
  });
  return show(dependencies, id);
}

const readModels = (
  { checkAddress }: Dependencies,
  { providers }: CatalogContent,
  models: Readonly<Record<string, ModelDraft>>,
) => {
  for (const draft of Object.values(models)) checkTargets(draft);
  return readDraft({ models }, { checkAddress, known: providers.map(({ name }) => name) });
};

const mostRoutes = 50;

function checkTargets({ routes }: ModelDraft): void {
  const targets = (Array.isArray(routes) ? routes : []).flatMap((route: unknown) =>
    isRecord(route) ? [`${String(route["provider"])}/${String(route["model"])}`] : [],
  );
  const double = targets.find((target, at) => targets.indexOf(target) !== at);
  if (double !== undefined)
    throw invalid({ routes: `Duplicate route to ${double}. Remove one of them.` });
  if (targets.length > mostRoutes)
    throw invalid({ routes: `A model can have at most ${mostRoutes} routes.` });
}

async function save(
  dependencies: Dependencies,
  options: {
    readonly current: CatalogContent;
    readonly model: Model;
    /** By the names of svc.yaml; null takes a field away. */
    readonly changes: ModelDraft;
    readonly fields: readonly string[];
    readonly author: Author;
  },
): Promise<CatalogEntryView> {
  const { current, model, changes, fields, author } = options;
  const nowMs = dependencies.clock.nowMs();
  // The price has versions of its own, and may lack a class without harm to this change.
  const { price: _, ...draft } = toModelDraft(model, nowMs);
  const [given] = readModels(dependencies, current, {
    [model.id]: { ...draft, ...changes },
  }).models;
  if (given === undefined) throw new Error("the draft was not read");
  const after = replaceModel({ given, before: model, all: current.models });
  const changed = fields.filter((field) => field !== "routes" || !hasSameRoutes(model, after));
  checkFields({ subject: `Model ${model.id}`, entry: model, fields: changed });
  checkNames(current.models.map((one) => (one === model ? after : one)));
  if (!Bun.deepEquals(model, after)) {
    const now = toModelDraft(after, nowMs);
    const detail = {
      ...(fields.includes("routes") ? { routes: now["routes"] ?? [] } : {}),
      ...before(toModelDraft(model, nowMs), changes),
    };
    const audit = author.audit({ subject: model.id, detail });
    await dependencies.catalog.write({ atMs: nowMs, saveModels: [after] }, audit);
    await dependencies.takeEffect();
  }
  return show(dependencies, model.id);
}

/** Only what is named; timeouts are changed one by one. */
function modelDraft(model: Model | undefined, changes: ModelChanges): ModelDraft {
  const { timeouts, ...rest } = changes;
  const isOfText = rest.endpoint !== undefined && rest.endpoint !== "embeddings";
  const named = Object.entries(rest).filter(([, value]) => value !== undefined);
  const before = model === undefined ? {} : toModelDraft(model, 0)["timeouts"];
  const merged = { ...(isRecord(before) ? before : {}), ...timeouts };
  const isNone = Object.values(merged).every((value) => value === null || value === undefined);
  return {
    // Only embeddings have an input: it goes with the endpoint.
    ...(isOfText ? { input: null } : {}),
    ...Object.fromEntries(named),
    ...(timeouts === undefined ? {} : { timeouts: timeouts === null || isNone ? null : merged }),
  };
}

/** What was known of a target stays with it, wherever it stands among the routes. */
function routeDraft(model: Model | undefined, route: RouteInput): ModelDraft {
  const before = model?.routes.find((known) => isSame(known, route));
  const named = Object.entries(route).filter(([, value]) => value !== undefined);
  return { ...(before === undefined ? {} : toRouteDraft(before)), ...Object.fromEntries(named) };
}
