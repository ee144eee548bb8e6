import { Document, Scalar, YAMLMap, YAMLSeq } from "yaml";

/** Fields of one entry of `providers:`, by the names of svc.yaml. */
export type ProviderDraft = Record<string, unknown>;
/** Fields of one entry of `models:`, by the names of svc.yaml. */
export type ModelDraft = Record<string, unknown>;

/** Entries of svc.yaml as plain JSON. */
export interface ManifestDraft {
  readonly providers: Readonly<Record<string, ProviderDraft>>;
  readonly models: Readonly<Record<string, ModelDraft>>;
}

/** The text of a file with these entries: one field per line, routes and small maps in one line. */
export function draftText({ providers, models }: ManifestDraft): string {
  const root = new YAMLMap();
  const add = (name: string, entries: Readonly<Record<string, ProviderDraft>>) => {
    if (Object.keys(entries).length === 0) return;
    const section = new YAMLMap();
    for (const [key, fields] of Object.entries(entries))
      section.set(new Scalar(key), toEntry(fields));
    const key = new Scalar(name);
    key.spaceBefore = root.items.length > 0;
    root.set(key, section);
  };
  add("providers", providers);
  add("models", models);
  if (root.items.length === 0) return "";
  // "failsafe" knows texts alone, so that `true` and numbers stand without quotes.
  const document = new Document(undefined, { schema: "failsafe" });
  document.contents = root;
  return document.toString({ lineWidth: 0 });
}

function toEntry(fields: Readonly<Record<string, unknown>>): YAMLMap {
  const map = new YAMLMap();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) map.set(new Scalar(name), toField(name, value));
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

/** As a file would have it: every scalar is text, and what is null or undefined is not there. */
export function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts);
  if (!isRecord(value)) return String(value);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) =>
      one === undefined || one === null ? [] : [[key, asTexts(one)] as const],
    ),
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
