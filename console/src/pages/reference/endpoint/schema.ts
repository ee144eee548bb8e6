import { type OpenApi, resolve, type Schema } from "../document.ts";

/** One line of what a body holds. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly about: string;
  /** Such as `0 to 2`, `at most 100 items`. */
  readonly limits: string;
  readonly values: readonly string[];
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  readonly isPreview: boolean;
  /** A form that the value can have, and no field of its own. */
  readonly isForm: boolean;
  /** Asked for when it is opened: schemas may hold themselves. */
  readonly inner: () => readonly Field[];
  readonly hasInner: boolean;
}

/** The fields of an object, or the forms that a value can have. */
export function fieldsOf(document: OpenApi, given: Schema): readonly Field[] {
  const schema = withoutNull(document, given);
  if (schema.items !== undefined) return fieldsOf(document, schema.items);
  const forms = formsOf(document, schema);
  if (forms.length > 1)
    return forms.map((form) =>
      toField(document, { name: formName(document, form), schema: form, isForm: true }),
    );
  return Object.entries(schema.properties ?? {}).map(([name, inner]) =>
    toField(document, {
      name,
      schema: inner,
      isRequired: schema.required?.includes(name) ?? false,
    }),
  );
}

interface FieldOptions {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired?: boolean;
  readonly isForm?: boolean;
}

function toField(document: OpenApi, options: FieldOptions): Field {
  const { name, schema: given, isRequired = false, isForm = false } = options;
  const schema = withoutNull(document, given);
  return {
    name,
    type: typeWords(document, given),
    about: given.description ?? schema.description ?? "",
    limits: limitWords(schema),
    values: (schema.enum ?? []).filter((value) => value !== null).map(String),
    isRequired,
    isDeprecated: given.deprecated === true || schema.deprecated === true,
    isPreview: schema["x-preview"] === true,
    isForm,
    inner: () => fieldsOf(document, schema),
    hasInner: holdsFields(document, schema),
  };
}

/** `anyOf: [X, null]` and a null among the types say no more than that it may be null. */
function withoutNull(document: OpenApi, given: Schema): Schema {
  const schema = resolve<Schema>(document, given);
  const forms = formsOf(document, schema);
  const [only] = forms;
  const isNullable = forms.length === 1 && (schema.anyOf ?? schema.oneOf ?? []).length > 1;
  if (!isNullable || only === undefined) return schema;
  return { description: schema.description ?? "", ...resolve<Schema>(document, only) };
}

function formsOf(document: OpenApi, schema: Schema): readonly Schema[] {
  const forms = schema.anyOf ?? schema.oneOf ?? [];
  return forms.filter((form) => resolve<Schema>(document, form).type !== "null");
}

function holdsFields(document: OpenApi, given: Schema): boolean {
  const schema = withoutNull(document, given);
  if (schema.items !== undefined) return holdsFields(document, schema.items);
  const forms = formsOf(document, schema);
  if (forms.length > 1) return forms.some((form) => isStructured(document, form));
  return Object.keys(schema.properties ?? {}).length > 0;
}

/** Forms that are plain values are told by the type alone, unless they say something of their own. */
function isStructured(document: OpenApi, form: Schema): boolean {
  return resolve<Schema>(document, form).description !== undefined || holdsFields(document, form);
}

export function typeWords(document: OpenApi, given: Schema): string {
  const schema = withoutNull(document, given);
  const forms = formsOf(document, schema);
  if (forms.length > 1) {
    const words = [...new Set(forms.map((form) => typeWords(document, form)))];
    return words.length === 1 ? (words[0] ?? "") : words.join(" or ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.find(isNotNull);
  if (type === "array")
    return schema.items === undefined
      ? "list"
      : `list of ${plural(typeWords(document, schema.items))}`;
  if (type === "string" && schema.format === "date-time") return "moment";
  if (type === "string" && schema.format === "binary") return "bytes";
  return type ?? "anything";
}

const isNotNull = (type: string) => type !== "null";

function plural(words: string): string {
  if (words.includes(" or ")) return `(${words})`;
  return words === "anything" || words === "bytes" || words.startsWith("list")
    ? words
    : `${words}s`;
}

/** What a form is called: by the one value that tells it apart, else by its type. */
function formName(document: OpenApi, form: Schema): string {
  const schema = resolve<Schema>(document, form);
  const tags = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const { enum: values, const: value } = resolve<Schema>(document, inner);
    const known = value === undefined ? values : [value];
    return known !== undefined && schema.required?.includes(name) === true
      ? [`${name}: ${known.map(String).join(" or ")}`]
      : [];
  });
  return tags[0] ?? typeWords(document, form);
}

function limitWords(schema: Schema): string {
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems } = schema;
  const words: string[] = [];
  if (minimum !== undefined && maximum !== undefined) words.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) words.push(`at least ${minimum}`);
  else if (maximum !== undefined) words.push(`at most ${maximum}`);
  if (maxLength !== undefined) words.push(`${minLength} to ${maxLength} characters`);
  if (maxItems !== undefined) words.push(`${minItems} to ${maxItems} items`);
  if (schema.default !== undefined) words.push(`default: ${JSON.stringify(schema.default)}`);
  return words.join(", ");
}

/** A body to begin with: what is required, with values that say what goes there. */
export function exampleOf(document: OpenApi, given: Schema, depth = 0): unknown {
  const schema = withoutNull(document, given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [form] = formsOf(document, schema);
  if (form !== undefined) return exampleOf(document, form, depth);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  switch (type) {
    case "object":
      if (depth > 4) return {};
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name) === true)
          .map(([name, inner]) => [name, exampleOf(document, inner, depth + 1)]),
      );
    case "array":
      return schema.items === undefined || depth > 4
        ? []
        : [exampleOf(document, schema.items, depth + 1)];
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "boolean":
      return false;
    default:
      return "";
  }
}
