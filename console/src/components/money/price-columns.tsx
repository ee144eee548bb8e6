import { Money } from "./money.tsx";
import { PriceTags } from "./price-tags.tsx";

type Price = Readonly<Record<string, string>> | null;

/** One class of a price, for a column of its own. */
export function PriceFigure({ price, of }: { readonly price: Price; readonly of: string }) {
  const usd = price?.[of];
  return usd === undefined ? <span className="soft">—</span> : <Money usd={usd} />;
}

interface OtherPricesProps {
  readonly price: Price;
  /** Classes with columns of their own. */
  readonly shown: readonly string[];
}

/** The classes of a price that have no column of their own. */
export function OtherPrices({ price, shown }: OtherPricesProps) {
  const others = Object.entries(price ?? {}).filter(([name]) => !shown.includes(name));
  return <PriceTags price={Object.fromEntries(others)} none="—" />;
}
