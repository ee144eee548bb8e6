import { upstreamError } from "../kit/failure.ts";
import type { BridgeFetch } from "./bridge-fetch.ts";
import type { EmbeddingModel, LanguageModel } from "./model.ts";
import { isFields } from "./model.ts";
import { Recent } from "./recent.ts";

export interface PackageSettings {
  readonly name: string;
  readonly kind: "anthropic" | "bedrock";
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
    const model = await this.#make("languageModel", id);
    if (!isLanguageModel(model)) throw this.#missing("callable chat models");
    return this.#chatModels.keep(id, model);
  }

  async #makeEmbeddingModel(id: string): Promise<EmbeddingModel> {
    const model = await this.#make("embeddingModel", id);
    if (!isEmbeddingModel(model)) throw this.#missing("embedding models");
    return this.#embeddingModels.keep(id, model);
  }

  async #make(maker: string, id: string): Promise<unknown> {
    const provider = await (this.#loading ??= this.#load());
    const make = memberOf(provider, maker);
    return isFunction(make) ? make.call(provider, id) : undefined;
  }

  /** Both come with the gateway. Nothing from outside names a package or what is called in it. */
  async #load(): Promise<unknown> {
    const { kind, baseUrl, apiKey, options } = this.#settings;
    // What we know is always set: packages look for it in the environment otherwise.
    const address = baseUrl === "" ? {} : { baseURL: baseUrl };
    // Packages call it and nothing else of it, such as `preconnect`.
    const fetch = this.#fetch as unknown as typeof globalThis.fetch;
    if (kind === "anthropic") {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ ...address, apiKey: apiKey ?? "", fetch });
    }
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    // Without a key, requests are signed behind the package's back.
    const key = apiKey ?? "signed";
    return createAmazonBedrock({ ...address, region: options["region"] ?? "", apiKey: key, fetch });
  }

  #missing(what: string) {
    const { name, kind } = this.#settings;
    return upstreamError("upstream_unavailable", {
      detail: `${name}: the package for ${kind} has no ${what}`,
      reason: "missing",
    });
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "function" || isFields(value) ? Reflect.get(value, name) : undefined;
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === "function";
}

function isLanguageModel(value: unknown): value is LanguageModel {
  return (
    isFunction(memberOf(value, "doStream")) &&
    isFunction(memberOf(value, "doGenerate")) &&
    typeof memberOf(value, "provider") === "string"
  );
}

function isEmbeddingModel(value: unknown): value is EmbeddingModel {
  return isFunction(memberOf(value, "doEmbed")) && typeof memberOf(value, "provider") === "string";
}
