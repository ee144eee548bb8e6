/** What an expression of Prometheus reads: enough of the language for our own dashboards and alerts. */
export interface PromQlReads {
  /** Names as they are written, with the labels of their selectors. */
  readonly series: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels by which it groups or joins. */
  readonly grouped: readonly string[];
  /** Variables of a dashboard. */
  readonly variables: readonly string[];
}

const words = (list: string) =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

export function readPromQl(expression: string): PromQlReads {
  const variables = Array.from(expression.matchAll(/\$(\w+)/g), ([, name = ""]) => name);
  const plain = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const series = Array.from(
    plain.matchAll(/\b(svc_\w+|up)\b\s*(?:\{([^}]*)\})?/g),
    ([, name = "", selector = ""]) => ({
      name,
      labels: words(selector).map((matcher) => /^(\w+)\s*(?:=~|!~|!=|=)\s*""$/.exec(matcher)?.[1]),
    }),
  );
  const grouped = Array.from(
    plain.matchAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g),
    ([, list = ""]) => words(list),
  ).flat();
  return {
    grouped,
    variables,
    series: series.map(({ name, labels }) => {
      const known = labels.filter((label) => label !== undefined);
      if (known.length < labels.length) throw new Error(`a matcher that is not one: ${expression}`);
      return { name, labels: known };
    }),
  };
}
