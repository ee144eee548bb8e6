import type { CatalogContent } from "../../src/catalog/catalog.ts";
import { readManifest } from "../../src/manifest/manifest.ts";
import { type Plan, planApply } from "../../src/manifest/plan.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";

export const secrets = createSecrets("a master secret of more than 32 characters");
export const nothing: CatalogContent = { providers: [], models: [] };

export const optionsOf = (
  text: string,
  current = nothing,
  variables: readonly string[] = ["KEY"],
) => ({
  manifest: readManifest(text, {
    checkAddress: () => undefined,
    known: current.providers.map(({ name }) => name),
  }),
  current,
  secrets,
  hasVariable: (name: string) => variables.includes(name),
  nowMs: 1_000,
});

/** As the file svc.yaml. */
export const plan = (
  text: string,
  current = nothing,
  variables: readonly string[] = ["KEY"],
): Plan => planApply({ ...optionsOf(text, current, variables), file: "svc.yaml" });

/** As a command, which has no file. */
export const planStore = (text: string, current = nothing): Plan =>
  planApply(optionsOf(text, current));

/** What the store holds after the write. */
export function after({ write }: Plan, current = nothing): CatalogContent {
  const { saveProviders = [], removeProviders = [], saveModels = [], addPrices = [] } = write;
  const keptModels = current.models.filter(({ id }) => !saveModels.some((one) => one.id === id));
  const keptProviders = current.providers.filter(
    ({ name }) =>
      !removeProviders.includes(name) && !saveProviders.some((one) => one.name === name),
  );
  return {
    providers: [...keptProviders, ...saveProviders],
    models: [...keptModels, ...saveModels].map((model) => {
      const added = addPrices
        .filter(({ modelId }) => modelId === model.id)
        .map(({ modelId: _modelId, ...rest }, at) => ({
          ...rest,
          version: model.prices.length + at + 1,
        }));
      return { ...model, prices: [...model.prices, ...added] };
    }),
  };
}
