import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";

/**
 * Our schemas are JSON Schema; OpenAPI 3.0 has a dialect of its own: no `const`, no null type, an
 * enum with its type beside it, and kinds that are told apart must be components. Schemas that
 * have an `x-name` become components, collected on the way.
 */
export class OpenApiSchemas {
  readonly #components = new Map<string, JsonObject>();

  /** All components that were met, by name. */
  get components(): JsonObject {
    return Object.fromEntries([...this.#components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  convert(schema: unknown): JsonObject {
    const given = schema as JsonObject;
    const kinds = given["oneOf"];
    // Some generators stumble over a choice of one.
    if (Array.isArray(kinds) && kinds.length === 1) return this.convert(kinds[0]);
    const name = given["x-name"];
    if (typeof name !== "string") return this.#inline(given);
    if (!this.#components.has(name)) this.#components.set(name, this.#inline(given));
    return { $ref: refTo(name) };
  }

  /**
   * A request's fields may be null where they may be absent: both mean the same. Of kinds that are
   * told apart by a field, OpenAPI 3.0 has no way to say so.
   */
  convertRequest(schema: unknown): JsonObject {
    const given = schema as JsonObject;
    const required = new Set(given["required"] as readonly string[]);
    const fields = Object.entries(given["properties"] as JsonObject).map(([name, field]) => {
      const orNull = { anyOf: [{ type: "null" }, field], description: told(field) };
      const isPlain = required.has(name) || (field as JsonObject)["oneOf"] !== undefined;
      return [name, isPlain ? field : orNull] as const;
    });
    return this.convert({ ...given, properties: Object.fromEntries(fields) });
  }

  #inline(schema: JsonObject): JsonObject {
    const {
      "x-says": _says,
      "x-tag": _tag,
      "x-name": _name,
      const: constant,
      anyOf,
      oneOf,
      discriminator,
      ...rest
    } = schema;
    const result: Record<string, Json | undefined> = { ...rest };
    if (constant !== undefined) result["enum"] = [constant];
    const values = result["enum"];
    if (Array.isArray(values)) result["type"] ??= typeOf(values[0]);
    if (isJsonObject(schema["properties"]))
      result["properties"] = Object.fromEntries(
        Object.entries(schema["properties"]).map(([name, inner]) => [name, this.convert(inner)]),
      );
    for (const name of ["items", "additionalProperties"] as const)
      if (isJsonObject(schema[name])) result[name] = this.convert(schema[name]);
    if (Array.isArray(anyOf)) return { ...this.#union(anyOf), ...result };
    if (!Array.isArray(oneOf)) return result;
    const { type: _type, ...kinds } = result;
    return { ...kinds, ...this.#kinds(oneOf, discriminator as JsonObject) };
  }

  /**
   * "X or null" is a nullable X, written out in place: beside a reference `nullable` has no meaning,
   * and of several forms the first one carries it.
   */
  #union(all: readonly Json[]): JsonObject {
    const others = all.filter((one) => !isJsonObject(one) || one["type"] !== "null");
    if (others.length === all.length) return { anyOf: all.map((one) => this.convert(one)) };
    const [first, ...rest] = others.flatMap((one) =>
      isJsonObject(one) && Array.isArray(one["anyOf"]) ? one["anyOf"] : [one],
    );
    const inner = this.#inline(first as JsonObject);
    const values = inner["enum"];
    const orNull = {
      ...inner,
      ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}),
      nullable: true,
    };
    return rest.length === 0
      ? orNull
      : { anyOf: [orNull, ...rest.map((one) => this.convert(one))] };
  }

  #kinds(all: readonly Json[], { propertyName }: JsonObject): JsonObject {
    const tag = String(propertyName);
    const mapping: Record<string, string> = {};
    for (const kind of all as readonly JsonObject[]) {
      const property = (kind["properties"] as JsonObject)[tag] as JsonObject;
      const tags = property["const"] === undefined ? property["enum"] : [property["const"]];
      for (const value of tags as readonly string[]) mapping[value] = refTo(String(kind["x-name"]));
    }
    return {
      oneOf: all.map((kind) => this.convert(kind)),
      discriminator: { propertyName: tag, mapping },
    };
  }
}

const told = (field: Json | undefined) => (field as JsonObject)["description"];
const refTo = (name: string) => `#/components/schemas/${name}`;

function typeOf(value: Json | undefined): string {
  return typeof value === "number" ? "integer" : typeof value;
}
