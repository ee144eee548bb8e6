import { behindWords, type Freshness } from "./behind.ts";

/** A gateway that is busy or gone, or whose disk is full, has calls that are in no sum yet. */
export function BehindNote({ sums }: { readonly sums: Freshness }) {
  const words = behindWords(sums, Date.now());
  return words === undefined ? null : (
    <p className="soft small below" role="status">
      {words}
    </p>
  );
}
