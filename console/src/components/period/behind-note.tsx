import type { Freshness } from "../../../../src/base/freshness.ts";
import { behindWords } from "./behind.ts";

/** A gateway that is busy or gone, or whose disk is full, has calls that are in no sum yet. */
export function BehindNote({ sums }: { readonly sums: Freshness | undefined }) {
  const words = sums && behindWords(sums, Date.now());
  return words === undefined ? null : (
    <p className="soft small below" role="status">
      {words}
    </p>
  );
}
