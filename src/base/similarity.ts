/** Of two vectors of one length: 1 is the same direction, 0 nothing in common. */
export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const lengths = lengthOf(one) * lengthOf(other);
  return lengths === 0 ? 0 : dot(one, other) / lengths;
}

export function lengthOf(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** Each against each; symmetric, with ones across. */
export function similarities(
  vectors: readonly ArrayLike<number>[],
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
