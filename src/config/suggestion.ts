/** The known name that was probably meant, for the end of a sentence. */
export function suggestion(name: string, known: readonly string[]): string {
  if (known.includes(name)) return ".";
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= Math.min(3, name.length / 3))
    .sort((left, right) => left.distance - right.distance)[0];
  return near === undefined
    ? "; svc config lists those there are."
    : `: did you mean ${near.candidate}?`;
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let column = 1; column <= right.length; column++) {
      const same = left[line - 1] === right[column - 1] ? 0 : 1;
      next.push(
        Math.min(
          (next[column - 1] ?? 0) + 1,
          (row[column] ?? 0) + 1,
          (row[column - 1] ?? 0) + same,
        ),
      );
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
