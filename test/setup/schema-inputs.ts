import { Ajv } from "ajv";

/** The JSON schema of an input, as the routes of the platform use it. */
export interface InputSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, InputSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly patternProperties?: Readonly<Record<string, InputSchema>>;
  readonly items?: InputSchema;
  readonly anyOf?: readonly InputSchema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** JSON, or text such as a query or a form, from which the server reads values. */
export type InputKind = "json" | "text";

/** An input in which one field is wrong. */
export interface WrongInput {
  readonly field: string;
  readonly input: unknown;
}

interface Place {
  readonly kind: InputKind;
  readonly schema: InputSchema;
  /** Empty for the input itself, which has no name. */
  readonly field: string;
  readonly sample: unknown;
}

const ajvOf = {
  json: new Ajv({ strict: false, strictNumbers: true }),
  text: new Ajv({ strict: false, coerceTypes: "array" }),
};

/** A valid input with all of its fields. */
export function sampleOf(schema: InputSchema): unknown {
  const { type, properties, items, anyOf, patternProperties } = schema;
  if (anyOf?.[0] !== undefined) return sampleOf(anyOf[0]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const fields = properties ?? (patternProperties && { a: Object.values(patternProperties)[0] });
  if (fields !== undefined)
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, sampleOf(field ?? {})]),
    );
  if (items !== undefined) return listOf(items, Math.max(1, schema.minItems ?? 0));
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return schema.minimum ?? 0;
  const texts = ["a", "1"].map((text) => text.repeat(Math.max(1, schema.minLength ?? 0)));
  return texts.find((text) => new RegExp(schema.pattern ?? "", "u").test(text));
}

/**
 * Every field with values of all types and just out of bounds, or left out, and one field too many:
 * of these the ones that the schema does not accept.
 */
export function wrongInputs(kind: InputKind, schema: InputSchema): readonly WrongInput[] {
  const accepts = ajvOf[kind].compile(schema);
  const whole = { kind, schema, field: "", sample: sampleOf(schema) };
  const own = kind === "json" ? unlikelyValues(whole) : [];
  return [...own.map((input) => ({ field: "", input })), ...changedInside(whole)].filter(
    // Reading text changes the input.
    ({ input }) => !accepts(structuredClone(input)),
  );
}

function changedInside({ kind, schema, field, sample }: Place): readonly WrongInput[] {
  const form = schema.anyOf?.[0] ?? schema;
  const [anyField] = Object.values(form.patternProperties ?? {});
  const fields = { ...form.properties, ...(anyField && { a: anyField }) };
  const object = asObject(sample);
  const list: readonly unknown[] = Array.isArray(sample) ? sample : [];
  const nameOf = (name: string) => (field === "" ? name : `${field}.${name}`);
  const at = (place: Omit<Place, "kind">, put: (value: unknown) => unknown) => [
    ...unlikelyValues({ ...place, kind }).map((value) => ({
      field: place.field,
      input: put(value),
    })),
    ...changedInside({ ...place, kind }).map((one) => ({
      field: one.field,
      input: put(one.input),
    })),
  ];
  return [
    ...Object.entries(fields).flatMap(([name, inner]) =>
      at({ schema: inner, field: nameOf(name), sample: object[name] }, (value) => ({
        ...object,
        [name]: value,
      })),
    ),
    ...(form.items === undefined
      ? []
      : at({ schema: form.items, field: `${field}[0]`, sample: list[0] }, (value) =>
          list.with(0, value),
        )),
    ...(form.required ?? []).map((name) => ({
      field: nameOf(name),
      input: { ...object, [name]: undefined },
    })),
    ...(form.additionalProperties === false
      ? [{ field: "colour", input: { ...object, colour: "red" } }]
      : []),
  ];
}

function unlikelyValues({ kind, schema }: Place): readonly unknown[] {
  const { items, minItems = 0, maxItems, minLength = 0, maxLength = 0 } = schema;
  const bounds = [(schema.minimum ?? 0) - 1, (schema.maximum ?? 0) + 1];
  const lengths = [...(minItems > 0 ? [minItems - 1] : []), (maxItems ?? 0) + 1];
  const lists = items === undefined ? [] : lengths.map((length) => listOf(items, length));
  const texts = ["x".repeat(maxLength + 1), "x".repeat(Math.max(0, minLength - 1)), "\u0000"];
  const candidates = {
    json: [null, true, 7.5, "no such word", [], {}, ...texts, ...bounds, ...lists],
    text: ["no such word", "7.5", ...texts, ...bounds.map(String)],
  };
  // An object that lacks a field is wrong at that field, not here.
  const isObject = [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === "object");
  return candidates[kind].filter((value) => !(isObject && isPlain(value)));
}

const listOf = (items: InputSchema, length: number) =>
  Array.from({ length }, () => sampleOf(items));
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const asObject = (value: unknown) => (isPlain(value) ? value : {});
