/** A document's schemas as a tree of named places, and what is promised of each. */
export type Schema = { readonly [name: string]: unknown };
export type Fields = Readonly<Record<string, Schema>>;

interface LostPair {
  readonly old: Schema;
  readonly now: Schema;
  readonly oldRoot: Schema;
  readonly nowRoot: Schema;
  readonly today: string;
}

/** Fields that were described and no longer are, and promises that are no longer kept, at any depth. */
export function lost(pair: LostPair, at: string): readonly string[] {
  const { oldRoot, nowRoot, today } = pair;
  const was = described(pair.old, oldRoot);
  const kept = described(pair.now, nowRoot);
  // A place that has got several forms is kept when one of them is what it was before.
  const [oldForms, forms] = [insideForms(was), insideForms(kept)];
  const isNowInForm = (path: string) => forms.has(path) && !oldForms.has(path);
  return [...was].flatMap(([path, { schema: old, isField }]) => {
    const now = kept.get(path)?.schema;
    if (now === undefined)
      return !isField || mayGo(old, today) || isNowInForm(path) ? [] : [`${at}${path} is gone`];
    const hasOtherDefault = old["default"] !== undefined && !isSame(old["default"], now["default"]);
    return [
      ...(hasOtherDefault ? [`${at}${path}: default has changed`] : []),
      ...lateDeprecation({ old, now, today }, `${at}${path}`),
    ];
  });
}

/** The paths that lead through forms, without the name of one of them, or of all. */
function insideForms(places: ReadonlyMap<string, Place>): ReadonlySet<string> {
  const paths = [...places.keys()].filter((path) => path.includes("<"));
  return new Set(
    paths.flatMap((path) => [
      path.replaceAll(/<[^>]*>/g, ""),
      ...[...path.matchAll(/<[^>]*>/g)].map(
        ({ 0: form, index }) => path.slice(0, index) + path.slice(index + form.length),
      ),
    ]),
  );
}

interface Place {
  readonly schema: Schema;
  /** It has a name of its own, which callers use. */
  readonly isField: boolean;
}

/** Every place by its path; of several forms, each by its component's name. */
function described(
  given: Schema,
  root: Schema,
  { path = "", isField = false } = {},
): ReadonlyMap<string, Place> {
  const schema = deref(given, root);
  const found = new Map<string, Place>([[path, { schema, isField }]]);
  // What was found first stays: the schema itself, not its parts and forms of the same path.
  const add = (more: ReadonlyMap<string, Place>) => {
    for (const [key, value] of more) if (!found.has(key)) found.set(key, value);
  };
  for (const [name, field] of Object.entries(asFields(schema["properties"])))
    add(described(field, root, { path: `${path}.${name}`, isField: true }));
  for (const part of asList(schema["allOf"])) add(described(asFields(part), root, { path }));
  for (const form of [...asList(schema["anyOf"]), ...asList(schema["oneOf"])].filter(isSchema)) {
    const name = typeof form["$ref"] === "string" ? `<${form["$ref"].split("/").at(-1)}>` : "";
    add(described(form, root, { path: path + name }));
  }
  if (isSchema(schema["items"])) add(described(schema["items"], root, { path: `${path}[]` }));
  return found;
}

/** Announced as deprecated, and its day has come. */
export function mayGo(element: Schema, today: string): boolean {
  const date = removalDate(element);
  return element["deprecated"] === true && date !== undefined && date <= today;
}

/** Announced so late that nobody could have read it, or for an earlier day than was promised. */
export function lateDeprecation(
  { old, now, today }: { readonly old: Schema; readonly now: Schema; readonly today: string },
  at: string,
): readonly string[] {
  const promised = old["deprecated"] === true ? removalDate(old) : undefined;
  const date = removalDate(now);
  if (now["deprecated"] !== true || date === undefined) return [];
  if (promised === undefined)
    return date <= today ? [`${at} is deprecated only on the day of its removal, or later`] : [];
  return date < promised ? [`${at} is to go before the day that was promised`] : [];
}

function removalDate(element: Schema): string | undefined {
  const date = element["x-removal-date"];
  return typeof date === "string" ? date : undefined;
}

/** Follows references to the schema that they stand for. */
export function deref(schema: unknown, root: Schema): Schema {
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

export const asFields = (value: unknown): Fields => (isSchema(value) ? (value as Fields) : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asNames = (value: unknown): readonly string[] => asList(value).map(String);
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
