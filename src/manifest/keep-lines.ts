/**
 * A YAML document is written anew in one style. What an edit did is the difference between the old
 * document written so and the new one: made to the operator's own lines, it leaves all others as
 * they are, to the last blank. Undefined where the old lines cannot be told apart.
 */
export function keepLines(options: {
  /** As the operator wrote it. */
  readonly text: string;
  /** The same, written anew. */
  readonly before: string;
  /** The edited document, written anew. */
  readonly after: string;
}): string | undefined {
  const before = linesOf(options.before);
  const after = linesOf(options.after);
  const own = aligned(linesOf(options.text.replaceAll("\r\n", "\n")), before);
  if (own === undefined) return undefined;
  const start = sharedStart(before, after);
  const end = sharedEnd(before, after, start);
  const middle = merge({
    own: own.slice(start, own.length - end),
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end),
  });
  if (middle === undefined) return undefined;
  const lines = [...own.slice(0, start), ...middle, ...own.slice(own.length - end)].filter(
    (line) => line !== undefined,
  );
  const text = `${lines.join("\n")}\n`;
  return options.text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

/** The operator's line for each that was written anew; undefined where it is part of the one before. */
type OwnLines = readonly (string | undefined)[];

function aligned(own: readonly string[], before: readonly string[]): OwnLines | undefined {
  const lines: (string | undefined)[] = [];
  let gap = "";
  for (const line of own) {
    const isBlank = line.trim() === "";
    // Before comments blank lines are left out, and one is put in before the words at the end.
    if (isBlank && before[lines.length] !== "") {
      gap = `${line}\n`;
      continue;
    }
    if (!isBlank && before[lines.length] === "") lines.push(undefined);
    const written = before[lines.length];
    const next = before[lines.length + 1]?.trim() ?? "";
    lines.push(gap + line);
    gap = "";
    // A comment behind the name of a map is written anew below it.
    const isSplit = written?.endsWith(":") === true && next.startsWith("#");
    if (isSplit && line.trimEnd().endsWith(next)) lines.push(undefined);
  }
  return lines.length === before.length ? lines : undefined;
}

/** Several blank lines are written anew as one: they count as one here. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  let isBlank = false;
  for (const line of text.replace(/\n+$/, "").split("\n")) {
    if (isBlank && line.trim() === "") lines.push(`${lines.pop() ?? ""}\n${line}`);
    else lines.push(line);
    isBlank = line.trim() === "";
  }
  return lines;
}

function sharedStart(one: readonly string[], other: readonly string[]): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}

function sharedEnd(one: readonly string[], other: readonly string[], start: number): number {
  const most = Math.min(one.length, other.length) - start;
  let at = 0;
  while (at < most && one[one.length - 1 - at] === other[other.length - 1 - at]) at++;
  return at;
}

const mostCells = 4_000_000;

interface Parts {
  readonly own: OwnLines;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The longest common run of lines keeps the operator's form; the rest is as the edit wrote it. */
function merge({ own, before, after }: Parts): OwnLines | undefined {
  const width = after.length + 1;
  if ((before.length + 1) * width > mostCells) return undefined;
  const lengths = new Uint16Array((before.length + 1) * width);
  const length = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        before[row] === after[column]
          ? length(row + 1, column + 1) + 1
          : Math.max(length(row + 1, column), length(row, column + 1));
  const merged: (string | undefined)[] = [];
  let row = 0;
  let column = 0;
  while (column < after.length || row < before.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      merged.push(own[row]);
      row++;
      column++;
    } else if (
      column < after.length &&
      (row === before.length || length(row, column + 1) >= length(row + 1, column))
    )
      merged.push(after[column++] ?? "");
    else row++;
  }
  return merged;
}
