import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry } from "../../catalog/model.ts";
import { hasCompleteList, namesMissing } from "../../catalog/model-lists.ts";
import { keysOf } from "../../catalog/provider-keys.ts";
import type { ListingView, RoutedView, TrialView } from "./schemas.ts";
import { type Upstreams, vendorOf } from "./views.ts";

export const canCompare = (entry: ProviderEntry): boolean => hasCompleteList(vendorOf(entry)?.id);

/** The routes to a provider, all or those of one model by either of its names. */
export function routesTo(
  { models }: CatalogContent,
  provider: string,
  wanted?: string,
): readonly RoutedView[] {
  return models.flatMap(({ id, routes }) =>
    routes
      .filter((route) => route.provider === provider)
      .filter(({ model }) => wanted === undefined || wanted === id || wanted === model)
      .map((route) => ({ model: id, upstream: route.model })),
  );
}

/** Fetches the list. A failure is not a problem: calls show whether the vendor works. */
export async function compareList(options: {
  readonly entry: ProviderEntry;
  readonly routes: readonly RoutedView[];
  readonly upstreams: () => Promise<Upstreams>;
}): Promise<ListingView> {
  const { entry, routes, upstreams } = options;
  const nothing = { models: null, unlisted: [] };
  if (!canCompare(entry) || routes.length === 0) return nothing;
  const offer = await (await upstreams()).offer(entry, false);
  if ("problem" in offer) return nothing;
  const ids = (offer.models ?? []).map(({ id }) => id);
  const names = routes.map(({ upstream }) => upstream);
  const missing = namesMissing({ vendor: vendorOf(entry)?.id, names, ids });
  if (missing === undefined) return nothing;
  const unlisted = routes.filter(({ upstream }) => missing.includes(upstream));
  return { models: ids.length, unlisted };
}

export async function listingTrial(
  options: Parameters<typeof compareList>[0] & { readonly isSet: (variable: string) => boolean },
): Promise<TrialView> {
  const { entry, upstreams, isSet } = options;
  const startMs = performance.now();
  const common = () => ({
    kind: "models" as const,
    model: null,
    key: null,
    duration_ms: Math.round(performance.now() - startMs),
  });
  const { models, unlisted } = await compareList(options);
  // A key may be allowed to call models and not to list them, but without a key nothing works.
  if (models === null && lacksKey(entry, isSet)) {
    const [failed] = await (await upstreams()).tryOut(entry, []);
    if (failed?.problem?.trouble === "bad_key") return { ...failed, ...common() };
  }
  return { ...common(), ok: true, result: resultText(models), problem: null, unlisted };
}

function lacksKey(entry: ProviderEntry, isSet: (variable: string) => boolean): boolean {
  const secrets = [
    ...keysOf(entry).map(({ secret }) => secret),
    ...Object.values(entry.options ?? {}),
  ];
  const isUnset = secrets.some((one) => "variable" in one && !isSet(one.variable));
  return isUnset || keysOf(entry).length === 0;
}

function resultText(models: number | null): string {
  if (models === null) return "no model list available";
  return models === 1 ? "1 model listed" : `${models} models listed`;
}
