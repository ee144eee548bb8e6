import { upstreamError } from "../kit/failure.ts";
import { SetupFault } from "../kit/setup-fault.ts";
import type { BridgeFetch } from "./bridge-fetch.ts";
import type { EmbeddingModel, Fields, LanguageModel } from "./model.ts";
import { isFields } from "./model.ts";
import { Recent } from "./recent.ts";

export interface PackageSettings {
  readonly name: string;
  readonly kind: "anthropic" | "bedrock" | "ai-sdk";
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly options: Readonly<Record<string, string>>;
}

/** A provider package: loaded when it is first called, so that a start without it costs nothing. */
export class ProviderPackage {
  readonly #settings: PackageSettings;
  readonly #fetch: BridgeFetch;
  readonly #chatModels = new Recent<LanguageModel>();
  readonly #embeddingModels = new Recent<EmbeddingModel>();
  #loading: Promise<unknown> | undefined;

  constructor(settings: PackageSettings, fetch: BridgeFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  /** At once, where it was called before: making one costs more than calling it. */
  languageModel(id: string): LanguageModel | Promise<LanguageModel> {
    return this.#chatModels.get(id) ?? this.#makeChatModel(id);
  }

  embeddingModel(id: string): EmbeddingModel | Promise<EmbeddingModel> {
    return this.#embeddingModels.get(id) ?? this.#makeEmbeddingModel(id);
  }

  async #makeChatModel(id: string): Promise<LanguageModel> {
    const model = await this.#make(["languageModel", "chat"], id);
    if (!isLanguageModel(model)) throw this.#missing("callable chat models");
    return this.#chatModels.keep(id, model);
  }

  async #makeEmbeddingModel(id: string): Promise<EmbeddingModel> {
    const model = await this.#make(["embeddingModel", "textEmbeddingModel"], id);
    if (!isEmbeddingModel(model)) throw this.#missing("embedding models");
    return this.#embeddingModels.keep(id, model);
  }

  async #make(makers: readonly string[], id: string): Promise<unknown> {
    const provider = await (this.#loading ??= this.#load());
    const make = makers.map((name) => memberOf(provider, name)).find(isFunction);
    return make?.call(provider, id);
  }

  async #load(): Promise<unknown> {
    const create = factoryIn(await this.#import(), this.#settings.options["factory"]);
    if (create === undefined) throw this.#missing("export that creates a provider");
    return create({ ...toPackageSettings(this.#settings), fetch: this.#fetch });
  }

  #import(): Promise<unknown> {
    const { kind, name, options } = this.#settings;
    if (kind === "anthropic") return import("@ai-sdk/anthropic");
    if (kind === "bedrock") return import("@ai-sdk/amazon-bedrock");
    const wanted = options["package"] ?? "";
    return importPackage(wanted).catch((cause: unknown) => {
      const isThere = cause instanceof Error && !isNotFound(cause);
      const reason = isThere ? `cannot be loaded (${cause.name})` : "is not installed";
      const install = `run npm install ${installedAs(wanted)} in the project directory`;
      const help = isThere ? "" : `; ${install} and restart the gateway`;
      const fault = new SetupFault("package", {
        what: `The package ${wanted} ${reason}.`,
        advice: isThere
          ? packageAdvice
          : `On the gateway's machine, ${install} and restart the gateway.`,
        cause,
      });
      throw upstreamError("upstream_unavailable", {
        detail: `${name}: the package ${wanted} ${reason}${help}`,
        reason: "missing",
        cause: fault,
      });
    });
  }

  #missing(what: string) {
    const { name, options, kind } = this.#settings;
    const wanted = options["package"] ?? kind;
    return upstreamError("upstream_unavailable", {
      detail: `${name}: the package ${wanted} has no ${what}`,
      reason: "missing",
      cause: new SetupFault("package", {
        what: `The package ${wanted} has no ${what}.`,
        advice: packageAdvice,
      }),
    });
  }
}

const packageAdvice =
  "Check that it is a recent AI SDK provider package. Set factory if the provider is created by an export with another name.";

/** Package names only: a path could load any code. */
async function importPackage(name: string): Promise<unknown> {
  if (!/^(@[\w.-]+\/)?[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(name))
    throw new TypeError("not a package name");
  return import(name);
}

function isNotFound({ message, name }: Error): boolean {
  return name === "ResolveMessage" || /cannot find (module|package)/i.test(message);
}

/** A package may have several entries; what is installed is the whole. */
function installedAs(name: string): string {
  const [first = "", second = ""] = name.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

/** The export that was named; else the first that is called as all of them are. */
function factoryIn(module: unknown, named: string | undefined) {
  if (!isFields(module)) return undefined;
  const names = Object.keys(module).filter((name) => /^create[A-Z]/.test(name));
  return [named ?? "", ...(named === undefined ? names : [])]
    .map((name) => module[name])
    .find(isFunction);
}

/** What a package's factory is given. What we know is always said: packages look around otherwise. */
export function toPackageSettings({ kind, baseUrl, apiKey, options }: PackageSettings): Fields {
  const address = baseUrl === "" ? {} : { baseURL: baseUrl };
  switch (kind) {
    case "anthropic":
      return { ...address, apiKey: apiKey ?? "" };
    case "bedrock":
      return {
        ...address,
        region: options["region"] ?? "",
        // Without a key, requests are signed behind the package's back.
        apiKey: apiKey ?? "signed",
      };
    case "ai-sdk":
      return {
        // Packages for compatible servers ask for usage only when told to.
        includeUsage: true,
        ...address,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...passedOn(options),
      };
    default:
      return kind satisfies never;
  }
}

const prefix = "options.";

/** Texts as they stand; `true`, `false` and JSON objects as what they mean. */
function passedOn(options: Readonly<Record<string, string>>): Fields {
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options))
    if (name.startsWith(prefix)) settings[name.slice(prefix.length)] = meaningOf(value);
  return settings;
}

function meaningOf(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "function" || isFields(value) ? Reflect.get(value, name) : undefined;
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/** Versions before the second have another form. */
function isLanguageModel(value: unknown): value is LanguageModel {
  return (
    /^v[2-4]$/.test(String(memberOf(value, "specificationVersion"))) &&
    isFunction(memberOf(value, "doStream")) &&
    isFunction(memberOf(value, "doGenerate")) &&
    typeof memberOf(value, "provider") === "string"
  );
}

function isEmbeddingModel(value: unknown): value is EmbeddingModel {
  return isFunction(memberOf(value, "doEmbed")) && typeof memberOf(value, "provider") === "string";
}
