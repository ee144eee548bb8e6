import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry } from "../../catalog/model.ts";
import { hasCompleteList, namesMissing } from "../../catalog/model-lists.ts";
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

export async function listingTrial(options: Parameters<typeof compareList>[0]): Promise<TrialView> {
  const startMs = performance.now();
  const { models, unlisted } = await compareList(options);
  return {
    kind: "models",
    model: null,
    ok: true,
    duration_ms: Math.round(performance.now() - startMs),
    result: resultText(models),
    problem: null,
    unlisted,
  };
}

function resultText(models: number | null): string {
  if (models === null) return "no model list available";
  return models === 1 ? "1 model listed" : `${models} models listed`;
}
