import type { Provider } from "./contract.ts";
import { createOpenAiProvider } from "./openai/provider.ts";

export interface ProviderSettings {
  readonly name: string;
  readonly kind: "openai";
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

const builders: Readonly<
  Record<ProviderSettings["kind"], (settings: ProviderSettings) => Provider>
> = {
  openai: createOpenAiProvider,
};

type Built = ReadonlyMap<string, { readonly settings: string; readonly provider: Provider }>;

/** The providers in force, by name. One whose settings did not change is kept. */
export class ProviderRegistry {
  #built: Built = new Map();

  replaceAll(all: readonly ProviderSettings[]): void {
    const before = this.#built;
    this.#built = new Map(
      all.map((one) => {
        const settings = JSON.stringify(one);
        const known = before.get(one.name);
        return [
          one.name,
          known?.settings === settings ? known : { settings, provider: builders[one.kind](one) },
        ];
      }),
    );
  }

  find(name: string): Provider | undefined {
    return this.#built.get(name)?.provider;
  }
}
