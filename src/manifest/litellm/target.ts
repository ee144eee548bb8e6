import { findVendor, vendors } from "../../catalog/vendors.ts";
import { referencedName } from "../../secrets/secrets.ts";
import type { ProviderDraft } from "../draft.ts";
import { addressName, hostOf, looksPrivate, toName, withPath } from "./address.ts";
import type { Secret } from "./secret.ts";
import type { Remarks, Source } from "./source.ts";
import { modelAtVendor, type NamedModel, type Prefix, prefixes } from "./vendors.ts";

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
  readonly secret: Secret;
  readonly remarks: Remarks;
}

/** Undefined where it leads nowhere that this gateway can call; that is told. */
export function readTarget(options: TargetOptions): Target | undefined {
  const { params, named, remarks } = options;
  const base = readBase(options);
  const prefix = prefixOf(named);
  if (prefix === undefined) return readUnknown(options, base);
  const model = modelAtVendor(named.prefix ?? "", named.model);
  switch (prefix.way) {
    case "openai":
      return readCompatible({ ...options, base, prefix, model });
    case "azure":
      return readAzure({ ...options, base, prefix, model });
    case "anthropic": {
      const plain = base?.replace(/(\/v1)?(\/messages)?\/*$/, "");
      const address = plain === undefined ? {} : { base_url: withPath(plain, "/v1") };
      return readKeyed({
        ...options,
        base,
        prefix,
        model,
        fields: { kind: "anthropic", ...address },
      });
    }
    case "gemini": {
      const address = base === undefined ? {} : { base_url: base };
      return readKeyed({ ...options, base, prefix, model, fields: { kind: "gemini", ...address } });
    }
    case "vertex":
      return readVertex({ ...options, model });
    case "bedrock":
      return readBedrock({ ...options, model });
    case "ai-sdk": {
      remarks.note(
        params.line("model"),
        `${prefix.name} is called through ${prefix.package}: install that package (npm install ${prefix.package})`,
      );
      const address = base === undefined ? {} : { base_url: base };
      const fields = { kind: "ai-sdk", package: prefix.package, ...address };
      return readKeyed({ ...options, base, prefix, model, fields });
    }
    default:
      return prefix.way satisfies never;
  }
}

function prefixOf({ prefix }: NamedModel): Prefix | undefined {
  return prefix !== undefined && Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined;
}

interface Found extends TargetOptions {
  readonly base: string | undefined;
  readonly prefix: Prefix;
  readonly model: string;
}

/** An address stands in svc.yaml as it is: one that is kept in a variable is looked up now. */
function readBase({ params, named, variable, remarks }: TargetOptions): string | undefined {
  const field = params.has("api_base") ? "api_base" : "base_url";
  const text = params.text(field);
  params.use("api_base", "base_url");
  const name = text?.startsWith("os.environ/") === true ? text.slice("os.environ/".length) : "";
  const usual = prefixOf(named)?.baseVariable;
  if (text !== undefined && name === "") return trim(text);
  if (name === "") return usual === undefined ? undefined : trim(variable(usual));
  const found = trim(variable(name));
  if (found === undefined)
    remarks.problem(
      params.line(field),
      `${field} is kept in ${name}, which is not set here: set it for the import, or write the address`,
    );
  return found;
}

const trim = (text: string | undefined) =>
  text === undefined || text === "" ? undefined : text.replace(/\/+$/, "");

function readUnknown(options: TargetOptions, base: string | undefined): Target | undefined {
  const { params, named, remarks } = options;
  const written = params.text("model") ?? "";
  if (base === undefined) {
    const vendor = named.prefix ?? written.split("/")[0] ?? "";
    remarks.note(
      params.line("model"),
      `${written} is not taken over: no provider here is known as ${vendor}. If it speaks OpenAI's format, give the entry an api_base; else see kind ai-sdk`,
    );
    return undefined;
  }
  remarks.note(
    params.line("model"),
    `${written} is taken for a model of an OpenAI-compatible server: check it with svc provider test`,
  );
  const prefix: Prefix = { name: "openai", way: "openai" };
  return readCompatible({ ...options, base, prefix, model: named.model });
}

function readCompatible(found: Found): Target | undefined {
  const { params, named, prefix, remarks } = found;
  const isOllama = prefix.vendor === "ollama";
  const isHuggingFace = prefix.vendor === "huggingface";
  const base =
    found.base !== undefined && (isOllama || isHuggingFace)
      ? withPath(found.base, "/v1")
      : found.base;
  const vendor = prefix.vendor === undefined ? undefined : findVendor(prefix.vendor);
  const usual = vendor?.baseUrl ?? prefix.baseUrl;
  const address = base ?? usual;
  if (address === undefined) {
    remarks.problem(params.line("model"), `${named.prefix} needs an api_base`);
    return undefined;
  }
  // A server of another make, behind the prefix that LiteLLM wants for all compatible ones.
  const isOwn = vendor?.id !== "openai" || hostOf(address) === hostOf(vendor.baseUrl);
  const maker = vendors.find((one) => hostOf(one.baseUrl) === hostOf(address) && !one.isLocal);
  const fields = {
    ...(vendor !== undefined && isOwn ? { vendor: vendor.id } : { kind: "openai" }),
    ...(address === vendor?.baseUrl && isOwn ? {} : { base_url: address }),
  };
  const isNamed = vendor !== undefined && isOwn && prefix.name !== "openai";
  const name =
    isNamed || maker !== undefined || base === undefined
      ? (maker?.id ?? prefix.name)
      : addressName(address);
  const parts = name === "huggingface" && base === undefined ? found.model.split("/") : [];
  const [through = "", ...rest] = parts;
  const model = rest.length > 1 ? `${rest.join("/")}:${through}` : found.model;
  return readKeyed({
    ...found,
    base: address,
    prefix: { ...prefix, name },
    // Another vendor's server must not be sent this one's key.
    ...(isOwn ? {} : { withoutUsualKey: true }),
    model,
    fields,
  });
}

function readAzure(found: Found): Target | undefined {
  const { params, base, prefix, remarks } = found;
  if (base === undefined) {
    remarks.problem(params.line("model"), `${found.named.prefix} needs an api_base`);
    return undefined;
  }
  const deployment = /\/deployments\/([^/?]+)/.exec(base)?.[1];
  const plain = base.replace(/\/openai(\/.*)?$|\/models$/, "").replace(/\/+$/, "");
  return readKeyed({
    ...found,
    model: deployment ?? found.model,
    prefix,
    fields: { vendor: "azure", base_url: `${plain}/openai/v1` },
  });
}

function readKeyed(
  options: Found & { readonly fields: ProviderDraft; readonly withoutUsualKey?: true },
): Target {
  const { params, base, prefix, secret, remarks, fields, model } = options;
  const isPrivate = base !== undefined && looksPrivate(base);
  const written = secret.read(params, "api_key");
  const isNeeded = fields["kind"] === "anthropic" || fields["kind"] === "gemini";
  const isOpen = !params.has("api_key") || (isNeeded && written === undefined);
  const usual = isOpen && !options.withoutUsualKey ? prefix.keyVariable : undefined;
  if (usual !== undefined)
    remarks.note(
      params.line("model"),
      `no api_key: \${${usual}} is taken for ${prefix.name}, as LiteLLM does`,
    );
  const key = written ?? (usual === undefined ? undefined : `\${${usual}}`);
  const keyHint = key === undefined ? "" : variableHint(key, prefix.name);
  const isAzure = prefix.way === "azure";
  const place = base === undefined ? "" : isAzure ? (hostOf(base).split(".")[0] ?? "") : "";
  const address = fields["base_url"] === undefined || base === undefined ? "" : addressName(base);
  const hints = [toName(place), keyHint, address];
  return {
    name: prefix.name,
    hints: hints.filter((hint) => hint !== ""),
    fields: {
      ...fields,
      ...(key === undefined ? {} : { api_key: key }),
      ...(isPrivate ? { allow_private: true } : {}),
    },
    model,
  };
}

const partners =
  /^(claude|meta\/|mistral|codestral|jamba|deepseek|qwen|openai\/|xai\/|moonshot|minimax)/;

function readVertex(options: TargetOptions & { readonly model: string }): Target | undefined {
  const { params, secret, remarks, model } = options;
  params.use("vertex_project", "vertex_location", "vertex_credentials");
  if (partners.test(model)) {
    remarks.note(
      params.line("model"),
      `vertex_ai/${model} is not taken over: vertex calls Google's own models only; kind ai-sdk with @ai-sdk/google-vertex calls others`,
    );
    return undefined;
  }
  const project = plain(params.text("vertex_project")) ?? "${VERTEXAI_PROJECT}";
  const location = plain(params.text("vertex_location")) ?? "us-central1";
  const written = params.text("vertex_credentials");
  const isFile = written !== undefined && !written.startsWith("{") && written.endsWith(".json");
  const isVariable = written === "os.environ/GOOGLE_APPLICATION_CREDENTIALS";
  const file = isFile && !written.startsWith("os.environ/") ? written : undefined;
  const credentials =
    written === undefined || isVariable
      ? { credentials_file: "${GOOGLE_APPLICATION_CREDENTIALS}" }
      : file === undefined
        ? { credentials: secret.read(params, "vertex_credentials") }
        : { credentials_file: file };
  if (!isVariable && written?.startsWith("os.environ/") === true)
    remarks.note(
      params.line("vertex_credentials"),
      `${plain(written)} must hold the service account's JSON; where it holds the path of a file, write credentials_file in place of credentials`,
    );
  if (params.isMapOrList("vertex_credentials"))
    remarks.problem(
      params.line("vertex_credentials"),
      "vertex_credentials is written out: put the JSON into a file and write its path, or into a variable and write os.environ/NAME",
    );
  return {
    name: "vertex",
    hints: [location, project].map((one) => variableHint(one, "vertex") || toName(one)),
    fields: { kind: "vertex", project, location, ...credentials },
    model,
  };
}

function readBedrock(options: TargetOptions & { readonly model: string }): Target {
  const { params, secret, remarks } = options;
  const [, ownRegion, rest] = /^([a-z]{2}(?:-[a-z]+)+-\d)\/(.+)$/.exec(options.model) ?? [];
  const region = plain(params.text("aws_region_name")) ?? ownRegion ?? "${AWS_REGION}";
  params.use("aws_region_name");
  const hasKey = params.has("api_key");
  const hasPair = params.has("aws_access_key_id");
  if (!hasKey && !hasPair)
    remarks.note(
      params.line("model"),
      "no credentials: ${AWS_ACCESS_KEY_ID} and ${AWS_SECRET_ACCESS_KEY} are taken for bedrock; profiles and roles are not",
    );
  const read = (field: string, variable: string) =>
    hasPair ? secret.read(params, field) : `\${${variable}}`;
  const credentials = hasKey
    ? { api_key: secret.read(params, "api_key") }
    : {
        access_key_id: read("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
        secret_access_key: read("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        ...(params.has("aws_session_token")
          ? { session_token: secret.read(params, "aws_session_token") }
          : {}),
      };
  return {
    name: "bedrock",
    hints: [variableHint(region, "bedrock") || toName(region)],
    fields: { kind: "bedrock", region, ...credentials },
    model: rest ?? options.model,
  };
}

/** `os.environ/NAME` is `${NAME}` here. */
function plain(text: string | undefined): string | undefined {
  const name = text?.startsWith("os.environ/") === true ? text.slice("os.environ/".length) : "";
  return name === "" ? text : `\${${name}}`;
}

/** OPENAI_API_KEY_EU is the one for eu. */
function variableHint(text: string, vendor: string): string {
  const name = referencedName(text);
  if (name === undefined) return "";
  const dull = ["api", "key", "token", "secret", "openai", "ai", ...vendor.split("-")];
  const words = name.toLowerCase().split("_");
  return toName(words.filter((word) => !dull.includes(word)).join("-"));
}
