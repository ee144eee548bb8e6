import { type ChatJob, EngineError } from "../contract.ts";
import { type Body, isRecord } from "./body.ts";

/** Choices multiply: two at each of forty levels keep a grammar busy forever. */
const mostNodes = 2_000;

/** `response_format`: undefined for plain text. */
export function toJsonFormat(value: unknown): ChatJob["json"] {
  if (!isRecord(value)) return undefined;
  if (value["type"] === "json_object") return "any";
  const described = value["json_schema"];
  if (value["type"] !== "json_schema" || !isRecord(described)) return undefined;
  const { schema } = described;
  if (!isRecord(schema)) return "any";
  if (unfolded(schema, schema) > mostNodes)
    throw new EngineError({
      message: `response_format has a schema that expands to more than ${mostNodes} nodes. Simplify it.`,
      param: "response_format",
    });
  return withOneOf(schema) as Body;
}

/** How many parts a schema has once its references are followed; those that lead back count once. */
function unfolded(
  value: unknown,
  root: Body,
  path: readonly unknown[] = [],
  known = new Map<unknown, number>(),
): number {
  if (typeof value !== "object" || value === null) return 1;
  if (path.includes(value)) return 1;
  const before = known.get(value);
  if (before !== undefined) return before;
  const deeper = [...path, value];
  let sum = 1;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "$defs" && value === root) continue;
    const target = name === "$ref" ? definitionOf(inner, root) : inner;
    sum += unfolded(target, root, deeper, known);
  }
  known.set(value, sum);
  return sum;
}

function definitionOf(reference: unknown, root: Body): unknown {
  const name = typeof reference === "string" ? /^#\/\$defs\/(.+)$/.exec(reference)?.[1] : undefined;
  const definitions = root["$defs"];
  return name === undefined || !isRecord(definitions) ? undefined : definitions[name];
}

/** The grammar knows `oneOf`; what most tools write for an optional value is `anyOf`. */
function withOneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOneOf);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name === "anyOf" && Array.isArray(inner) ? "oneOf" : name,
      withOneOf(inner),
    ]),
  );
}
