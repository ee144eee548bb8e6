import {
  formatBalance,
  formatBalanceTo,
  formatUsd,
  formatUsdExact,
  formatUsdTo,
} from "../../format/money.ts";

const formats = { few: formatUsd, balance: formatBalance, all: formatUsdExact };

interface MoneyProps {
  /** Decimal text. */
  readonly usd: string;
  readonly digits?: keyof typeof formats;
  /** The decimals of its column; see `usdPlaces`. */
  readonly places?: number | undefined;
}

/** An amount, rounded unless all digits are asked for, with the exact amount on hover. */
export function Money({ usd, digits = "few", places }: MoneyProps) {
  return (
    <data value={usd} title={`${formatUsdExact(usd)} USD`}>
      {textOf({ usd, digits, places })}
    </data>
  );
}

function textOf({ usd, digits = "few", places }: MoneyProps): string {
  if (places === undefined) return formats[digits](usd);
  return digits === "balance" ? formatBalanceTo(usd, places) : formatUsdTo(usd, places);
}
