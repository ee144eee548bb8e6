import { formatUsd, formatUsdExact } from "../../format/money.ts";
import { priceLabel, priceUnit } from "../../format/prices.ts";
import classes from "./price-tags.module.css";

interface PriceTagsProps {
  /** By class, in USD; null: none. */
  readonly price: Readonly<Record<string, string>> | null;
  /** Shown when there is no price. */
  readonly none?: string;
}

/** A price by its classes, with the unit said once where they share it. */
export function PriceTags({ price, none = "No price" }: PriceTagsProps) {
  const entries = Object.entries(price ?? {});
  if (entries.length === 0) return <span className="soft">{none}</span>;
  const units = [...new Set(entries.map(([name]) => priceUnit(name)))];
  const isShared = units.length === 1;
  return (
    <span className={classes.tags}>
      {entries.map(([name, usd]) => (
        <span key={name} className={classes.tag}>
          <span className={classes.label}>{priceLabel(name)}</span>{" "}
          <data value={usd} title={`${formatUsdExact(usd)} USD ${priceUnit(name)}`}>
            {formatUsd(usd)}
          </data>
          {!isShared && <span className={classes.label}> {priceUnit(name)}</span>}
        </span>
      ))}
      {isShared && <span className={classes.label}>{units[0]}</span>}
    </span>
  );
}
