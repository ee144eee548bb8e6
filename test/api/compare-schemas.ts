import {
  asFields,
  asList,
  asNames,
  deref,
  type Fields,
  isSame,
  isSchema,
  type Schema,
} from "./schema-tree.ts";

export interface Pair {
  readonly inner: Schema;
  readonly outer: Schema;
  readonly innerRoot: Schema;
  readonly outerRoot: Schema;
  /** Whether a field that `outer` is sure of need not be in `inner`. */
  readonly mayBeMissing: (field: Schema) => boolean;
}

/** Why a value that `inner` allows may not be one that `outer` allows. */
export function outside(pair: Pair, at: string): readonly string[] {
  const isNullNew =
    allowsNull(pair.inner, pair.innerRoot) && !allowsNull(pair.outer, pair.outerRoot);
  return [...(isNullNew ? [`${at}: null`] : []), ...valuesOutside(pair, at)];
}

/** May be said beside the forms, or by one of them. */
function allowsNull(given: Schema, root: Schema): boolean {
  const schema = deref(given, root);
  const parts = asList(schema["allOf"]).filter(isSchema);
  if (parts.some((part) => !allowsNull(part, root))) return false;
  if (schema["nullable"] === true) return true;
  const forms = formsOf(schema);
  if (forms !== undefined) return forms.some((form) => allowsNull(form, root));
  return schema["type"] === undefined && schema["enum"] === undefined;
}

/** The same for all values but null. */
function valuesOutside(pair: Pair, at: string): readonly string[] {
  const inner = merged(pair.inner, pair.innerRoot);
  const innerForms = formsOf(inner);
  if (innerForms !== undefined) {
    const rest = withoutForms(inner);
    return innerForms.flatMap((form) =>
      valuesOutside({ ...pair, inner: { ...rest, allOf: [form] } }, at),
    );
  }
  const outer = deref(pair.outer, pair.outerRoot);
  const parts = asList(outer["allOf"]).filter(isSchema);
  const forms = formsOf(outer);
  const tries = forms?.map((form) => valuesOutside({ ...pair, inner, outer: form }, at));
  const fits = tries === undefined || tries.some((problems) => problems.length === 0);
  return [
    ...parts.flatMap((part) => valuesOutside({ ...pair, inner, outer: part }, at)),
    ...(fits ? [] : [`${at}: a form is not allowed any more, or is new`]),
    ...scalarProblems(inner, outer, at),
    ...fieldProblems({ ...pair, inner, outer }, at),
    ...itemProblems({ ...pair, inner, outer }, at),
  ];
}

/**
 * A schema and all its parts as one. Where two say the same thing differently, either is true of
 * every value, so one of them is enough. A field or an entry that both describe obeys both.
 */
function merged(given: Schema, root: Schema): Schema {
  const { allOf, ...schema } = deref(given, root);
  return asList(allOf)
    .filter(isSchema)
    .map((part) => merged(part, root))
    .reduce<Schema>(
      (whole, part) => ({
        ...whole,
        ...part,
        properties: joinedFields(asFields(whole["properties"]), asFields(part["properties"])),
        ...(isSchema(whole["items"]) && isSchema(part["items"])
          ? { items: joined(whole["items"], part["items"]) }
          : {}),
        required: [...asNames(whole["required"]), ...asNames(part["required"])],
      }),
      schema,
    );
}

/** The first comes last: of forms that both have, those of the whole say more than a part's. */
const joined = (whole: Schema, part: Schema): Schema => ({ allOf: [part, whole] });

function joinedFields(whole: Fields, part: Fields): Fields {
  const shared = Object.entries(part).flatMap(([name, field]) => {
    const own = whole[name];
    return own === undefined ? [] : [[name, joined(own, field)] as const];
  });
  return { ...whole, ...part, ...Object.fromEntries(shared) };
}

function formsOf(schema: Schema): readonly Schema[] | undefined {
  const forms = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(forms) ? forms.filter(isSchema) : undefined;
}

/** One kind of forms at a time: when there are both, the second is looked at behind the first. */
function withoutForms({ anyOf, oneOf, ...rest }: Schema): Schema {
  return anyOf === undefined || oneOf === undefined ? rest : { ...rest, oneOf };
}

const lowest = ["minLength", "minItems", "minProperties"];
const highest = ["maxLength", "maxItems", "maxProperties"];

function scalarProblems(inner: Schema, outer: Schema, at: string): readonly string[] {
  const found: string[] = [];
  const against = (name: string) =>
    found.push(`${at}: ${name} ${String(inner[name])} against ${String(outer[name])}`);
  if (
    outer["type"] !== undefined &&
    inner["type"] !== outer["type"] &&
    !(inner["type"] === "integer" && outer["type"] === "number")
  )
    against("type");
  found.push(...newValues(inner, outer).map((value) => `${at}: value ${value}`));
  for (const name of lowest)
    if (outer[name] !== undefined && !(Number(inner[name]) >= Number(outer[name]))) against(name);
  for (const name of highest)
    if (outer[name] !== undefined && !(Number(inner[name]) <= Number(outer[name]))) against(name);
  for (const side of ["minimum", "maximum"] as const)
    if (!isBounded(inner, outer, side)) found.push(`${at}: ${side}`);
  if (outer["uniqueItems"] === true && inner["uniqueItems"] !== true) against("uniqueItems");
  if (!isMultiple(inner, outer)) against("multipleOf");
  for (const name of ["pattern", "format", "not"])
    if (outer[name] !== undefined && !isSame(inner[name], outer[name]))
      found.push(`${at}: ${name}`);
  return found;
}

/** Null is not among them: it is looked at apart. */
function newValues(inner: Schema, outer: Schema): readonly string[] {
  const allowed = outer["enum"];
  if (!Array.isArray(allowed)) return [];
  if (!Array.isArray(inner["enum"])) return ["of any kind"];
  return inner["enum"]
    .filter((value) => value !== null && !allowed.some((one) => isSame(one, value)))
    .map((value) => JSON.stringify(value));
}

/** As far in as the other bound, which may leave itself out: by a flag, or by a number of its own. */
function isBounded(inner: Schema, outer: Schema, side: "minimum" | "maximum"): boolean {
  const sign = side === "minimum" ? 1 : -1;
  const [ours, theirs] = [boundsOf(inner, side), boundsOf(outer, side)];
  return theirs.every((bound) =>
    ours.some(({ value, isLeftOut }) => {
      const further = (value - bound.value) * sign;
      return further > 0 || (further === 0 && (isLeftOut || !bound.isLeftOut));
    }),
  );
}

function boundsOf(schema: Schema, side: "minimum" | "maximum") {
  const own = schema[side];
  const exclusive = schema[side === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"];
  return [
    ...(typeof own === "number" ? [{ value: own, isLeftOut: exclusive === true }] : []),
    ...(typeof exclusive === "number" ? [{ value: exclusive, isLeftOut: true }] : []),
  ];
}

function isMultiple(inner: Schema, outer: Schema): boolean {
  const step = outer["multipleOf"];
  if (typeof step !== "number") return true;
  const ours = inner["multipleOf"] ?? (inner["type"] === "integer" ? 1 : undefined);
  return typeof ours === "number" && Number.isInteger(ours / step);
}

function fieldProblems(pair: Pair, at: string): readonly string[] {
  const innerFields = asFields(pair.inner["properties"]);
  const outerFields = asFields(pair.outer["properties"]);
  const sure = new Set(asNames(pair.inner["required"]));
  const missing = asNames(pair.outer["required"]).filter((name) => {
    const field = deref(outerFields[name], pair.outerRoot);
    return !sure.has(name) && !pair.mayBeMissing(field);
  });
  return [
    ...missing.map((name) => `${at}.${name}: not sure to be there`),
    ...Object.entries(outerFields).flatMap(([name, outer]) => {
      const inner = innerFields[name];
      return inner === undefined ? [] : outside({ ...pair, inner, outer }, `${at}.${name}`);
    }),
    ...extraProblems(pair, at),
  ];
}

/** Fields beyond those that are named. */
function extraProblems(pair: Pair, at: string): readonly string[] {
  const outer = pair.outer["additionalProperties"];
  const inner = pair.inner["additionalProperties"];
  if (outer === undefined || outer === true || inner === false) return [];
  return isSchema(outer) && isSchema(inner)
    ? outside({ ...pair, inner, outer }, `${at}.*`)
    : [`${at}: additionalProperties`];
}

function itemProblems(pair: Pair, at: string): readonly string[] {
  const { inner, outer } = pair;
  const canBeList = inner["type"] === undefined || inner["type"] === "array";
  // A list whose entries are not told may hold anything.
  return canBeList && isSchema(outer["items"])
    ? outside({ ...pair, inner: asFields(inner["items"]), outer: outer["items"] }, `${at}[]`)
    : [];
}
