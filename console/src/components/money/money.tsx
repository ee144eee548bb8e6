import { formatBalance, formatUsd, formatUsdExact } from "../../format/money.ts";

const formats = { few: formatUsd, balance: formatBalance, all: formatUsdExact };

interface MoneyProps {
  /** Decimal text. */
  readonly usd: string;
  readonly digits?: keyof typeof formats;
}

/** An amount, truncated unless all digits are asked for, with the exact amount on hover. */
export function Money({ usd, digits = "few" }: MoneyProps) {
  return (
    <data value={usd} title={`${formatUsdExact(usd)} USD`}>
      {formats[digits](usd)}
    </data>
  );
}
