import type { Type as TypeBox } from "typebox";

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;
type Options = Schema;

/** Marks a property as optional: not enumerable, so that it is no part of the schema. */
const optionalMark = "~optional";
const mark = { value: true, enumerable: false };

const typed =
  (type: string) =>
  (options: Options = {}) => ({ type, ...options });

function objectOf(properties: Properties, options: Options = {}) {
  const required = Object.keys(properties).filter(
    (name) => properties[name]?.[optionalMark] !== true,
  );
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...options,
  };
}

const chosen =
  (isWanted: (name: string, names: readonly string[]) => boolean) =>
  ({ properties }: { readonly properties: Properties }, names: readonly string[]) =>
    objectOf(
      Object.fromEntries(Object.entries(properties).filter(([name]) => isWanted(name, names))),
    );

const builders = {
  String: typed("string"),
  Number: typed("number"),
  Integer: typed("integer"),
  Boolean: typed("boolean"),
  Null: typed("null"),
  Unknown: (options: Options = {}) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Literal: (value: unknown, options: Options = {}) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Enum: (values: readonly unknown[], options: Options = {}) => ({ enum: [...values], ...options }),
  Array: (items: Schema, options: Options = {}) => ({ type: "array", items, ...options }),
  Union: (anyOf: readonly Schema[], options: Options = {}) => ({ anyOf, ...options }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, optionalMark, mark),
  Record: (_names: Schema, values: Schema, options: Options = {}) => ({
    type: "object",
    patternProperties: { "^.*$": values },
    ...options,
  }),
  Object: objectOf,
  Omit: chosen((name, names) => !names.includes(name)),
  Pick: chosen((name, names) => names.includes(name)),
};

/**
 * JSON schemas with the types of TypeBox, which has the compiler derive a type from each schema.
 * The package itself is not loaded: these few functions are all that we use of its 370 modules,
 * which take 5 MB of memory and a tenth of a second at every start. A test compares the two.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
