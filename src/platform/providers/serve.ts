import { fromDecimal } from "../../base/decimal.ts";
import { conflict, invalid, Problem } from "../../base/problem.ts";
import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import { withMarkup } from "../../call/markup.ts";
import { type Price, priceKeys, priceScale } from "../../call/price.ts";
import { ownerOf } from "../../catalog/aliases.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry } from "../../catalog/model.ts";
import { isRecord, type ModelDraft } from "../../manifest/draft.ts";
import { readDraft } from "../../manifest/manifest.ts";
import type { Warning } from "../../manifest/warnings.ts";
import type { Author } from "../audit/author.ts";
import { addEntries, auditOfEntry, type CatalogChangeDependencies } from "../manifest/change.ts";
import { toPriceView } from "../models/views.ts";
import { readMarkup } from "../prices/import.ts";
import { priceFor } from "../prices/table.ts";
import { testFailed } from "./check.ts";
import type { ProviderOperations } from "./operations.ts";
import { voicesFor } from "./proposal.ts";
import type { Proposal, ServedModel, ServedModels } from "./schemas.ts";
import { findEntry } from "./views.ts";

export interface ServeResult {
  readonly served: readonly string[];
  /** Those without a price. */
  readonly needs_price: readonly string[];
  readonly warnings: readonly Warning[];
}

/** How the audit log has one of them. */
export function toServedDetail({ id, upstream, price, markup, free }: ServedModel): string {
  const name = id ?? upstream;
  if (free === true) return `${name} (free)`;
  if (markup !== undefined) return `${name} (list price + ${markup}%)`;
  return price === undefined ? name : `${name} (own price)`;
}

/** From a vendor's list to served models: one write, whatever their number. */
export async function serveModels(
  dependencies: CatalogChangeDependencies,
  { offerOf }: Pick<ProviderOperations, "offerOf">,
  { name, ids, models }: ServedModels & { readonly name: string },
  author: Author,
): Promise<ServeResult> {
  if ((ids === undefined) === (models === undefined))
    throw invalid({ models: "Set either models or ids." });
  const { proposals, problem } = await offerOf({ provider: name });
  if (problem !== null) throw testFailed(problem, `provider test ${name}`);
  const chosen =
    ids === undefined ? byUpstream(name, proposals, models ?? []) : byId(name, proposals, ids);
  const { mutex, catalog } = dependencies;
  return mutex.run(async () => {
    const current = await catalog.load();
    const entry = findEntry(current, name);
    const drafts = toDrafts(dependencies, { chosen, current, entry });
    const { warnings } = await addEntries(
      dependencies,
      { draft: { providers: {}, models: drafts }, dryRun: false },
      auditOfEntry(author, name),
    );
    const served = Object.keys(drafts);
    const after = new Map((await catalog.load()).models.map((model) => [model.id, model]));
    const needs_price = served.filter((id) => after.get(id)?.prices.length === 0);
    return { served, needs_price, warnings };
  });
}

interface Chosen {
  readonly proposal: Proposal;
  readonly choice: ServedModel;
  /** Where it stands in the request. */
  readonly field: string;
}

function byUpstream(
  name: string,
  proposals: readonly Proposal[],
  models: readonly ServedModel[],
): readonly Chosen[] {
  const known = new Map(proposals.map((proposal) => [proposal.upstream, proposal]));
  return models.map((choice, at) => {
    const proposal = known.get(choice.upstream);
    if (proposal === undefined) throw notOffered(name, choice.upstream, `models[${at}].upstream`);
    return { proposal, choice, field: `models[${at}]` };
  });
}

function byId(
  name: string,
  proposals: readonly Proposal[],
  ids: readonly string[],
): readonly Chosen[] {
  const known = new Map(proposals.map((proposal) => [proposal.id, proposal]));
  return [...new Set(ids)].map((id) => {
    const proposal = known.get(id);
    if (proposal === undefined) throw notOffered(name, id, "ids");
    return { proposal, choice: { upstream: proposal.upstream }, field: "ids" };
  });
}

const notOffered = (name: string, model: string, field: string) =>
  new Problem({ code: "not_found", message: `${name} no longer offers ${model}.`, field });

function toDrafts(
  { checkAddress }: CatalogChangeDependencies,
  options: {
    readonly chosen: readonly Chosen[];
    readonly current: CatalogContent;
    readonly entry: ProviderEntry;
  },
): Readonly<Record<string, ModelDraft>> {
  const { chosen, current, entry } = options;
  const known = current.providers.map((one) => one.name);
  const drafts: Record<string, ModelDraft> = {};
  for (const one of chosen) {
    const id = one.choice.id ?? one.proposal.id;
    if (Object.hasOwn(drafts, id))
      throw conflict({
        [`${one.field}.id`]: `Two models have the id "${id}". Change one of them.`,
      });
    const draft = toDraft(one, entry);
    checkFree(current, { id, draft, field: one.field });
    within(one.field, () => readDraft({ models: { [id]: draft } }, { checkAddress, known }));
    drafts[id] = draft;
  }
  return drafts;
}

/** A model that exists stays as it is, unless it has no route and is used in the same way. */
function checkFree(
  { models }: CatalogContent,
  { id, draft, field }: { readonly id: string; readonly draft: ModelDraft; readonly field: string },
): void {
  const owner = ownerOf(models, id);
  if (owner === undefined) return;
  if (owner.id !== id) throw conflict({ [`${field}.id`]: `"${id}" is an alias of ${owner.id}.` });
  const isSameUse =
    owner.endpoint === draft["endpoint"] && owner.input === (draft["input"] ?? "text");
  if (owner.routes.length > 0 || !isSameUse)
    throw conflict({
      [`${field}.id`]: `Model "${id}" already exists. Choose another id, or add a route to it.`,
    });
}

/** A problem of one model is named by its place in the request. */
function within<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    const { code, message } = error;
    throw new Problem({ code, message, field: `${field}.${error.field}` });
  }
}

function toDraft({ proposal, choice, field }: Chosen, { kind }: ProviderEntry): ModelDraft {
  const { endpoint = proposal.endpoint } = choice;
  const input = choice.input ?? (endpoint === proposal.endpoint ? proposal.input : "text");
  const use = { endpoint, input };
  const list = listPrice(proposal, use);
  const price = within(field, () => priceOf(choice, use, list));
  const { routes, max_output_tokens: cap } = proposal.draft;
  const [route] = Array.isArray(routes) ? routes : [];
  const { cost: _cost, voices: _voices, ...target } = isRecord(route) ? route : {};
  return {
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    ...(endpoint === "chat" && cap !== undefined ? { max_output_tokens: cap } : {}),
    ...(price === undefined ? {} : { price }),
    routes: [
      {
        ...target,
        ...voicesFor(endpoint, kind),
        ...(isOwn(proposal) || Object.keys(list).length === 0 ? {} : { cost: toPriceView(list) }),
      },
    ],
  };
}

/** What runs on the operator's own machine has a list price of 0 and no cost. */
const isOwn = ({ cost, list_price: list }: Proposal) =>
  cost === null && list !== null && Object.values(list).every((usd) => Number(usd) === 0);

interface Use {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}

/** The classes of the list price that calls of this kind have. */
function listPrice(proposal: Proposal, use: Use): Price {
  const { list_price: texts } = proposal;
  const price = Object.fromEntries(
    priceKeys.flatMap((key) => {
      const text = texts?.[key];
      const units = text === undefined ? undefined : fromDecimal(text, priceScale(key));
      return units === undefined ? [] : [[key, units]];
    }),
  );
  return priceFor({ price, vendor: "", model: "", notes: [], isOwn: isOwn(proposal) }, use);
}

/** Undefined where no price can be given yet. */
function priceOf(
  { price, markup, free }: ServedModel,
  { endpoint, input }: Use,
  list: Price,
): Readonly<Partial<Record<string, string>>> | undefined {
  if (
    [price, markup, free === true ? free : undefined].filter((one) => one !== undefined).length > 1
  )
    throw invalid({ price: "Set only one of price, markup and free." });
  const billed = billedClasses(endpoint, input);
  if (free === true) return Object.fromEntries(billed.map((key) => [key, "0"]));
  if (price !== undefined) return price;
  const factor = markup === undefined ? undefined : readMarkup(markup);
  if (!billed.every((key) => list[key] !== undefined)) return undefined;
  return toPriceView(factor === undefined ? list : withMarkup(list, factor));
}
