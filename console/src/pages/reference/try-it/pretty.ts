/** Of a list of numbers, so many are shown: a vector has thousands. */
const mostNumbers = 8;

/** JSON to read: long lists of numbers stay on one line, with how many were left out. */
export function pretty(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return lines(value, "");
}

function lines(value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number"))
    return numbers(value);
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((one) => lines(one, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${lines(one, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

function numbers(values: readonly number[]): string {
  const left = values.length - mostNumbers;
  const shown = values.slice(0, mostNumbers).join(", ");
  return left > 0 ? `[${shown}, … ${left} more]` : `[${shown}]`;
}
