import { type removedKind, removedKindWords } from "../base/removed-kind.ts";
import type { Quirks } from "../call/quirks.ts";
import { createAiSdkProvider } from "./ai-sdk/provider.ts";
import { createAnthropicProvider } from "./anthropic/provider.ts";
import type { ChangedProvider, KeyTerms, Provider } from "./contract.ts";
import { createGeminiProvider } from "./gemini/provider.ts";
import { createBroken } from "./kit/broken.ts";
import { Dialer, type DialerOptions } from "./kit/dial.ts";
import { SetupFault } from "./kit/setup-fault.ts";
import { createOpenAiProvider } from "./openai/provider.ts";
import { createVertexProvider } from "./vertex/provider.ts";

export interface ProviderSettings {
  readonly name: string;
  readonly kind: "openai" | "gemini" | "vertex" | "anthropic" | "bedrock" | typeof removedKind;
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Which of its keys this is. Absent: it has one key at most. */
  readonly key?: KeyTerms;
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
  anthropic: createAnthropicProvider,
  bedrock: createAiSdkProvider,
  "ai-sdk": createRemoved,
};

function createRemoved({ name }: Pick<ProviderSettings, "name">): Provider {
  const { what, advice } = removedKindWords;
  const cause = new SetupFault("settings", { what: `${name}: ${what}.`, advice });
  return createBroken({ name, problem: what, cause });
}

const isSendable = /^[\x21-\x7e]*$/;

interface BuiltKey {
  readonly key: KeyTerms | undefined;
  /** What it was built from, the share of its key left out. */
  readonly settings: string;
  readonly provider: Provider;
}

interface Built {
  /** Of the only key, or of the first; looked up by nearly every call. */
  readonly provider: Provider;
  readonly all: readonly BuiltKey[];
}

/** The providers in force, by name, one for each key. One whose settings did not change is kept. */
export class ProviderRegistry {
  readonly #network: Pick<DialerOptions, "lookup" | "usesProxy">;
  #built: ReadonlyMap<string, Built> = new Map();

  constructor(network: Pick<DialerOptions, "lookup" | "usesProxy"> = {}) {
    this.#network = network;
  }

  /** Gives those that are new or changed. Settings with the same name are keys of one provider. */
  replaceAll(all: readonly ProviderSettings[]): readonly ChangedProvider[] {
    const changed: ChangedProvider[] = [];
    const next = new Map<string, Built>();
    for (const [name, group] of Map.groupBy(all, (one) => one.name)) {
      const built = group.map(({ key, ...rest }): BuiltKey => {
        const settings = JSON.stringify(rest);
        const known = this.#built
          .get(name)
          ?.all.find((one) => one.key?.name === key?.name && one.settings === settings);
        if (known !== undefined) return { ...known, key };
        changed.push({ name, key: key?.name });
        return { key, settings, provider: this.build(rest) };
      });
      const [first] = built;
      if (first !== undefined) next.set(name, { provider: first.provider, all: built });
    }
    this.#built = next;
    return changed;
  }

  /** One that is not in force: to try it out. */
  build(settings: ProviderSettings): Provider {
    const { name, allowPrivate } = settings;
    const reusesConnections = settings.options["reuse"] !== "false";
    const dialer = new Dialer({
      provider: name,
      allowPrivate,
      reusesConnections,
      ...this.#network,
    });
    // What cannot stand in a header would fail each time, and with words of the runtime.
    if (settings.apiKey !== undefined && !isSendable.test(settings.apiKey))
      return createBroken({
        name,
        problem: "the key contains characters that cannot be sent in a header",
        symptom: "unsendable_key",
      });
    return builders[settings.kind]({ ...settings, dialer, takesUrls: takesUrls(settings) });
  }

  /** With one of its keys; without a name, the only one or the first. */
  find(name: string, key?: string): Provider | undefined {
    const built = this.#built.get(name);
    if (key === undefined || built === undefined) return built?.provider;
    return built.all.find((one) => one.key?.name === key)?.provider;
  }

  /** The keys that its calls are spread over; none where it has one key at most. */
  keysOf(name: string): readonly KeyTerms[] {
    return this.#built.get(name)?.all.flatMap(({ key }) => key ?? []) ?? [];
  }
}

/** A server of the operator's own would fetch from inside: it does so only where the operator says so. */
function takesUrls({ allowPrivate, options }: ProviderSettings): boolean {
  const told = options["image_urls"];
  return told === undefined ? !allowPrivate : told === "true";
}
