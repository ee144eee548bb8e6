import { invalid, Problem } from "../../base/problem.ts";
import { removedKind, removedKindWords } from "../../base/removed-kind.ts";
import { isReserved, reservedVariable } from "../../base/reserved-variable.ts";
import { referencedName, storedReference } from "../../base/stored-reference.ts";
import {
  type ProviderKind,
  type ProviderKindShape,
  providerKindShapes,
  providerKinds,
} from "../../catalog/provider-kinds.ts";
import { findVendor, type Vendor, vendors } from "../../catalog/vendors.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { storedMark } from "../../manifest/literals.ts";
import { isSecretOption } from "../../manifest/provider-entry.ts";

export interface DraftOptions {
  /** A vendor id, or a name for a server of an unknown vendor. */
  readonly word: string;
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly keyEnv?: string | undefined;
  /** A key was handed over, or will be. */
  readonly hasLiteralKey: boolean;
  readonly allowPrivate: boolean;
  /** `name=value` each. */
  readonly options: readonly string[];
  readonly isSet: (variable: string) => boolean;
}

export interface DraftedProvider {
  readonly name: string;
  readonly title: string;
  readonly draft: ProviderDraft;
  /** What must reach the store and not the file, by field. */
  readonly literals: Readonly<Record<string, string>>;
  /** `needed`: it cannot work without; `usual`: most of them want one. */
  readonly lacksKey: "needed" | "usual" | undefined;
  /** The variables in which its key is kept by custom. */
  readonly keyVariables: readonly string[];
}

const nameText = /^[A-Za-z0-9][\w-]{0,62}$/;

/** What svc.yaml would say of a provider that an operator names on the command line. */
export function draftProvider(given: DraftOptions): DraftedProvider {
  const vendor = findVendor(given.word);
  const name = given.name ?? given.word;
  if (!nameText.test(name))
    throw invalid({
      name: `"${name}" is not a valid provider name. Use letters, digits, - and _.`,
    });
  const kind = kindOf(given, vendor);
  const shape = providerKindShapes[kind];
  const key = keyField(given, vendor);
  const { fields, literals } = readOptions({ given, kind, shape, hasKey: key !== undefined });
  const draft: ProviderDraft = {
    ...(vendor !== undefined && kind === "openai" ? { vendor: vendor.id } : { kind }),
    ...addressField(given, vendor, shape),
    ...fields,
    ...(key === undefined ? {} : { api_key: key }),
    ...(given.allowPrivate || vendor?.isLocal === true ? { allow_private: true } : {}),
  };
  return {
    name,
    title: vendor?.title ?? name,
    draft,
    literals,
    lacksKey: key === undefined ? lackOf(kind, vendor, draft) : undefined,
    keyVariables: vendor?.keyVariables ?? [],
  };
}

/** A line a vendor, for people to choose from. */
export function vendorTable(): readonly (readonly [id: string, title: string, about: string])[] {
  return vendors.map(({ id, title, kind, baseUrl, keyVariables, isLocal }) => {
    const needs = Object.entries(providerKindShapes[kind].options)
      .filter(([, { isNeeded }]) => isNeeded === true)
      .map(([option, { variable }]) => variable ?? option);
    const by = [...keyVariables.slice(0, 1), ...needs];
    const where = baseUrl.includes("{") ? `, --base-url ${baseUrl}` : "";
    return [id, title, isLocal === true ? `on this machine, ${baseUrl}` : by.join(", ") + where];
  });
}

function kindOf({ word, kind, baseUrl }: DraftOptions, vendor: Vendor | undefined): ProviderKind {
  const known = providerKinds.find((one) => one === kind);
  if (kind === removedKind)
    throw invalid({ kind: `The ${removedKindWords.what}. ${removedKindWords.advice}` });
  if (kind !== undefined && known === undefined)
    throw invalid({ kind: `Unknown kind "${kind}". Kinds: ${providerKinds.join(", ")}.` });
  if (vendor !== undefined && known !== undefined && known !== vendor.kind)
    throw invalid({ kind: `${vendor.title} is of kind ${vendor.kind}, not ${kind}.` });
  if (vendor !== undefined) return vendor.kind;
  if (known !== undefined) return known;
  if (baseUrl !== undefined) return "openai";
  throw new Problem({
    code: "invalid",
    message: `Unknown vendor "${word}". For your own server, set the base URL, such as https://host/v1.`,
    field: "base_url",
    command: "provider add --help",
  });
}

function addressField(
  { baseUrl }: DraftOptions,
  vendor: Vendor | undefined,
  shape: ProviderKindShape,
): ProviderDraft {
  if (baseUrl !== undefined) return { base_url: baseUrl };
  const usual = vendor === undefined || vendor.baseUrl === "" ? shape.baseUrl : vendor.baseUrl;
  if (usual !== undefined && !usual.includes("{")) return {};
  const form = usual === undefined ? "https://…/v1" : usual;
  throw invalid({ base_url: `Base URL is missing. Expected form: ${form}.` });
}

function keyField(given: DraftOptions, vendor: Vendor | undefined): string | undefined {
  const { keyEnv, hasLiteralKey, isSet } = given;
  if (hasLiteralKey) return storedMark;
  if (keyEnv !== undefined) {
    if (!/^[A-Za-z_]\w*$/.test(keyEnv))
      throw invalid({ key_env: "key_env must be the name of a variable, not the key itself." });
    return reference(keyEnv);
  }
  const usual = vendor?.keyVariables.find(isSet);
  return usual === undefined ? undefined : reference(usual);
}

function lackOf(
  kind: ProviderKind,
  vendor: Vendor | undefined,
  draft: ProviderDraft,
): DraftedProvider["lacksKey"] {
  if (providerKindShapes[kind].needsKey) return "needed";
  const signsIn = ["credentials", "credentials_file", "access_key_id"].some(
    (name) => name in draft,
  );
  return signsIn || vendor === undefined || vendor.keyVariables.length === 0 ? undefined : "usual";
}

interface ReadOptions {
  readonly fields: ProviderDraft;
  readonly literals: Readonly<Record<string, string>>;
}

/** From `--option`, else from where the vendor's own tools look. */
function readOptions(options: {
  readonly given: DraftOptions;
  readonly kind: ProviderKind;
  readonly shape: ProviderKindShape;
  readonly hasKey: boolean;
}): ReadOptions {
  const { given, kind, shape, hasKey } = options;
  const fields: ProviderDraft = {};
  const literals: Record<string, string> = {};
  for (const [name, value] of given.options.map(readPair)) {
    if (!Object.hasOwn(shape.options, name)) throw unknownOption(name, kind, shape);
    const isLiteral = isSecretOption(kind, name) && !/^\$\{\w+\}$/.test(value);
    if (isLiteral) literals[name] = value;
    fields[name] = isLiteral ? storedMark : value;
  }
  for (const [name, { variable, isNeeded, isSecret, about }] of Object.entries(shape.options)) {
    if (name in fields) continue;
    const isFound = variable !== undefined && given.isSet(variable);
    if (isFound && (isNeeded === true || !(hasKey && isSecret === true)))
      fields[name] = reference(variable);
    else if (isNeeded === true)
      throw invalid({
        [`options.${name}`]: `Option ${name} is missing (${about}).${variable === undefined ? "" : ` Set it, or set the variable ${variable}.`}`,
      });
  }
  return { fields, literals };
}

function readPair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw invalid({ options: "Options must have the form name=value." });
  return [text.slice(0, at), text.slice(at + 1)];
}

function unknownOption(name: string, kind: ProviderKind, { options }: ProviderKindShape): Problem {
  const known = Object.entries(options).map(([option, { about }]) => `${option} (${about})`);
  return invalid({
    [`options.${name}`]: `Unknown option "${name}" for kind ${kind}. Options: ${known.join(", ") || "none"}.`,
  });
}

const reference = (variable: string) => `\${${variable}}`;

export function readKey(text: string): {
  readonly keyEnv?: string | undefined;
  readonly literal?: string | undefined;
} {
  if (text === "") return {};
  const keyEnv = referencedName(text);
  checkReference(text, "api_key");
  if (keyEnv !== undefined) return { keyEnv };
  if (text.includes("${") || /^\$[A-Za-z_]\w*$/.test(text))
    throw invalid({
      api_key: "API key must be exactly ${NAME}, with braces, to refer to a variable.",
    });
  // A value that a header cannot carry is not a key; most often it has more than one line.
  if (!/^[\x21-\x7e]+$/.test(text))
    throw invalid({ api_key: "API key must be a single line of printable ASCII without spaces." });
  return { literal: text };
}

/**
 * Otherwise an operator could send the gateway's own secrets, or any file, to another server, or run
 * any program.
 */
export function checkReference(text: string, field: string): void {
  if (text.trim() === storedMark)
    throw invalid({
      [field]: `${storedMark} is not a value: only svc.yaml can name a stored secret so. Enter the value, or leave ${field} out.`,
    });
  const variable = referencedName(text);
  if (variable === undefined && storedReference(text) !== undefined)
    throw invalid({
      [field]:
        "Only svc.yaml can refer to a file or a command. Write ${NAME} for a variable, or the value.",
    });
  if (isReserved(variable ?? "")) throw invalid({ [field]: reservedVariable });
}
