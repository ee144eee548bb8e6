import { isIP } from "node:net";
import { referencedName } from "../../base/stored-reference.ts";
import { findVendor, vendors } from "../../catalog/vendors.ts";
import type { ProviderDraft } from "../draft.ts";
import type { Remarks, Source } from "./source.ts";
import { findPrefix, modelAtVendor, type NamedModel, type Prefix } from "./vendors.ts";

/** Where an entry leads: a provider of svc.yaml, and the name that the model has there. */
export interface Target {
  /** What its provider is called if there is no other of the kind. */
  readonly name: string;
  /** What tells it from others of the kind, the best first. */
  readonly hints: readonly string[];
  readonly fields: ProviderDraft;
  readonly model: string;
}

export interface TargetOptions {
  readonly params: Source;
  readonly named: NamedModel;
  /** Undefined where the variable is not set. */
  readonly variable: (name: string) => string | undefined;
  readonly keys: KeyReader;
  readonly remarks: Remarks;
}

interface Found extends TargetOptions {
  readonly base: string | undefined;
  readonly prefix: Prefix;
  readonly model: string;
}

/** Undefined where it leads nowhere that this gateway can call; that is noted. */
export function readTarget(options: TargetOptions): Target | undefined {
  const { params, named, remarks } = options;
  const prefix = findPrefix(named.prefix);
  const base = readBase(options, prefix);
  const line = params.line("model");
  if (prefix === undefined) {
    const written = params.text("model") ?? "";
    if (base === undefined) {
      const vendor = named.prefix ?? written.split("/")[0] ?? "";
      remarks.note(
        line,
        `${written} is not imported: unknown vendor "${vendor}". If it is OpenAI-compatible, add an api_base to the entry`,
      );
      return undefined;
    }
    remarks.note(
      line,
      `${written} is imported as a model of an OpenAI-compatible server; check it with svc provider test`,
    );
    const compatible: Prefix = { name: "openai", way: "openai" };
    return readCompatible({ ...options, base, prefix: compatible, model: named.model });
  }
  const found: Found = { ...options, base, prefix, model: modelAtVendor(named) };
  const address = base === undefined ? {} : { base_url: base };
  switch (prefix.way) {
    case "openai":
      return readCompatible(found);
    case "azure":
      return readAzure(found);
    case "anthropic": {
      const plain = base?.replace(/(\/v1)?(\/messages)?\/*$/, "");
      const own = plain === undefined ? {} : { base_url: `${plain}/v1` };
      return withKey(found, { kind: "anthropic", ...own });
    }
    case "gemini":
      return withKey(found, { kind: "gemini", ...address });
    case "vertex":
      return readVertex(found);
    case "bedrock":
      return readBedrock(found);
    case "none":
      remarks.note(
        line,
        `${prefix.name}/${found.model} is not imported: there is no adapter for ${prefix.name}. Use its models through Bedrock or OpenRouter`,
      );
      return undefined;
    default:
      return prefix.way satisfies never;
  }
}

/** An address stands in svc.yaml as it is: one that is kept in a variable is looked up now. */
function readBase(
  { params, variable, remarks }: TargetOptions,
  prefix: Prefix | undefined,
): string | undefined {
  const trim = (text = "") => text.replace(/\/+$/, "") || undefined;
  const field = params.has("api_base") ? "api_base" : "base_url";
  const text = params.text(field);
  params.use("api_base", "base_url");
  const name = variableOf(text);
  if (name === undefined)
    return trim(text ?? (prefix?.baseVariable && variable(prefix.baseVariable)));
  const found = trim(variable(name));
  if (found === undefined)
    remarks.problem(
      params.line(field),
      `${field} refers to ${name}, which is not set; set it for the import, or write the address`,
    );
  return found;
}

function withoutBase({ params, named, remarks }: Found): undefined {
  remarks.problem(params.line("model"), `${named.prefix} requires an api_base`);
}

function readCompatible(found: Found): Target | undefined {
  const { base, prefix } = found;
  const vendor = prefix.vendor === undefined ? undefined : findVendor(prefix.vendor);
  const hasOwnPath = vendor?.id === "ollama" || vendor?.id === "huggingface";
  const given = hasOwnPath ? base?.replace(/(\/v1)?$/, "/v1") : base;
  const address = given ?? vendor?.baseUrl ?? prefix.baseUrl;
  if (address === undefined) return withoutBase(found);
  // A server of another make, behind the prefix that LiteLLM wants for all compatible ones.
  const isOwn = vendor?.id !== "openai" || hostOf(address) === hostOf(vendor.baseUrl);
  const maker = vendors.find((one) => hostOf(one.baseUrl) === hostOf(address) && !one.isLocal);
  const isNamed = vendor !== undefined && isOwn && prefix.name !== "openai";
  const name =
    isNamed || maker !== undefined || given === undefined
      ? (maker?.id ?? prefix.name)
      : addressName(address);
  const [through = "", ...rest] =
    name === "huggingface" && given === undefined ? found.model.split("/") : [];
  const model = rest.length > 1 ? `${rest.join("/")}:${through}` : found.model;
  const { keyVariable: _, ...keyless } = prefix;
  return withKey(
    // Another vendor's server must not be sent this one's key.
    { ...found, base: address, prefix: { ...(isOwn ? prefix : keyless), name }, model },
    {
      ...(vendor !== undefined && isOwn ? { vendor: vendor.id } : { kind: "openai" }),
      ...(address === vendor?.baseUrl && isOwn ? {} : { base_url: address }),
    },
  );
}

function readAzure(found: Found): Target | undefined {
  const { base, model } = found;
  if (base === undefined) return withoutBase(found);
  const deployment = /\/deployments\/([^/?]+)/.exec(base)?.[1];
  const plain = base.replace(/\/openai(\/.*)?$|\/models$/, "").replace(/\/+$/, "");
  const fields = { vendor: "azure", base_url: `${plain}/openai/v1` };
  return withKey({ ...found, model: deployment ?? model }, fields);
}

/** A provider with one key: the entry's, else that of the variable in which LiteLLM looks. */
function withKey(
  { params, base, prefix, keys, remarks, model }: Found,
  own: ProviderDraft,
): Target {
  const written = keys.read(params, "api_key");
  const isNeeded = own["kind"] === "anthropic" || own["kind"] === "gemini";
  const isOpen = !params.has("api_key") || (isNeeded && written === undefined);
  const usual = isOpen ? prefix.keyVariable : undefined;
  if (usual !== undefined)
    remarks.note(
      params.line("model"),
      `no api_key: \${${usual}} is used for ${prefix.name}, as in LiteLLM`,
    );
  const key = written ?? (usual === undefined ? undefined : `\${${usual}}`);
  const place = prefix.way === "azure" ? hostOf(base).split(".")[0] : "";
  const address = own["base_url"] === undefined ? "" : addressName(base);
  return {
    name: prefix.name,
    hints: [toName(place), variableHint(key, prefix.name), address].filter((hint) => hint !== ""),
    fields: {
      ...own,
      ...(key === undefined ? {} : { api_key: key }),
      ...(base !== undefined && looksPrivate(base) ? { allow_private: true } : {}),
    },
    model,
  };
}

const partners =
  /^(claude|meta\/|mistral|codestral|jamba|deepseek|qwen|openai\/|xai\/|moonshot|minimax)/;

function readVertex({ params, keys, remarks, model }: Found): Target | undefined {
  if (partners.test(model)) {
    remarks.note(
      params.line("model"),
      `vertex_ai/${model} is not imported: kind vertex serves only Google models`,
    );
    return undefined;
  }
  const project = plain(params.text("vertex_project")) ?? "${VERTEXAI_PROJECT}";
  const location = plain(params.text("vertex_location")) ?? "us-central1";
  const usual = "${GOOGLE_APPLICATION_CREDENTIALS}";
  const isWritten = params.has("vertex_credentials");
  const written = isWritten ? (plain(params.text("vertex_credentials")) ?? "") : usual;
  // The import may be another person's, and would sign in with any file of this machine.
  const isFile = /^[^${].*\.json$/s.test(written);
  if (isFile)
    remarks.note(
      params.line("vertex_credentials"),
      `vertex_credentials names a file, which an import does not take: ${usual} is used instead. Name another file in svc.yaml`,
    );
  const credentials =
    isFile || written === usual
      ? { credentials_file: usual }
      : { credentials: keys.read(params, "vertex_credentials") };
  return {
    name: "vertex",
    hints: [location, project].map((one) => variableHint(one, "vertex") || toName(one)),
    fields: { kind: "vertex", project, location, ...credentials },
    model,
  };
}

function readBedrock({ params, keys, remarks, model }: Found): Target {
  const [, ownRegion, rest = model] = /^([a-z]{2}(?:-[a-z]+)+-\d)\/(.+)$/.exec(model) ?? [];
  const region = plain(params.text("aws_region_name")) ?? ownRegion ?? "${AWS_REGION}";
  const hasPair = params.has("aws_access_key_id");
  if (!params.has("api_key") && !hasPair)
    remarks.note(
      params.line("model"),
      "no credentials: ${AWS_ACCESS_KEY_ID} and ${AWS_SECRET_ACCESS_KEY} are used for bedrock; profiles and roles are not supported",
    );
  const read = (field: string) =>
    hasPair ? keys.read(params, `aws_${field}`) : `\${AWS_${field.toUpperCase()}}`;
  const token = keys.read(params, "aws_session_token");
  const credentials = params.has("api_key")
    ? { api_key: keys.read(params, "api_key") }
    : {
        access_key_id: read("access_key_id"),
        secret_access_key: read("secret_access_key"),
        ...(token === undefined ? {} : { session_token: token }),
      };
  return {
    name: "bedrock",
    hints: [variableHint(region, "bedrock") || toName(region)],
    fields: { kind: "bedrock", region, ...credentials },
    model: rest,
  };
}

/** What people write where a server wants a key and looks at none. */
const placeholder =
  /^(none|empty|dummy|fake|any|anything|xxx+|n\/a|na|not[-_ ]?(needed|required|used)|no[-_ ]?key|(sk-)?(fake|dummy|no)[-_]?(api[-_]?)?key([-_]required)?|sk-(1234|none|dummy|fake))$/i;

/** Reads keys: by reference, or as they are if the operator allows it. Never shows them. */
export class KeyReader {
  readonly #remarks: Remarks;
  readonly #keepKeys: boolean;
  /** All that were written out and are kept. */
  readonly literals = new Set<string>();

  constructor(options: { readonly remarks: Remarks; readonly keepKeys: boolean }) {
    this.#remarks = options.remarks;
    this.#keepKeys = options.keepKeys;
  }

  read(source: Source, field: string): string | undefined {
    const text = source.text(field);
    if (!source.has(field)) return undefined;
    const line = source.line(field);
    const name = variableOf(text);
    if (name !== undefined) return `\${${name}}`;
    if (text === undefined) this.#remarks.problem(line, `${field} must be a string`);
    else if (field === "api_key" && placeholder.test(text))
      this.#remarks.note(line, `${field} is a placeholder and is omitted`);
    else if (this.#keepKeys) {
      this.literals.add(text);
      return text;
    } else
      this.#remarks.problem(
        line,
        `${field} is in plain text: put it into a variable and write os.environ/NAME, or import with --keep-keys, which encrypts it`,
      );
    return undefined;
  }
}

export const variableOf = (text = "") =>
  text.startsWith("os.environ/") ? text.slice("os.environ/".length) : undefined;

/** `os.environ/NAME` is `${NAME}` here. */
const plain = (text: string | undefined) => {
  const name = variableOf(text);
  return name === undefined ? text : `\${${name}}`;
};

/** OPENAI_API_KEY_EU is the one for eu. */
function variableHint(text = "", vendor = ""): string {
  const dull = ["api", "key", "token", "secret", "openai", "ai", ...vendor.split("-")];
  const words = (referencedName(text) ?? "").toLowerCase().split("_");
  return toName(words.filter((word) => !dull.includes(word)).join("-"));
}

const nearby =
  /^(0|10|127|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^f[cd]|^::1$/;

/** Of the operator's own network: it needs allow_private. Names without a dot are containers'. */
function looksPrivate(baseUrl: string): boolean {
  const host = hostOf(baseUrl);
  if (isIP(host) !== 0) return nearby.test(host);
  return !host.includes(".") || /\.(localhost|local|lan|internal|home|svc|test)$/.test(host);
}

const hostOf = (baseUrl = "") =>
  URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/^\[|\]$/g, "").toLowerCase() : "";

/** A name for people: the host, and the port where the host alone says little. */
function addressName(baseUrl = ""): string {
  const host = hostOf(baseUrl).replace(/^(api|www)\./, "");
  const isVague = isIP(host) !== 0 || /^(localhost|host\.docker\.internal)$/.test(host);
  return toName(isVague ? `${host}-${new URL(baseUrl).port}` : host);
}

/** Letters, digits and - only, as names of providers have them. */
export const toName = (text = "") =>
  text
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase()
    .slice(0, 50);
