import { countUpTo, isTooHeavy, parseBounded } from "./bounds.ts";

/**
 * Integers beyond 2^53, such as Snowflake ids, which a number would round. They are parsed as raw
 * JSON (`JSON.rawJSON`): objects that are written back with the same digits.
 */
interface ExactJson {
  parse(text: string, revive: (name: string, value: unknown, at: Context) => unknown): unknown;
  rawJSON(text: string): object;
}

interface Context {
  readonly source?: string;
}

/** The types of the compiler do not have these yet. */
const json = JSON as unknown as ExactJson;

const longInteger = /[:[,]\s*-?\d{16}/;
/** A value takes about a microsecond with a reviver: this many hold up the loop for 30 ms. */
const maxValues = 32_000;

/** Whether `parseExact` reads a text differently. Such text within strings counts as well. */
export function hasLongIntegers(text: string): boolean {
  if (!longInteger.test(text)) return false;
  let values = 0;
  for (const character of [",", "[", "{"]) values += countUpTo(text, character, maxValues);
  return values <= maxValues && !isTooHeavy(text);
}

/** The same as `parseBounded`, but keeps long integers as raw JSON, unless there are too many values. */
export function parseExact(text: string): unknown {
  if (!hasLongIntegers(text)) return parseBounded(text);
  try {
    return json.parse(text, (_name, value, { source = "" }) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
        ? json.rawJSON(source)
        : value,
    );
  } catch (error) {
    // Nested too deeply for a reviver.
    if (error instanceof RangeError) return parseBounded(text);
    throw error;
  }
}
