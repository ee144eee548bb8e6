import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  Scalar,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { Problem } from "../base/problem.ts";
import { parseYaml } from "../base/yaml.ts";
import { keepLines } from "./keep-lines.ts";
import { parseWithComments } from "./parse-comments.ts";

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
  const before = modelsOf(document);
  const added: string[] = [];
  const kept: string[] = [];
  const grown = new Map<string, number>();
  for (const [name, fields] of Object.entries(draft.providers)) {
    const isNew = insert(document, section(document, root, "providers"), { name, fields });
    (isNew ? added : kept).push(`provider ${name}`);
  }
  for (const [id, fields] of Object.entries(draft.models)) {
    const models = section(document, root, "models");
    if (insert(document, models, { name: id, fields })) added.push(`model ${id}`);
    else {
      const model = resolved(document, models.get(id));
      const result = addRoutes(document, { id, model, fields });
      kept.push(...(result.added.length === 0 ? [`model ${id}`] : []), ...result.kept);
      added.push(...result.added);
      grown.set(id, result.added.length);
    }
  }
  checkShared(before, modelsOf(document), grown);
  return { text: added.length === 0 ? text : write(document, text), added, kept };
}

/** Takes a provider out, with all routes to it. A model that is left without a route stays. */
export function removeProvider(text: string, name: string): Removed {
  const { document, root } = open(text);
  const providers = root.get("providers");
  if (!isMap(providers) || !providers.has(name))
    throw new Problem({ code: "not_found", message: `There is no provider ${name} in the file.` });
  const before = modelsOf(document);
  drop(providers, name);
  const models = root.get("models");
  for (const { value } of isMap(models) ? models.items : []) {
    const list = isMap(value) ? value.get("routes") : undefined;
    if (!isMap(value) || !isSeq(list)) continue;
    const { length } = list.items;
    list.items = list.items.filter((item) => !(isMap(item) && item.get("provider") === name));
    if (length === list.items.length || list.items.length > 0) continue;
    value.delete("routes");
    const comments = [list.comment, value.comment].filter((each) => each != null);
    if (comments.length > 0) value.comment = comments.join("\n");
  }
  const after = modelsOf(document);
  const lost = (id: string) => routesOf(before.get(id)).length - routesOf(after.get(id)).length;
  const fewer = [...before.keys()].filter((id) => lost(id) > 0);
  return {
    text: write(document, text),
    routes: fewer.reduce((sum, id) => sum + lost(id), 0),
    emptied: fewer.filter((id) => routesOf(after.get(id)).length === 0),
  };
}

/** Without these models, which are there. */
export function withoutModels(text: string, ids: readonly string[]): string {
  if (ids.length === 0) return text;
  const { document, root } = open(text);
  const models = root.get("models");
  if (isMap(models)) for (const id of ids) drop(models, id);
  try {
    return write(document, text);
  } catch (cause) {
    throw new Problem({
      code: "conflict",
      message: `${ids.join(", ")}: another model uses an anchor (& and *) of one of these, so it cannot be taken over. Write what they share out for each, and run this again. Nothing was changed.`,
      cause,
    });
  }
}

/** A draft as it would stand in a file of its own, without the words at its head. */
export function fragmentOf(draft: ManifestDraft): string {
  return addToManifest("", draft).text.replace(/^(#[^\n]*\n|\n)+/, "");
}

/** The names of the entries that a section of svc.yaml has. */
export function namesOf(text: string, name: "providers" | "models"): readonly string[] {
  const entries = open(text).root.get(name);
  return isMap(entries)
    ? entries.items.map(({ key }) => String(isScalar(key) ? key.value : key))
    : [];
}

/** Without the gap that was between it and the next; a heading of several stays for the rest. */
function drop(map: YAMLMap, name: string): void {
  const at = map.items.findIndex(({ key }) => isScalar(key) && key.value === name);
  const [gone] = map.items.splice(at, 1);
  const next = map.items[at]?.key;
  const heading = isScalar(gone?.key) ? headingOf(gone.key.commentBefore ?? "") : undefined;
  if (isScalar(next) && at === 0) next.spaceBefore = false;
  if (heading === undefined) return;
  if (isScalar(next)) next.commentBefore = `${heading}\n\n${next.commentBefore ?? ""}`;
  else map.comment = `\n${heading}${map.comment == null ? "" : `\n${map.comment}`}`;
}

/** What a blank line parts from the entry below. */
function headingOf(comment: string): string | undefined {
  const end = comment.endsWith("\n") ? comment.length - 1 : comment.lastIndexOf("\n\n");
  return end === -1 ? undefined : comment.slice(0, end);
}

function open(text: string): { readonly document: Document; readonly root: YAMLMap } {
  const { problems } = parseYaml(text);
  if (problems.length > 0) throw new Problem({ code: "invalid", message: problems.join("\n") });
  const document = parseWithComments(text);
  const { contents } = document;
  if (isMap(contents)) return { document, root: contents };
  if (contents !== null && !(isScalar(contents) && contents.value === ""))
    throw new Problem({ code: "invalid", message: "line 1: the file must be a map of fields" });
  const root = new YAMLMap(document.schema);
  document.contents = root;
  const comments = [document.commentBefore, document.comment].filter((each) => each != null);
  document.commentBefore = comments.length === 0 ? head : comments.join("\n\n");
  document.comment = null;
  return { document, root };
}

type Models = ReadonlyMap<string, unknown>;

/** As they read with all that their aliases stand for. */
function modelsOf(document: Document): Models {
  let root: unknown;
  try {
    root = document.toJS();
  } catch (cause) {
    throw cannotEdit(cause);
  }
  return new Map(isRecord(root) && isRecord(root["models"]) ? Object.entries(root["models"]) : []);
}

/** What an anchor shares, a change of one model would change for others. */
function checkShared(before: Models, after: Models, grown: ReadonlyMap<string, number>): void {
  for (const [id, model] of before) {
    const now = after.get(id);
    const more = grown.get(id) ?? 0;
    const isRight =
      more === 0
        ? Bun.deepEquals(now, model, true)
        : routesOf(now).length === routesOf(model).length + more;
    if (!isRight)
      throw new Problem({
        code: "conflict",
        message: `Model ${id} shares its routes with another by an anchor (& and *), so none can be added to one of them alone. Write the routes out for each, and run this again. Nothing was changed.`,
      });
  }
}

const resolved = (document: Document, node: unknown) =>
  isAlias(node) ? node.resolve(document) : node;

function routesOf(model: unknown): readonly unknown[] {
  const routes = isRecord(model) ? model["routes"] : undefined;
  return Array.isArray(routes) ? routes : [];
}

/** The map of that name; made where there is none, or nothing behind its name. */
function section(document: Document, root: YAMLMap, name: string): YAMLMap {
  const value = root.get(name, true);
  if (isMap(value)) {
    // What was written as {} has entries a line each, like any other.
    if (value.items.length === 0) value.flow = false;
    return value;
  }
  if (value !== undefined && !(isScalar(value) && value.value === ""))
    throw new Problem({ code: "invalid", message: `${name} must be a map by name` });
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
  const existing = resolved(document, model.get("routes"));
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
    const old = parseWithComments(text);
    // Of a file without fields there are only comments, which the document has kept.
    if (!isMap(old.contents)) return after;
    const kept = keepLines({ text, before: old.toString(style), after });
    return kept !== undefined && isSame(kept, document) ? kept : after;
  } catch (cause) {
    throw cannotEdit(cause);
  }
}

function cannotEdit(cause: unknown): Problem {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Problem({
    code: "invalid",
    message: `The file cannot be edited: ${message}. Edit it by hand.`,
    cause,
  });
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
