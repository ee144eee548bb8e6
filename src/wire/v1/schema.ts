import type { TSchema, TSchemaOptions, TUnsafe } from "typebox";
import { Type } from "../../base/json/type.ts";

/**
 * The pieces of which the contract's schemas are made. One schema gives the validator, the words of
 * its errors and its part of the OpenAPI document:
 *
 * - `x-says` completes the sentence "<field> must be …" where the schema alone would say it badly;
 * - `x-tag` does so for the field that tells the kinds of a `tagged` schema apart;
 * - `x-name` makes a schema a component of the document, under that name.
 */
export const ownKeywords = ["x-says", "x-tag", "x-name"] as const;

/** What a field is, for the document and, as `says`, for errors. */
export const told = (description: string, says?: string): TSchemaOptions =>
  says === undefined ? { description } : { description, "x-says": says };

export const named = (name: string, description: string): TSchemaOptions => ({
  "x-name": name,
  description,
});

export const nullable = <T extends TSchema>(schema: T, options: TSchemaOptions = {}) =>
  Type.Union([Type.Null(), schema], options);

/** An object of which we ask nothing. Said aloud: generators take silence for an empty object. */
export const anyObject = (options: TSchemaOptions = {}) =>
  Type.Object({}, { additionalProperties: true, ...options });

export const modelId = (kind: string) =>
  Type.String({
    minLength: 1,
    ...told(
      `Id of the ${kind} model. GET /models lists the models that the key can use.`,
      "the id of a model",
    ),
  });

/** Fields by their kind. A name with `optional` or `nullable` is of a field that can be omitted. */
export const text = (description: string) => Type.String(told(description, "a string"));
export const optionalText = (description: string) => Type.Optional(text(description));
export const nullableText = (description: string) =>
  Type.Optional(nullable(Type.String(), told(description, "a string")));
/** Text of at least one character. */
export const filled = (description: string, says: string) =>
  Type.String({ minLength: 1, ...told(description, says) });

export const optionalFlag = (description: string) =>
  Type.Optional(Type.Boolean(told(description, "true or false")));
export const nullableFlag = (description: string) =>
  Type.Optional(nullable(Type.Boolean(), told(description, "true or false")));

export const optionalNumber = (minimum: number, maximum: number, description: string) =>
  Type.Optional(
    Type.Number({
      minimum,
      maximum,
      ...told(description, `a number from ${minimum} to ${maximum}`),
    }),
  );
export const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Optional(
    Type.Integer({
      minimum,
      maximum,
      ...told(description, `an integer from ${minimum} to ${maximum}`),
    }),
  );
export const atLeast = (minimum: number, description: string) =>
  Type.Integer({ minimum, ...told(description, `an integer of at least ${minimum}`) });
export const optionalAtLeast = (minimum: number, description: string) =>
  Type.Optional(atLeast(minimum, description));

export const optionalObject = (description: string, says = "an object") =>
  Type.Optional(anyObject(told(description, says)));
export const nullableObject = (description: string, says: string) =>
  Type.Optional(nullable(anyObject(), told(description, says)));

/** A field that would change the answer or the bill if it were ignored. `advice` ends the error. */
export const unsupported = (advice: string) =>
  Type.Optional(
    Type.Unsafe<null>({ enum: [null], ...told("Not supported.", `omitted. ${advice}`) }),
  );

/** One field identifies the kind, so that an error is about the kind that was meant. */
export function tagged(
  tag: string,
  kinds: TSchema[],
  options: TSchemaOptions & { readonly "x-tag": string },
): TUnsafe<unknown> {
  return Type.Unsafe({
    type: "object",
    discriminator: { propertyName: tag },
    oneOf: kinds,
    ...options,
  });
}

/** The same schema, with every object below it as a definition to which it refers. */
export function withDefinitions(schema: TSchema): TSchema {
  const $defs: Record<string, unknown> = {};
  const names = new Map<object, string>();
  const fieldsOf = (given: object) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, referring(value)]));
  const referring = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(referring);
    if (typeof value !== "object" || value === null) return value;
    if (!("type" in value) || value["type"] !== "object") return fieldsOf(value);
    const name = names.get(value) ?? `object${names.size}`;
    if (!names.has(value)) {
      names.set(value, name);
      $defs[name] = fieldsOf(value);
    }
    const $ref = `#/$defs/${name}`;
    // Where the whole field is missing, its words are read from here.
    return "x-says" in value ? { $ref, "x-says": value["x-says"] } : { $ref };
  };
  return { ...fieldsOf(schema), $defs };
}
