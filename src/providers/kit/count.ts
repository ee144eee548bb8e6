/** More than any call can use: such a count is no count. */
const mostTokens = 100_000_000;

/** A count that can be relied on; anything else is unknown, never 0. */
export function toCount(value: unknown): number | undefined {
  return typeof value === "number" &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    value <= mostTokens
    ? value
    : undefined;
}
