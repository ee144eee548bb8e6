import { toOpenApi } from "../../src/wire/v1/openapi/openapi.ts";
import { breakingChanges } from "./compare.ts";

/** Each case changes the real document in one way; what would break a client must be found. */
export type Loose = { [name: string]: Loose };
const document = JSON.parse(JSON.stringify(toOpenApi())) as Loose;
/** The day on which the documents are compared. */
const today = "2027-06-01";

export const changed = (
  change: (document: Loose) => unknown,
  prepare: (document: Loose) => unknown = () => {},
) => {
  const before = structuredClone(document);
  prepare(before);
  const after = structuredClone(before);
  change(after);
  return breakingChanges({ before, after, today });
};

export const at = (document: Loose, ...steps: readonly string[]): Loose =>
  steps.reduce<Loose>((found, step) => {
    const next = found[step];
    if (next === undefined) throw new Error(`nothing at ${steps.join(" ")}`);
    return next;
  }, document);
export const schema = (document: Loose, name: string) =>
  at(document, "components", "schemas", name);
export const field = (document: Loose, name: string, property: string) =>
  at(schema(document, name), "properties", property);
export const set = (target: Loose, values: Record<string, unknown>) =>
  Object.assign(target, values);
export const remove = (target: Loose, name: string) => Reflect.deleteProperty(target, name);
export const push = (target: Loose, name: string, value: string) =>
  set(target, { [name]: [...((target[name] ?? []) as unknown as string[]), value] });

export type Step = (document: Loose) => unknown;
export const chat = (d: Loose) => schema(d, "ChatCompletionRequest");
export const modelId = (d: Loose) => field(d, "Model", "id");
export const post = (d: Loose) => at(d, "paths", "/embeddings", "post");
export const get = (d: Loose) => at(d, "paths", "/models", "get");
export const header = (d: Loose, name: string) => at(d, "components", "headers", name);
export const query = (more: Record<string, unknown>) => (d: Loose) =>
  set(get(d), {
    parameters: [{ name: "limit", in: "query", schema: { type: "integer" }, ...more }],
  });
