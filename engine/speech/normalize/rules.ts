/** A pattern and what is said for it; `undefined` leaves the text as it stands. */
export type Rule = readonly [pattern: RegExp, said: string | Say];
export type Say = (groups: Groups, match: RuleMatch) => string | undefined;
export type Groups = Readonly<Record<string, string | undefined>>;

export interface RuleMatch {
  readonly text: string;
  readonly before: string;
  readonly after: string;
}

/** As much of the text around a match as a rule sees: all of it would make the work quadratic. */
const aroundLength = 80;

/** Runs the rules in order, each over the whole text: a rule sees what those before it said. */
export function applyRules(text: string, rules: readonly Rule[]): string {
  let result = text;
  for (const [pattern, said] of rules)
    result =
      typeof said === "string" ? result.replace(pattern, said) : rewrite(result, pattern, said);
  return result;
}

function rewrite(source: string, pattern: RegExp, say: Say): string {
  return source.replace(pattern, (text: string, ...rest: unknown[]) => {
    const offset = Number(rest.find((part) => typeof part === "number"));
    const end = offset + text.length;
    const said = say((rest.at(-1) ?? {}) as Groups, {
      text,
      before: source.slice(Math.max(0, offset - aroundLength), offset),
      after: source.slice(end, end + aroundLength),
    });
    return said ?? text;
  });
}

/** From "Mr=Mister|Mrs=Missus". */
export function tableOf(entries: string): ReadonlyMap<string, string> {
  return new Map(
    entries.split(/\s*\|\s*/u).map((entry) => {
      const mark = entry.indexOf("=", 1);
      return [entry.slice(0, mark), entry.slice(mark + 1)] as const;
    }),
  );
}

/** The names as alternatives of a pattern, the longest first. */
export function anyOf(names: Iterable<string>): string {
  return [...names]
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[$/.+*?^\\]/gu, "\\$&"))
    .join("|");
}
