import { type Document, isMap, isScalar, isSeq, type Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { Problem } from "../base/problem.ts";
import { parseYaml } from "../base/yaml.ts";
import { keepLines } from "./keep-lines.ts";

/** Fields of one entry of `providers:`, by the names of svc.yaml. */
export type ProviderDraft = Record<string, unknown>;
/** Fields of one entry of `models:`, by the names of svc.yaml. */
export type ModelDraft = Record<string, unknown>;

export interface ManifestDraft {
  readonly providers: Readonly<Record<string, ProviderDraft>>;
  readonly models: Readonly<Record<string, ModelDraft>>;
}

export interface Edited {
  readonly text: string;
  /** Such as `provider groq`, `model m`, `route m → groq/llama`. */
  readonly added: string[];
  /** What was there already, and stays as it is. */
  readonly kept: string[];
}

export interface Removed {
  readonly text: string;
  /** How many routes went with it. */
  readonly routes: number;
  /** The models that have no route any more. */
  readonly emptied: string[];
}

const head = ` Providers and models of this gateway. svc apply svc.yaml puts changes in force; so does a start.
 Prices are USD per million tokens. \${NAME} stands for a variable of the environment.`;

/** Adds to the text of svc.yaml; what is there is never overwritten, comments and order stay. */
export function addToManifest(text: string, draft: ManifestDraft): Edited {
  const { document, root } = open(text);
  const added: string[] = [];
  const kept: string[] = [];
  for (const [name, fields] of Object.entries(draft.providers)) {
    const isNew = insert(document, section(document, root, "providers"), { name, fields });
    (isNew ? added : kept).push(`provider ${name}`);
  }
  for (const [id, fields] of Object.entries(draft.models)) {
    const models = section(document, root, "models");
    if (insert(document, models, { name: id, fields })) added.push(`model ${id}`);
    else {
      const result = addRoutes(document, { id, model: models.get(id), fields });
      kept.push(...(result.added.length === 0 ? [`model ${id}`] : []), ...result.kept);
      added.push(...result.added);
    }
  }
  return { text: added.length === 0 ? text : write(document, text), added, kept };
}

/** Takes a provider out, with all routes to it. A model that is left without a route stays. */
export function removeProvider(text: string, name: string): Removed {
  const { document, root } = open(text);
  const providers = root.get("providers");
  if (!isMap(providers) || !providers.has(name))
    throw new Problem("not_found", `There is no provider ${name} in the file.`);
  drop(providers, name);
  let routes = 0;
  const emptied: string[] = [];
  const models = root.get("models");
  for (const { key, value } of isMap(models) ? models.items : []) {
    const list = isMap(value) ? value.get("routes") : undefined;
    if (!isMap(value) || !isSeq(list)) continue;
    const before = list.items.length;
    list.items = list.items.filter((item) => !(isMap(item) && item.get("provider") === name));
    routes += before - list.items.length;
    if (before === list.items.length || list.items.length > 0) continue;
    value.delete("routes");
    emptied.push(isScalar(key) ? String(key.value) : String(key));
  }
  return { text: write(document, text), routes, emptied };
}

/** The names of the entries that a section of svc.yaml has. */
export function namesOf(text: string, name: "providers" | "models"): readonly string[] {
  const entries = open(text).root.get(name);
  return isMap(entries)
    ? entries.items.map(({ key }) => String(isScalar(key) ? key.value : key))
    : [];
}

/** Without the gap that was between it and the next. */
function drop(map: YAMLMap, name: string): void {
  const isFirst = map.items.findIndex(({ key }) => isScalar(key) && key.value === name) === 0;
  map.delete(name);
  const next = map.items[0]?.key;
  if (isFirst && isScalar(next)) next.spaceBefore = false;
}

function open(text: string): { readonly document: Document; readonly root: YAMLMap } {
  const { document, problems } = parseYaml(text);
  if (problems.length > 0) throw new Problem("invalid", problems.join("\n"));
  const { contents } = document;
  if (isMap(contents)) return { document, root: contents };
  if (contents !== null && !(isScalar(contents) && contents.value === ""))
    throw new Problem("invalid", "line 1: the file must be a map of fields");
  const root = new YAMLMap(document.schema);
  document.contents = root;
  const comments = [document.commentBefore, document.comment].filter((each) => each != null);
  document.commentBefore = comments.length === 0 ? head : comments.join("\n\n");
  document.comment = null;
  return { document, root };
}

/** The map of that name; made where there is none, or nothing behind its name. */
function section(document: Document, root: YAMLMap, name: string): YAMLMap {
  const value = root.get(name, true);
  if (isMap(value)) return value;
  if (value !== undefined && !(isScalar(value) && value.value === ""))
    throw new Problem("invalid", `${name} must be a map by name`);
  const made = new YAMLMap(document.schema);
  const remark = value?.comment ?? value?.commentBefore;
  if (remark != null) made.commentBefore = remark;
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair !== undefined) pair.value = made;
  else {
    const key = new Scalar(name);
    key.spaceBefore = root.items.length > 0;
    root.items.push(document.createPair(key, made));
  }
  return made;
}

interface Entry {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** False when there is one of that name. */
function insert(document: Document, map: YAMLMap, { name, fields }: Entry): boolean {
  if (map.has(name)) return false;
  const key = new Scalar(name);
  key.spaceBefore = map.items.slice(1).some(isSpaced);
  map.items.push(document.createPair(key, toEntry(fields)));
  return true;
}

const isSpaced = ({ key }: Pair) => isScalar(key) && key.spaceBefore === true;

function addRoutes(
  document: Document,
  { id, model, fields }: { id: string; model: unknown; fields: Readonly<Record<string, unknown>> },
): { readonly added: string[]; readonly kept: string[] } {
  const none = { added: [], kept: [] };
  const given = fields["routes"];
  if (!isMap(model) || !Array.isArray(given)) return none;
  // A route of another kind of model would never be right.
  const isOther = (name: string) =>
    model.has(name) && fields[name] !== undefined && model.get(name) !== fields[name];
  if (isOther("endpoint") || isOther("input")) return none;
  const existing = model.get("routes");
  const list = isSeq(existing) ? existing : new YAMLSeq(document.schema);
  const added: string[] = [];
  const kept: string[] = [];
  for (const route of given.filter(isRecord)) {
    const isSame = (item: unknown) =>
      isMap(item) &&
      item.get("provider") === String(route["provider"]) &&
      item.get("model") === String(route["model"]);
    const name = `route ${id} → ${String(route["provider"])}/${String(route["model"])}`;
    if (list.items.some(isSame)) kept.push(name);
    else {
      list.items.push(toFlow(route));
      added.push(name);
    }
  }
  if (added.length > 0 && list !== existing) model.set("routes", list);
  return { added, kept };
}

/** A field a line; routes a line each, and small maps in one. */
function toEntry(fields: Readonly<Record<string, unknown>>): YAMLMap {
  const map = new YAMLMap();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    map.set(new Scalar(name), toField(name, value));
  }
  return map;
}

function toField(name: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    for (const item of value) list.items.push(isRecord(item) ? toFlow(item) : new Scalar(item));
    return list;
  }
  if (!isRecord(value)) return new Scalar(String(value));
  return name === "options" ? toEntry(value) : toFlow(value, isPrice(name));
}

const isPrice = (name: string) => name === "price" || name === "cost";

function toFlow(fields: Readonly<Record<string, unknown>>, isQuoted = false): YAMLMap {
  const map = new YAMLMap();
  map.flow = true;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const scalar = new Scalar(String(value));
    // A decimal in quotes is the same for every reader of YAML.
    if (isQuoted) scalar.type = Scalar.QUOTE_DOUBLE;
    map.set(new Scalar(name), isRecord(value) ? toFlow(value, isPrice(name)) : scalar);
  }
  return map;
}

function write(document: Document, text: string): string {
  const style = {
    lineWidth: 0,
    flowCollectionPadding: !/[:-] +\{[^ }\n]/.test(text),
    indent: indentOf(text),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n\1- /m.test(text),
  };
  try {
    const after = document.toString(style);
    const old = parseYaml(text).document;
    // Of a file without fields there are only comments, which the document has kept.
    if (!isMap(old.contents)) return after;
    const kept = keepLines({ text, before: old.toString(style), after });
    return kept !== undefined && isSame(kept, document) ? kept : after;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Problem("invalid", `The file cannot be edited: ${message}. Edit it by hand.`, cause);
  }
}

/** Whether a text says what the document does. */
function isSame(text: string, document: Document): boolean {
  const read = parseYaml(text).document;
  return read.errors.length === 0 && Bun.deepEquals(read.toJS(), document.toJS(), true);
}

/** As the file indents what stands below its first key. */
function indentOf(text: string): number {
  const found = /^\w[^\n]*:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*(?:#[^\n]*)?\n)*( +)[^\s#]/m.exec(text);
  return Math.min(8, Math.max(2, found?.[1]?.length ?? 2));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
