/** The known name that was probably meant. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const maxEdits = Math.max(1, Math.min(3, Math.floor(name.length / 3)));
  const [best] = known
    .map((candidate) => ({ candidate, edits: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((left, right) => left.edits - right.edits);
  return best?.candidate;
}

/** A sentence to follow "Unknown …", or nothing: ` Did you mean "x"?`. */
export function didYouMean(name: string, known: readonly string[]): string {
  const found = closest(name, known);
  return found === undefined ? "" : ` Did you mean "${found}"?`;
}

/** Letters inserted, removed, replaced or swapped with their neighbor. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 3) return Number.POSITIVE_INFINITY;
  let older: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let at = 1; at <= right.length; at++) {
      const isSame = left[line - 1] === right[at - 1];
      const isSwap = left[line - 1] === right[at - 2] && left[line - 2] === right[at - 1];
      next.push(
        Math.min(
          (row[at] ?? 0) + 1,
          (next[at - 1] ?? 0) + 1,
          (row[at - 1] ?? 0) + (isSame ? 0 : 1),
          isSwap ? (older[at - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    older = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
