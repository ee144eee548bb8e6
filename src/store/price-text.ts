import { type Price, priceKeys } from "../call/price.ts";

/** Prices as JSON of decimal text: every digit survives. */
export function toPrice(text: string): Price {
  const entries: Record<string, string> = JSON.parse(text);
  return Object.fromEntries(
    Object.entries(entries).map(([key, units]) => {
      const known = priceKeys.find((word) => word === key);
      if (known === undefined) throw new Error(`the database holds an unknown price: ${key}`);
      return [known, BigInt(units)];
    }),
  );
}

export function fromPrice(price: Price): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(price).map(([key, units]) => [key, units.toString()])),
  );
}
