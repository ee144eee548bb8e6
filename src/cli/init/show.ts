import { Problem } from "../../base/problem.ts";
import type { Proposal } from "../../platform/providers/proposal.ts";
import { printJson, print as printOut, style } from "../terminal/output.ts";
import type { Found } from "./discover.ts";

export type Print = (line?: string) => void;

/** A numbered line each, with a tick for what is connected unless told otherwise. */
export function showFound(found: readonly Found[], print: Print): void {
  const width = Math.max(0, ...found.map(({ name }) => name.length));
  const titles = Math.max(0, ...found.map(({ title }) => title.length));
  for (const [at, { name, title, by, isShared, problem, notes }] of found.entries()) {
    const mark = isShared || problem !== undefined ? style.dim("·") : style.green("✓");
    const number = String(at + 1).padStart(String(found.length).length);
    print(`  ${number}  ${mark} ${name.padEnd(width)}  ${title.padEnd(titles)}  ${style.dim(by)}`);
    const hint = isShared ? ["other tools use this variable too"] : [];
    for (const note of [...hint, ...(problem === undefined ? [] : [problem]), ...notes])
      print(`  ${" ".repeat(number.length)}    ${style.yellow("!")} ${note}`);
  }
}

/** Without a terminal nobody can be asked: what was found is told, and how to go on. */
export function tellFound(options: {
  readonly found: readonly Found[];
  readonly isJson: boolean;
  readonly preset: string | undefined;
}): void {
  const { found, isJson, preset } = options;
  if (isJson) return printJson({ written: false, found: found.map(toFoundView) });
  if (found.length > 0) {
    printOut("Found");
    showFound(found, printOut);
  }
  if (preset === undefined && found.length === 0) throw withNothing();
  const yes =
    preset === undefined ? "connects what is ticked" : `writes the preset ${preset} unasked`;
  throw new Problem({
    code: "invalid",
    message: `There is no terminal to ask on, so nothing was written.
svc init --yes ${yes}; --provider, --models, --all-models and --markup choose; --dry-run prints the file.`,
  });
}

export const withNothing = () =>
  new Problem({
    code: "not_found",
    message: `${nothingFound}\nSet a key such as GEMINI_API_KEY, start Ollama, or try: svc init --preset google`,
  });

const nothingFound =
  "Nothing was found: no key of a known vendor is set, and no server answers on this machine.";

const toFoundView = ({ name, vendor, title, by, isLocal, isShared, problem, notes }: Found) => ({
  name,
  vendor: vendor === "" ? null : vendor,
  title,
  found_by: by,
  is_local: isLocal,
  by_default: !isShared && problem === undefined,
  problem: problem ?? null,
  notes,
});

/** What could be served, numbered; a few unless all are asked for. */
export function showProposals(
  proposals: readonly Proposal[],
  options: { readonly most: number; readonly print: Print },
): void {
  const { most, print } = options;
  const shown = proposals.slice(0, most);
  const width = Math.max(0, ...shown.map(({ id }) => id.length));
  for (const [at, { id, endpoint, price }] of shown.entries()) {
    const number = String(at + 1).padStart(String(shown.length).length);
    const cost = price === null ? style.yellow("no public price") : style.dim(priceText(price));
    print(`  ${number}  ${id.padEnd(width)}  ${endpoint.padEnd("embeddings".length)}  ${cost}`);
  }
  const more = proposals.length - shown.length;
  if (more > 0) print(style.dim(`  … and ${more} more: list shows all`));
}

export const notListed = (provider: string) => `The models of ${provider} could not be listed`;

export const priceText = (price: Readonly<Record<string, string>>) =>
  Object.values(price).every((usd) => Number(usd) === 0)
    ? "free"
    : Object.entries(price)
        .map(([key, usd]) => `${key} ${usd}`)
        .join(", ");

const maxShownLines = 200;

/** The new file; where there was one, only what is different, with a line around it. */
export function showChange(before: string, after: string, print: Print): void {
  const lines = before.trim() === "" ? whole(after) : difference(linesOf(before), linesOf(after));
  for (const line of lines.slice(0, maxShownLines)) print(`  ${line}`);
  if (lines.length > maxShownLines)
    print(style.dim(`  … and ${lines.length - maxShownLines} more lines`));
}

const linesOf = (text: string) => text.replace(/\n$/, "").split("\n");

const whole = (text: string) =>
  linesOf(text).map((line) =>
    line.trimStart().startsWith("#") ? style.dim(line) : style.green(line),
  );

/** Above this the table of common lines would take too much memory. */
const maxTableCells = 4_000_000;

/** By the longest row of lines that both have. */
function difference(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length * after.length > maxTableCells) {
    const known = new Set(before);
    return after.filter((line) => !known.has(line)).map((line) => style.green(`+ ${line}`));
  }
  const lengths = commonLengths(before, after);
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  const lines: { readonly text: string; readonly isChange: boolean }[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const [old = "", next = ""] = [before[row], after[column]];
    const isBoth = row < before.length && column < after.length;
    if (isBoth && old === next) {
      lines.push({ text: style.dim(`  ${old}`), isChange: false });
      row++;
      column++;
    } else if (row < before.length && (!isBoth || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ text: style.red(`- ${old}`), isChange: true });
      row++;
    } else {
      lines.push({ text: style.green(`+ ${next}`), isChange: true });
      column++;
    }
  }
  const isNear = (place: number) =>
    [place - 1, place, place + 1].some((one) => lines[one]?.isChange === true);
  return lines.filter((_, place) => isNear(place)).map(({ text }) => text);
}

/** How many lines the rest of one, from each line on, has in common with the rest of the other. */
function commonLengths(
  before: readonly string[],
  after: readonly string[],
): readonly Uint32Array[] {
  const lengths = Array.from(
    { length: before.length + 1 },
    () => new Uint32Array(after.length + 1),
  );
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--) {
      const [here, below] = [lengths[row], lengths[row + 1]];
      if (here === undefined || below === undefined) continue;
      here[column] =
        before[row] === after[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, here[column + 1] ?? 0);
    }
  return lengths;
}
