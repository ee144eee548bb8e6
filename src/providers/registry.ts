import type { Quirks } from "../call/quirks.ts";
import { createAiSdkProvider } from "./ai-sdk/provider.ts";
import type { Provider } from "./contract.ts";
import { createGeminiProvider } from "./gemini/provider.ts";
import { createBroken } from "./kit/broken.ts";
import { Dialer, type DialerOptions } from "./kit/dial.ts";
import { createOpenAiProvider } from "./openai/provider.ts";
import { createVertexProvider } from "./vertex/provider.ts";

export interface ProviderSettings {
  readonly name: string;
  readonly kind: "openai" | "gemini" | "vertex" | "anthropic" | "bedrock" | "ai-sdk";
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly allowPrivate: boolean;
  /** What the kind needs beside that; secrets opened. */
  readonly options: Readonly<Record<string, string>>;
  /** For the kind `openai`. */
  readonly quirks?: Quirks;
}

/** What a builder gets: the settings, and the one way to the outside. */
export type BuildOptions = ProviderSettings & {
  readonly dialer: Dialer;
  readonly takesUrls: boolean;
};

const builders: Readonly<Record<ProviderSettings["kind"], (options: BuildOptions) => Provider>> = {
  openai: createOpenAiProvider,
  gemini: createGeminiProvider,
  vertex: createVertexProvider,
  anthropic: createAiSdkProvider,
  bedrock: createAiSdkProvider,
  "ai-sdk": createAiSdkProvider,
};

const isSendable = /^[\x21-\x7e]*$/;

type Built = ReadonlyMap<string, { readonly settings: string; readonly provider: Provider }>;

/** The providers in force, by name. One whose settings did not change is kept. */
export class ProviderRegistry {
  readonly #network: Pick<DialerOptions, "lookup" | "usesProxy">;
  #built: Built = new Map();

  constructor(network: Pick<DialerOptions, "lookup" | "usesProxy"> = {}) {
    this.#network = network;
  }

  /** Gives the names of those that are new or changed. */
  replaceAll(all: readonly ProviderSettings[]): readonly string[] {
    const before = this.#built;
    this.#built = new Map(
      all.map((one) => {
        const settings = JSON.stringify(one);
        const known = before.get(one.name);
        return [
          one.name,
          known?.settings === settings ? known : { settings, provider: this.build(one) },
        ];
      }),
    );
    return all.map(({ name }) => name).filter((name) => this.#built.get(name) !== before.get(name));
  }

  /** One that is not in force: to try it out. */
  build(settings: ProviderSettings): Provider {
    const { name, allowPrivate } = settings;
    const dialer = new Dialer({ provider: name, allowPrivate, ...this.#network });
    // What cannot stand in a header would fail each time, and with words of the runtime.
    if (settings.apiKey !== undefined && !isSendable.test(settings.apiKey))
      return createBroken({
        name,
        problem: "the key contains characters that cannot be sent in a header",
        symptom: "unsendable_key",
      });
    return builders[settings.kind]({ ...settings, dialer, takesUrls: takesUrls(settings) });
  }

  find(name: string): Provider | undefined {
    return this.#built.get(name)?.provider;
  }
}

/** A server of the operator's own would fetch from inside: it does so only where the operator says so. */
function takesUrls({ allowPrivate, options }: ProviderSettings): boolean {
  const told = options["image_urls"];
  return told === undefined ? !allowPrivate : told === "true";
}
