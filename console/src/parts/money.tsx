import { formatUsd, formatUsdExact } from "../format/money.ts";

/** USD as decimal text: rounded for the eye, exact on hover and for machines. */
export function Money({ usd }: { readonly usd: string }) {
  return (
    <data value={usd} title={`${formatUsdExact(usd)} USD`}>
      {formatUsd(usd)}
    </data>
  );
}
