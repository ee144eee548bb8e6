import type { AskOptions } from "../../setup/platform-home.ts";

interface ProviderChangeOptions<Change> {
  /** Asks as an operator for what is audited by this name. */
  readonly change: (action: string, options: AskOptions) => Change;
  readonly upstreamUrl: () => string;
  /** The first model that a provider offers. */
  readonly firstOffered: (provider: string) => Promise<string>;
}

/** Every change of a provider, in an order in which each can be made. */
export const providerChanges = <Change>({
  change,
  upstreamUrl,
  firstOffered,
}: ProviderChangeOptions<Change>) => ({
  "POST /api/providers": async () =>
    change("provider.add", {
      body: {
        name: "mine",
        base_url: upstreamUrl(),
        api_key: "sk-literal-0123456789",
        allow_private: true,
      },
    }),
  "PATCH /api/providers/:name": async () =>
    change("provider.update", {
      params: { name: "mine" },
      body: { api_key: "sk-literal-9876543210" },
    }),
  "POST /api/providers/:name/keys": async () =>
    change("provider.key.add", {
      params: { name: "mine" },
      body: { name: "second", api_key: "sk-literal-2222222222" },
    }),
  "PATCH /api/providers/:name/keys/:key": async () =>
    change("provider.key.update", {
      params: { name: "mine", key: "second" },
      body: { weight: 2 },
    }),
  "DELETE /api/providers/:name/keys/:key": async () =>
    change("provider.key.remove", { params: { name: "mine", key: "second" } }),
  "POST /api/providers/:name/test": async () =>
    change("provider.test", { params: { name: "mine" }, body: { kind: "models" } }),
  "POST /api/providers/:name/reset": async () =>
    change("provider.reset", { params: { name: "fake" }, body: {} }),
  "POST /api/providers/:name/models": async () => {
    const ids = [await firstOffered("mine")];
    return change("provider.models", { params: { name: "mine" }, body: { ids } });
  },
  "DELETE /api/providers/:name": async () =>
    change("provider.remove", { params: { name: "mine" }, query: { empties_models: "true" } }),
});
