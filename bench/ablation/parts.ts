/**
 * The parts of the gateway, in the order in which they are taken out: each gateway of the chain
 * lacks one more than the one before it. A part may rely on those before it being gone.
 */
export const parts = [
  { name: "metrics", about: "metrics: counters per model, provider and outcome" },
  { name: "sums", about: "sums: rollups, minutes, last uses of keys, reasoning, in memory" },
  { name: "sync", about: "sync: fdatasync of the log, and the note of what it covered" },
  { name: "receipt", about: "receipt: line, transaction and insert" },
  { name: "hold", about: "hold: budgets, hold, cost, settling, and the receipt's fields" },
  { name: "limits", about: "limits: account, rates, body bytes, x-ratelimit headers" },
  { name: "headers", about: "headers: request id, lifecycle, CORS" },
  { name: "abort", about: "abort: call in flight, time limits, caller who left, signal" },
  { name: "router", about: "router: model, plan, breaker, attempt" },
  { name: "validation", about: "validation: type, fields, schema, nesting, text, worst case" },
  { name: "key", about: "key: bearer, hash, look-up" },
] as const;

export type PartName = (typeof parts)[number]["name"];

const names: readonly PartName[] = parts.map(({ name }) => name);

export function toPartName(text: string): PartName {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`Unknown part "${text}". Parts: ${names.join(", ")}.`);
  return found;
}

/** The first parts of the order, as many as are given. */
export const firstParts = (count: number): readonly PartName[] => names.slice(0, count);

/**
 * How many parts the gateways of a chain lack. To see the cost of a part, it takes the one just
 * before and the one just after it; the first lacks nothing and the last all.
 */
export function chainOf(chosen: readonly PartName[]): readonly number[] {
  const counts = new Set([0, names.length]);
  for (const name of chosen) {
    const at = names.indexOf(name);
    counts.add(at).add(at + 1);
  }
  return [...counts].toSorted((one, other) => one - other);
}

/** What the parts between two gateways of a chain are called. */
export function labelOf(from: number, to: number): string {
  const between = parts.slice(from, to);
  const [only] = between;
  return only !== undefined && between.length === 1
    ? only.about
    : between.map(({ name }) => name).join(", ");
}
