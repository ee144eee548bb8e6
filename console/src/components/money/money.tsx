import { formatUsd, formatUsdExact } from "../../format/money.ts";

/** USD as decimal text: cut for the eye unless it has to add up, exact on hover and for machines. */
export function Money(props: { readonly usd: string; readonly isExact?: boolean }) {
  const { usd, isExact = false } = props;
  return (
    <data value={usd} title={`${formatUsdExact(usd)} USD`}>
      {isExact ? formatUsdExact(usd) : formatUsd(usd)}
    </data>
  );
}
