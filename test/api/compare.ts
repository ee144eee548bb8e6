/**
 * What in a new OpenAPI document would break a client of the old one. A request may grow wider, a
 * reply may only keep its promises: so every body that the old document allowed must be allowed by
 * the new one, every reply that the new one allows must have been allowed by the old, and no field
 * is gone from either. What was deprecated may go, from its removal date on.
 */
export type Schema = { readonly [name: string]: unknown };
type Fields = Readonly<Record<string, Schema>>;

export interface Documents {
  readonly before: Schema;
  readonly after: Schema;
  /** YYYY-MM-DD */
  readonly today: string;
}

export function breakingChanges({ before, after, today }: Documents): readonly string[] {
  const found: string[] = [];
  for (const [path, methods] of Object.entries(asFields(before["paths"])))
    for (const [method, old] of Object.entries(methods)) {
      const where = `${method.toUpperCase()} ${path}`;
      const now = asFields(asFields(after["paths"])[path])[method];
      if (now !== undefined)
        found.push(...operationChanges({ old: old as Schema, now, where, before, after, today }));
      else if (!mayGo(old as Schema, today)) found.push(`${where} is gone`);
    }
  return found;
}

interface OperationPair {
  readonly old: Schema;
  readonly now: Schema;
  readonly where: string;
  readonly before: Schema;
  readonly after: Schema;
  readonly today: string;
}

function operationChanges(pair: OperationPair): readonly string[] {
  const { old, now, where, before, after, today } = pair;
  const found: string[] = [];
  if (old["operationId"] !== now["operationId"]) found.push(`${where}: operationId has changed`);
  if (JSON.stringify(old["security"]) !== JSON.stringify(now["security"]))
    found.push(`${where}: security has changed`);
  const bodies = contentPairs(deref(old["requestBody"], before), deref(now["requestBody"], after));
  for (const [type, was, is] of bodies) {
    const at = `${where} request`;
    if (is === undefined) found.push(`${at}: ${type} is gone`);
    else {
      found.push(...outside({ inner: was, outer: is, innerRoot: before, outerRoot: after }, at));
      found.push(...lost({ old: was, now: is, oldRoot: before, nowRoot: after, today }, at));
    }
  }
  for (const [status, oldReply] of Object.entries(asFields(old["responses"]))) {
    const at = `${where} ${status}`;
    const nowReply = asFields(now["responses"])[status];
    if (nowReply === undefined) {
      found.push(`${at} is gone`);
      continue;
    }
    const was = deref(oldReply, before);
    const is = deref(nowReply, after);
    for (const name of Object.keys(asFields(was["headers"])))
      if (asFields(is["headers"])[name] === undefined) found.push(`${at}: header ${name} is gone`);
    for (const [type, oldSchema, nowSchema] of contentPairs(was, is)) {
      if (nowSchema === undefined) {
        found.push(`${at}: ${type} is gone`);
        continue;
      }
      const swapped = { inner: nowSchema, outer: oldSchema, innerRoot: after, outerRoot: before };
      found.push(...outside(swapped, at));
      found.push(
        ...lost({ old: oldSchema, now: nowSchema, oldRoot: before, nowRoot: after, today }, at),
      );
    }
  }
  return found;
}

function contentPairs(
  was: Schema,
  is: Schema,
): readonly (readonly [string, Schema, Schema | undefined])[] {
  return Object.entries(asFields(was["content"])).map(([type, media]) => [
    type,
    asFields(media)["schema"] ?? {},
    asFields(asFields(is["content"])[type])["schema"],
  ]);
}

interface Pair {
  readonly inner: Schema;
  readonly outer: Schema;
  readonly innerRoot: Schema;
  readonly outerRoot: Schema;
}

/** Why a value that `inner` allows may not be one that `outer` allows. */
function outside(pair: Pair, at: string): readonly string[] {
  const { innerRoot, outerRoot } = pair;
  const inner = deref(pair.inner, innerRoot);
  const outer = deref(pair.outer, outerRoot);
  const outerForms = formsOf(outer);
  const innerForms = formsOf(inner);
  if (innerForms !== undefined)
    return innerForms.flatMap((form) => outside({ ...pair, inner: form, outer }, at));
  if (outerForms !== undefined) {
    const tries = outerForms.map((form) => outside({ ...pair, inner, outer: form }, at));
    return (
      tries.find((problems) => problems.length === 0) ?? [
        `${at}: a form is not allowed any more, or is new`,
      ]
    );
  }
  return [
    ...scalarProblems(inner, outer, at),
    ...fieldProblems({ ...pair, inner, outer }, at),
    ...(isSchema(inner["items"]) && isSchema(outer["items"])
      ? outside({ ...pair, inner: inner["items"], outer: outer["items"] }, `${at}[]`)
      : []),
  ];
}

const lowest = ["minimum", "minLength", "minItems", "minProperties"];
const highest = ["maximum", "maxLength", "maxItems", "maxProperties"];

function scalarProblems(inner: Schema, outer: Schema, at: string): readonly string[] {
  const found: string[] = [];
  if (
    outer["type"] !== undefined &&
    inner["type"] !== outer["type"] &&
    !(inner["type"] === "integer" && outer["type"] === "number")
  )
    found.push(`${at}: type ${String(inner["type"])} against ${String(outer["type"])}`);
  if (inner["nullable"] === true && outer["nullable"] !== true) found.push(`${at}: null`);
  const allowed = outer["enum"];
  if (Array.isArray(allowed)) {
    const values: readonly unknown[] = Array.isArray(inner["enum"]) ? inner["enum"] : [undefined];
    for (const value of values)
      if (!allowed.includes(value))
        found.push(`${at}: value ${JSON.stringify(value) ?? "of any kind"}`);
  }
  for (const name of lowest)
    if (outer[name] !== undefined && !(Number(inner[name]) >= Number(outer[name])))
      found.push(`${at}: ${name} ${String(inner[name])} against ${String(outer[name])}`);
  for (const name of highest)
    if (outer[name] !== undefined && !(Number(inner[name]) <= Number(outer[name])))
      found.push(`${at}: ${name} ${String(inner[name])} against ${String(outer[name])}`);
  for (const name of ["pattern", "format", "additionalProperties"])
    if (
      outer[name] !== undefined &&
      outer[name] !== true &&
      JSON.stringify(inner[name]) !== JSON.stringify(outer[name])
    )
      found.push(`${at}: ${name}`);
  return found;
}

function fieldProblems(pair: Pair, at: string): readonly string[] {
  const innerFields = asFields(pair.inner["properties"]);
  const outerFields = asFields(pair.outer["properties"]);
  const sure = new Set(asNames(pair.inner["required"]));
  const missing = asNames(pair.outer["required"]).filter((name) => !sure.has(name));
  return [
    ...missing.map((name) => `${at}.${name}: not sure to be there`),
    ...Object.entries(outerFields).flatMap(([name, outer]) => {
      const inner = innerFields[name];
      return inner === undefined ? [] : outside({ ...pair, inner, outer }, `${at}.${name}`);
    }),
  ];
}

interface LostPair {
  readonly old: Schema;
  readonly now: Schema;
  readonly oldRoot: Schema;
  readonly nowRoot: Schema;
  readonly today: string;
}

/** Fields that were described and no longer are, at any depth. */
function lost({ old, now, oldRoot, nowRoot, today }: LostPair, at: string): readonly string[] {
  const kept = described(now, nowRoot);
  return [...described(old, oldRoot)]
    .filter(([path, field]) => !kept.has(path) && !mayGo(field, today))
    .map(([path]) => `${at}${path} is gone`);
}

/** Every field by its path; of several forms, each by its component's name. */
function described(given: Schema, root: Schema, path = ""): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  const add = (more: ReadonlyMap<string, Schema>) => {
    for (const [key, value] of more) found.set(key, value);
  };
  const schema = deref(given, root);
  for (const form of formsOf(schema) ?? []) {
    const name = typeof form["$ref"] === "string" ? `<${form["$ref"].split("/").at(-1)}>` : "";
    add(described(form, root, path + name));
  }
  if (isSchema(schema["items"])) add(described(schema["items"], root, `${path}[]`));
  for (const [name, field] of Object.entries(asFields(schema["properties"]))) {
    found.set(`${path}.${name}`, deref(field, root));
    add(described(field, root, `${path}.${name}`));
  }
  return found;
}

/** Announced as deprecated, and its day has come. */
function mayGo(element: Schema, today: string): boolean {
  const date = element["x-removal-date"];
  return element["deprecated"] === true && typeof date === "string" && date <= today;
}

function formsOf(schema: Schema): readonly Schema[] | undefined {
  const forms = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(forms) ? forms.filter(isSchema) : undefined;
}

function deref(schema: unknown, root: Schema): Schema {
  if (!isSchema(schema)) return {};
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const found = $ref
    .slice(2)
    .split("/")
    .reduce<unknown>((inside, step) => (isSchema(inside) ? inside[step] : undefined), root);
  if (!isSchema(found)) throw new Error(`${$ref} leads nowhere`);
  return deref(found, root);
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const asFields = (value: unknown): Fields => (isSchema(value) ? (value as Fields) : {});
const asNames = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];
