import { type Price, priceKeys } from "../../../call/price.ts";

/** Prices as JSON of decimal text: every digit survives. */
export function toPrice(text: string): Price {
  return readPrice(JSON.parse(text));
}

function readPrice(entries: Readonly<Record<string, string>>): Price {
  return Object.fromEntries(
    Object.entries(entries).map(([key, units]) => {
      const known = priceKeys.find((word) => word === key);
      if (known === undefined) throw new Error(`the database contains an unknown price: ${key}`);
      return [known, BigInt(units)];
    }),
  );
}

export function fromPrice(price: Price): string {
  return JSON.stringify(toTexts(price));
}

const toTexts = (price: Price) =>
  Object.fromEntries(Object.entries(price).map(([key, units]) => [key, units.toString()]));

interface RouteCost {
  readonly provider: string;
  readonly model: string;
  readonly cost?: Price | undefined;
}

/** What each route of a model costs, in their order, as JSON. */
export function fromCosts(routes: readonly RouteCost[]): string {
  return JSON.stringify(
    routes.map(({ provider, model, cost }) => ({
      provider,
      model,
      ...(cost === undefined ? {} : { cost: toTexts(cost) }),
    })),
  );
}

export function readCosts(text: string) {
  const routes: readonly (Pick<RouteCost, "provider"> & { cost?: Record<string, string> })[] =
    JSON.parse(text);
  return routes.map(({ provider, cost }) => ({
    provider,
    cost: cost === undefined ? undefined : readPrice(cost),
  }));
}
