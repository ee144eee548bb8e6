import { VisuallyHidden } from "@mantine/core";
import { useEffect, useRef } from "react";
import { rankedPairs, similarities } from "../../../../../src/base/similarity.ts";
import { formatCount } from "../../../format/figures.ts";
import shared from "../playground.module.css";
import { Receipt } from "../receipt/receipt.tsx";
import classes from "./embeddings.module.css";
import { HeatMap, type Thing } from "./heat-map.tsx";
import { toFigure } from "./similarity.ts";

/** Things that were compared, and the calls that it took. */
export interface Compared {
  readonly things: readonly Thing[];
  readonly vectors: readonly (readonly number[])[];
  readonly requestIds: readonly string[];
}

const shownPairs = 3;

export function Comparison({ compared }: { readonly compared: Compared }) {
  const { things, vectors, requestIds } = compared;
  const section = useRef<HTMLElement>(null);
  // Newer browsers return a promise, which is not a cleanup function.
  useEffect(() => void section.current?.scrollIntoView({ block: "nearest" }), [compared]);
  const matrix = similarities(vectors);
  const pairs = rankedPairs(matrix);
  const [nearest] = pairs;
  const furthest = pairs.at(-1);
  const nameOf = (at: number) => things[at]?.name ?? "";
  return (
    <section ref={section} className={shared.result} aria-label="Similarity">
      <div className={classes.comparison}>
        <h2 className={classes.heading}>Similarity</h2>
        <HeatMap things={things} matrix={matrix} />
        <h3 className={classes.subheading}>Most similar</h3>
        <ol className={classes.pairs}>
          {pairs.slice(0, shownPairs).map(({ one, other, similarity }) => (
            <li key={`${one}-${other}`}>
              <span>
                <q>{nameOf(one)}</q> and <q>{nameOf(other)}</q>
              </span>
              <strong>{toFigure(similarity, 3)}</strong>
            </li>
          ))}
        </ol>
        {furthest !== undefined && pairs.length > shownPairs && (
          <p className={classes.note}>
            Least similar: <q>{nameOf(furthest.one)}</q> and <q>{nameOf(furthest.other)}</q>, at{" "}
            {toFigure(furthest.similarity, 3)}.
          </p>
        )}
        <p className={classes.note}>
          Cosine similarity of {formatCount(vectors.length)} vectors with{" "}
          {formatCount(vectors[0]?.length ?? 0)} dimensions, computed in your browser. 1 means the
          same direction, 0 means unrelated.
        </p>
        <VisuallyHidden role="status">
          {nearest === undefined
            ? ""
            : `Compared. Most similar: ${nameOf(nearest.one)} and ${nameOf(nearest.other)}, at ${toFigure(nearest.similarity, 3)}.`}
        </VisuallyHidden>
      </div>
      <div className={classes.receipts}>
        {requestIds.map((id) => (
          <Receipt key={id} requestId={id} />
        ))}
      </div>
    </section>
  );
}
