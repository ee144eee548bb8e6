/** Lines around a change. */
const context = 2;
/** Files with more changed lines than this are shown as replaced: comparing takes the square of it. */
const maxCompared = 1_000;

export interface DiffLine {
  readonly kind: "same" | "removed" | "added" | "gap";
  readonly text: string;
}

/** What changes between two texts, with some lines around it. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const middle = compared(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return withGaps([
    ...old.slice(0, head).map(same),
    ...middle,
    ...old.slice(old.length - tail).map(same),
  ]);
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** By the longest common sequence of lines. */
function compared(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (Math.max(old.length, now.length) > maxCompared)
    return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        old[row] === now[column]
          ? (lengths[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(
              lengths[(row + 1) * width + column] ?? 0,
              lengths[row * width + column + 1] ?? 0,
            );
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [left = "", right = ""] = [old[row], now[column]];
    const isBoth = row < old.length && column < now.length;
    const below = lengths[(row + 1) * width + column] ?? 0;
    const beside = lengths[row * width + column + 1] ?? 0;
    if (isBoth && left === right) {
      lines.push({ kind: "same", text: left });
      row++;
      column++;
    } else if (row < old.length && (column === now.length || below >= beside)) {
      lines.push(removed(left));
      row++;
    } else {
      lines.push(added(right));
      column++;
    }
  }
  return lines;
}

function withGaps(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isShown = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== "same"),
  );
  return lines.flatMap((line, at) => {
    if (isShown[at] === true) return [line];
    return isShown[at - 1] === true || at === 0 ? [{ kind: "gap", text: "" } as const] : [];
  });
}
