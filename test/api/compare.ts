/**
 * What in a new OpenAPI document would break a client of the old one. A request may grow wider, a
 * reply may only keep its promises: so every body that the old document allowed must be allowed by
 * the new one, every reply that the new one allows must have been allowed by the old, and no field
 * is gone from either. What was deprecated may go, from its removal date on.
 */
import { operationChanges } from "./compare-operations.ts";
import { asFields, deref, mayGo, type Schema } from "./schema-tree.ts";

export interface Documents {
  readonly before: Schema;
  readonly after: Schema;
  /** YYYY-MM-DD */
  readonly today: string;
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

export function breakingChanges({ before, after, today }: Documents): readonly string[] {
  const paths = asFields(after["paths"]);
  return Object.entries(asFields(before["paths"])).flatMap(([path, oldPath]) =>
    methods.flatMap((method) => {
      const old = asFields(oldPath)[method];
      if (old === undefined) return [];
      const where = `${method.toUpperCase()} ${path}`;
      const now = asFields(paths[path])[method];
      if (now === undefined) return mayGo(old, today) ? [] : [`${where} is gone`];
      const pair = {
        old: within(before, oldPath, old),
        now: within(after, asFields(paths[path]), now),
      };
      // What has not changed breaks nothing, and most has not.
      return wholeText(pair.old, before) === wholeText(pair.now, after)
        ? []
        : operationChanges({ ...pair, where, before, after, today });
    }),
  );
}

/** An operation with all that it takes over from its path and from the document. */
function within(document: Schema, path: Schema, operation: Schema): Schema {
  const parameters = [path["parameters"], operation["parameters"]].flatMap((list) => list ?? []);
  return {
    ...operation,
    parameters,
    security: operation["security"] ?? document["security"],
    servers: operation["servers"] ?? path["servers"] ?? document["servers"],
  };
}

/** An operation with all that it refers to, which is all that a comparison looks at. */
function wholeText(operation: Schema, document: Schema): string {
  const { securitySchemes } = asFields(document["components"]);
  const texts = new Map([["", JSON.stringify([operation, securitySchemes])]]);
  // A map is walked to its end, also over what is added meanwhile.
  for (const text of texts.values())
    for (const [, $ref = ""] of text.matchAll(/"\$ref":"([^"]+)"/g))
      if (!texts.has($ref)) texts.set($ref, JSON.stringify(deref({ $ref }, document)));
  return JSON.stringify([...texts]);
}
