/** A pattern and the words to say for it; `undefined` leaves the text as it stands. */
export interface Rule {
  readonly pattern: RegExp;
  readonly say: (groups: Groups, match: RuleMatch) => string | undefined;
}

/** The named groups of a match; a group that took no part is the empty string. */
export type Groups = Readonly<Record<string, string>>;

export interface RuleMatch {
  readonly text: string;
  readonly before: string;
  readonly after: string;
}

export function rule(pattern: RegExp, say: Rule["say"]): Rule {
  return { pattern, say };
}

/** Runs the rules in order, each over the whole text: a rule sees what those before it said. */
export function applyRules(text: string, rules: readonly Rule[]): string {
  let result = text;
  for (const { pattern, say } of rules) {
    const source = result;
    result = source.replace(pattern, (...parts: unknown[]) => {
      const match = String(parts[0]);
      const named = parts.at(-1);
      const hasGroups = typeof named === "object" && named !== null;
      const offset = Number(parts.at(hasGroups ? -3 : -2));
      const groups = new Proxy(hasGroups ? (named as Record<string, string | undefined>) : {}, {
        get: (target, key) => (typeof key === "string" ? (target[key] ?? "") : ""),
      }) as Groups;
      const said = say(groups, {
        text: match,
        before: source.slice(0, offset),
        after: source.slice(offset + match.length),
      });
      return said ?? match;
    });
  }
  return result;
}
