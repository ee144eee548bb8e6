import type { ErrorObject } from "ajv";

/** What is wrong with a field, worded to follow its name. */
export interface SchemaProblem {
  /** messages[0].role, as the SDKs know it. */
  readonly field: string;
  readonly problem: string;
}

/**
 * Of several errors the deepest tells most: it lies in the form that the caller meant. Between
 * equals the last one wins, which is the one that speaks of the whole field.
 */
export function schemaProblem(errors: readonly ErrorObject[]): SchemaProblem | undefined {
  let best: ErrorObject | undefined;
  let bestDepth = -1;
  for (const error of errors) {
    const depth = pathOf(error).length;
    if (depth < bestDepth) continue;
    best = error;
    bestDepth = depth;
  }
  if (best === undefined) return undefined;
  const expected = expectation(best);
  const isMissing =
    best.keyword === "required" ||
    (best.keyword === "discriminator" &&
      best.params["error"] === "tag" &&
      best.params["tagValue"] === undefined);
  return {
    field: toParam(pathOf(best)),
    problem: isMissing ? `is required and must be ${expected}` : `must be ${expected}`,
  };
}

/** The way to the field in question; what is missing is the field itself, not its parent. */
function pathOf(error: ErrorObject): readonly string[] {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (error.keyword === "required") return [...path, String(error.params["missingProperty"])];
  return error.keyword === "discriminator" ? [...path, String(error.params["tag"])] : path;
}

function expectation(error: ErrorObject): string {
  const schema = error.keyword === "required" ? propertySchema(error) : error.parentSchema;
  const words: unknown = schema?.[error.keyword === "discriminator" ? "x-tag" : "x-says"];
  if (typeof words === "string") return words;
  // Something or null: the words of neither form describe what is valid.
  if (error.keyword === "anyOf") return "valid as described in the API reference";
  const expected = (error.message ?? "valid").replace(/^must be /, "");
  return typeWords[expected] ?? expected;
}

/** Of the validator's names of types. */
const typeWords: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  string: "a string",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function propertySchema(error: ErrorObject): Record<string, unknown> | undefined {
  return error.parentSchema?.["properties"]?.[String(error.params["missingProperty"])];
}

function toParam(path: readonly string[]): string {
  return path.reduce(
    (text, step) =>
      /^\d+$/.test(step) ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}
