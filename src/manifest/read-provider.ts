import { removedKind, removedKindWords } from "../base/removed-kind.ts";
import { isReserved, reservedReference } from "../base/reserved-variable.ts";
import { referencedName, storedReference } from "../base/stored-reference.ts";
import { engineProvider } from "../catalog/model.ts";
import { defaultKey, keyNameText, mostKeys, mostKeyWeight } from "../catalog/provider-keys.ts";
import {
  type ProviderKind,
  type ProviderKindShape,
  providerKindShapes,
  providerKinds,
} from "../catalog/provider-kinds.ts";
import { findVendor, type Vendor, vendors } from "../catalog/vendors.ts";
import type { Fields } from "./fields.ts";
import { storedMark } from "./literals.ts";

export interface ManifestProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** As written: `${NAME}`, a literal, or `<stored>`. */
  readonly apiKey?: string;
  readonly keys?: readonly ManifestKey[];
  readonly allowPrivate: boolean;
  /** As written, like the key. */
  readonly options?: Readonly<Record<string, string>>;
  /** The fields that are named; the others have their defaults here. */
  readonly stated: readonly string[];
}

export interface ManifestKey {
  readonly name: string;
  /** As written, like `apiKey`. */
  readonly key: string;
  readonly weight: number;
}

/** The fields of every kind; each kind has options of its own. */
export const sharedFields: readonly string[] = [
  "kind",
  "vendor",
  "base_url",
  "api_key",
  "api_keys",
  "allow_private",
];

export type AddressCheck = (baseUrl: string, allowPrivate: boolean) => string | undefined;

export interface ProviderReading {
  readonly checkAddress: AddressCheck;
  /** A provider of the removed kind is kept, serves nothing, and stops no other one from starting. */
  readonly keepsRemoved?: boolean | undefined;
}

/** One entry of `providers:`. A vendor that is known brings its kind and address along. */
export function readProvider(
  fields: Fields,
  { checkAddress, keepsRemoved = false }: ProviderReading,
): ManifestProvider {
  const name = fields.ownName(/^[A-Za-z0-9][\w-]{0,62}$/, "letters, digits, - and _");
  if (name === engineProvider)
    fields.wrong(
      "kind",
      'cannot be set: the provider name "engine" is reserved for the embedded models',
    );
  if (keepsRemoved && fields.isText("kind", removedKind))
    return { name, kind: removedKind, baseUrl: "", allowPrivate: false, stated: ["kind"] };
  const vendor = readVendor(fields);
  const kind = readKind(fields, vendor);
  const shape = providerKindShapes[kind];
  fields.only([
    ...sharedFields,
    ...Object.keys(shape.options).filter((option) => !sharedFields.includes(option)),
  ]);
  const allowPrivate = fields.flag("allow_private");
  const baseUrl = readBaseUrl(fields, shape, vendor);
  const problem = baseUrl === "" ? undefined : checkAddress(baseUrl, allowPrivate);
  if (problem !== undefined) fields.wrong("base_url", problem);
  if (shape.needsKey && !fields.has("api_key") && !fields.has("api_keys"))
    fields.wrong("api_key", "is missing: write ${NAME} to read it from an environment variable");
  const apiKey = readReference(fields, "api_key");
  const keyProblem = apiKey === undefined ? undefined : problemOfKey(apiKey);
  if (keyProblem !== undefined) fields.wrong("api_key", keyProblem);
  const keys = readKeys(fields);
  const options = readOptions(fields, shape);
  return {
    name,
    kind,
    baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(keys.length === 0 ? {} : { keys }),
    allowPrivate,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    stated: statedFields(fields),
  };
}

/** What follows from the vendor or the kind is stated with it; what is `<stored>` is left alone. */
function statedFields(fields: Fields): readonly string[] {
  const named = fields
    .names()
    .filter((name) => fields.has(name) && !fields.isText(name, storedMark));
  return [...new Set(["kind", "vendor", "base_url", ...named])];
}

function readVendor(fields: Fields): Vendor | undefined {
  const id = fields.optionalText("vendor");
  const vendor = id === undefined ? undefined : findVendor(id);
  if (id !== undefined && vendor === undefined)
    fields.wrong(
      "vendor",
      `is not a known vendor; use one of: ${vendors.map((one) => one.id).join(", ")}`,
    );
  return vendor;
}

function readKind(fields: Fields, vendor: Vendor | undefined): ProviderKind {
  if (vendor !== undefined && !fields.has("kind")) return vendor.kind;
  if (fields.isText("kind", removedKind)) {
    fields.wrong("kind", `was removed (${removedKind}). ${removedKindWords.advice}`);
    return removedKind;
  }
  const kind = fields.word("kind", providerKinds) ?? "openai";
  if (vendor !== undefined && vendor.kind !== kind)
    fields.wrong("kind", `must be ${vendor.kind} for ${vendor.title}`);
  return kind;
}

function readBaseUrl(fields: Fields, shape: ProviderKindShape, vendor: Vendor | undefined): string {
  const usual = vendor === undefined || vendor.baseUrl === "" ? shape.baseUrl : vendor.baseUrl;
  const isUsual = usual !== undefined && !usual.includes("{");
  const given = isUsual ? fields.optionalText("base_url") : fields.text("base_url");
  if (given === undefined && usual?.includes("{") === true)
    fields.wrong("base_url", `must have the form ${usual}`);
  return (given ?? usual ?? "").replace(/\/+$/, "");
}

function readOptions(fields: Fields, shape: ProviderKindShape): Readonly<Record<string, string>> {
  const options: Record<string, string> = {};
  for (const [name, { isNeeded, words }] of Object.entries(shape.options)) {
    if (isNeeded === true) fields.text(name);
    const isWord = words !== undefined && fields.has(name);
    const value = isWord ? fields.word(name, words) : readReference(fields, name);
    if (value !== undefined) options[name] = value;
  }
  return options;
}

function readKeys(fields: Fields): readonly ManifestKey[] {
  const given = fields.list("api_keys");
  if (given.length > mostKeys) fields.wrong("api_keys", `must have at most ${mostKeys} keys`);
  const taken = new Set(fields.has("api_key") ? [defaultKey] : []);
  return given.map((one, at) => {
    one.only(["name", "key", "weight"]);
    const name = one.optionalText("name") ?? `key-${at + 1}`;
    if (!keyNameText.test(name))
      one.wrong("name", "is not a valid name: use letters, digits, and . _ -");
    if (taken.has(name)) one.wrong("name", `"${name}" is already taken by another key`);
    taken.add(name);
    if (!one.has("key")) one.wrong("key", "is missing: write ${NAME} or the key itself");
    const key = readReference(one, "key") ?? "";
    const problem = key === "" ? undefined : problemOfKey(key);
    if (problem !== undefined) one.wrong("key", problem);
    const weight = one.optionalInteger("weight", { minimum: 0, maximum: mostKeyWeight }) ?? 1;
    return { name, key, weight };
  });
}

/** Never the key itself in the words. */
function problemOfKey(key: string): string | undefined {
  if (/^\$[A-Za-z_]\w*$/.test(key))
    return `must be \${${key.slice(1)}}, with braces, to refer to a variable`;
  if (storedReference(key) !== undefined || key === storedMark) return undefined;
  if (!/^[\x21-\x7e]+$/.test(key))
    return "must contain only printable ASCII characters without spaces";
  return undefined;
}

/** Text, or `${NAME}` and nothing around it. */
function readReference(fields: Fields, name: string): string | undefined {
  const text = fields.optionalText(name);
  if (text?.includes("${") && storedReference(text) === undefined)
    fields.wrong(
      name,
      text.startsWith("${command:")
        ? `must be exactly \${command:/PATH WORDS}, with an absolute path and words between spaces: no shell runs it, so quotes, $, {, |, <, > and \\ are not possible. Write a script for them, and name the script`
        : `must be exactly \${NAME} for an environment variable, \${file:/PATH} for a file, \${command:/PATH WORDS} for a command, or the ${name.endsWith("key") ? "key" : "value"} itself`,
    );
  const variable = text === undefined ? undefined : referencedName(text);
  if (isReserved(variable ?? "")) fields.wrong(name, reservedReference);
  return text;
}
