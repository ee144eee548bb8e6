import { lengthOf, rankedPairs, similarities } from "../../base/similarity.ts";
import { print, printTable, style } from "../terminal/output.ts";

export interface Embedded {
  readonly label: string;
  readonly vector: readonly number[];
}

const shownNumbers = 8;

export function printVector({ vector }: Embedded): void {
  const first = vector.slice(0, shownNumbers).map((number) => number.toFixed(5));
  const more = vector.length > shownNumbers ? ", …" : "";
  print(`${style.dim("dimensions")}  ${vector.length}`);
  print(`${style.dim("length")}      ${lengthOf(vector).toFixed(4)}`);
  print(`${style.dim("values")}      ${first.join(", ")}${more}`);
}

/** Enough for ten texts; of more, only the most similar pairs. */
const shownPairs = 45;

/** The cosine similarity of every pair: 1 for the same direction, 0 for unrelated. */
export function printSimilarities(embedded: readonly Embedded[]): void {
  const pairs = rankedPairs(similarities(embedded.map(({ vector }) => vector)));
  const labelOf = (at: number) => short(embedded[at]?.label ?? "");
  const isTerminal = process.stdout.isTTY === true;
  printTable(
    ["similarity", ...(isTerminal ? [""] : []), "between", "and"],
    pairs
      .slice(0, shownPairs)
      .map(({ one, other, similarity }) => [
        similarity.toFixed(4),
        ...(isTerminal ? [bar(similarity)] : []),
        labelOf(one),
        labelOf(other),
      ]),
  );
  if (pairs.length > shownPairs)
    print(style.dim(`${pairs.length - shownPairs} less similar pairs are not shown`));
}

const barWidth = 20;

function bar(similarity: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, similarity)) * barWidth);
  const color = similarity >= 0.6 ? style.green : similarity >= 0.3 ? style.yellow : style.red;
  return `${color("█".repeat(filled))}${style.dim("░".repeat(barWidth - filled))}`;
}

function short(label: string): string {
  const line = label.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
