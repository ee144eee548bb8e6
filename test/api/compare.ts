/**
 * What in a new OpenAPI document would break a client of the old one. A request may grow wider, a
 * reply may only keep its promises: so every body that the old document allowed must be allowed by
 * the new one, every reply that the new one allows must have been allowed by the old, and no field
 * is gone from either. What was deprecated may go, from its removal date on.
 */
import { operationChanges } from "./compare-operations.ts";
import { asFields, mayGo, type Schema } from "./schema-tree.ts";

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
      if (now !== undefined)
        return operationChanges({
          old: within(before, oldPath, old),
          now: within(after, asFields(paths[path]), now),
          where,
          before,
          after,
          today,
        });
      return mayGo(old, today) ? [] : [`${where} is gone`];
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
