/** Of two vectors of one length: 1 is the same direction, 0 nothing in common. */
export function cosine(one: readonly number[], other: readonly number[]): number {
  let dot = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  one.forEach((value, at) => {
    const against = other[at] ?? 0;
    dot += value * against;
    oneSquared += value * value;
    otherSquared += against * against;
  });
  const length = Math.sqrt(oneSquared) * Math.sqrt(otherSquared);
  return length === 0 ? 0 : dot / length;
}

/** Each against each; symmetric, with ones across. */
export function similarities(
  vectors: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  return vectors.map((one, row) =>
    vectors.map((other, column) => (row === column ? 1 : cosine(one, other))),
  );
}

export interface Pair {
  readonly one: number;
  readonly other: number;
  readonly similarity: number;
}

/** All pairs, the nearest first. */
export function rankedPairs(matrix: readonly (readonly number[])[]): readonly Pair[] {
  return matrix
    .flatMap((row, one) =>
      row.flatMap((similarity, other) => (other > one ? [{ one, other, similarity }] : [])),
    )
    .toSorted((before, after) => after.similarity - before.similarity);
}

/**
 * How strong the colour of a value is, 0 to 1. Models differ in how near all things are to each
 * other, so the colours reach from the lowest value there is to the highest of two things.
 */
export function colourScale(matrix: readonly (readonly number[])[]): (value: number) => number {
  const values = rankedPairs(matrix).map(({ similarity }) => similarity);
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  return (value) => (span <= 0 ? 0.5 : Math.min(1, Math.max(0, (value - low) / span)));
}

/** With a real minus, as wide as a plus. */
export const toFigure = (value: number, digits: number) => value.toFixed(digits).replace("-", "−");
