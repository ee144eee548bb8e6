import { describe, expect, test } from "bun:test";
import { draftText } from "../../manifest/draft.ts";
import { readManifest } from "../../manifest/manifest.ts";
import type { Operations } from "../../platform/operations.ts";
import { readMarkup } from "../../platform/prices/import.ts";
import type { Proposal, ProviderView } from "../../platform/providers/schemas.ts";
import { addressProblem } from "../../providers/kit/address.ts";
import { assume, type Found } from "./discover.ts";
import { chooseModels, type Offer } from "./offer.ts";
import { chooseFound, draftOf, fitPreset, nameWithin, presetFate, raisePrice } from "./plan.ts";

function foundOf(vendor: string, rest: Partial<Found> = {}): Found {
  const found = assume(vendor);
  if (found === undefined) throw new Error(`no vendor ${vendor}`);
  return { ...found, ...rest };
}

function proposalOf(provider: string, id: string, usd: string | null = "1"): Proposal {
  const price = usd === null ? null : { input: usd, output: usd };
  const routes = [{ provider, model: id }];
  const draft = { endpoint: "chat", ...(price === null ? {} : { price }), routes };
  return {
    id,
    upstream: id,
    endpoint: "chat",
    input: "text",
    draft,
    price,
    list_price: price,
    cost: price,
    note: null,
  };
}

const asItIs = readMarkup("0");

const view = (name: string, more: Partial<ProviderView>): ProviderView => ({
  name,
  kind: "openai",
  vendor: null,
  base_url: null,
  allow_private: false,
  paused: false,
  status: "untested",
  api_key: null,
  keys: [],
  last_24h: null,
  options: {},
  models: [],
  needs_price: [],
  source: { kind: "store", file: null, fields: [] },
  targets: null,
  ...more,
});

describe("a provider's name", () => {
  const present = [
    view("mine", { vendor: "groq", base_url: "https://api.groq.com/openai/v1" }),
    view("vllm", { vendor: "vllm", base_url: "http://10.0.0.9:8000/v1", allow_private: true }),
  ];

  test("is the one that the same place has already", () => {
    expect(nameWithin(foundOf("groq"), present).name).toBe("mine");
    const near = view("near", { base_url: "http://localhost:11434/v1", allow_private: true });
    expect(nameWithin(foundOf("ollama"), [near]).name).toBe("near");
    const project = {
      from: "variable",
      variable: "GOOGLE_CLOUD_PROJECT",
      hint: null,
      is_set: true,
    } as const;
    const sky = view("sky", { kind: "vertex", options: { project, location: "europe-west1" } });
    expect(nameWithin(foundOf("vertex"), [sky]).name).toBe("vertex");
  });

  test("is another where the name stands for another place, so that no route leads astray", () => {
    expect(nameWithin(foundOf("vllm"), present).name).toBe("vllm-2");
    expect(nameWithin(foundOf("openai"), present).name).toBe("openai");
  });
});

describe("without names, what is connected", () => {
  test("is what was found for this alone and can be connected", () => {
    const all = [
      foundOf("groq"),
      foundOf("github", { isShared: true }),
      foundOf("azure", { problem: "no address" }),
    ];
    expect(chooseFound(all, []).map(({ name }) => name)).toEqual(["groq"]);
    expect(chooseFound(all, ["github", "github"]).map(({ name }) => name)).toEqual(["github"]);
    expect(() => chooseFound(all, ["azure"])).toThrow("no address");
  });
});

describe("models", () => {
  const groq = foundOf("groq");
  const offer: Offer = {
    found: groq,
    proposals: [proposalOf("groq", "a"), proposalOf("groq", "b", null)],
    problem: undefined,
    listed: ["a", "b"],
  };
  const silent: Offer = {
    found: foundOf("bedrock"),
    proposals: [],
    problem: undefined,
    listed: null,
  };
  const providers: Pick<Operations["providers"], "proposeNamed"> = {
    proposeNamed: async ({ provider, names }) => names.map((id) => proposalOf(provider, id)),
  };
  const operations = { providers } as Operations;
  const chosen = async (offers: readonly Offer[], names: readonly string[], wantsAll = false) => {
    const wishes = { names, wantsAll };
    const isRouted = () => false;
    const connections = await chooseModels({ operations, offers, wishes, isRouted });
    return connections.map(({ models }) => models.map(({ id }) => id));
  };

  test("are those that have a price, unless all or some are asked for", async () => {
    expect(await chosen([offer], [])).toEqual([["a"]]);
    expect(await chosen([offer], [], true)).toEqual([["a", "b"]]);
    expect(await chosen([offer], ["b"])).toEqual([["b"]]);
  });

  test("that no provider offers are rejected, unless one provider has no list", async () => {
    await expect(chosen([offer], ["ab"])).rejects.toThrow(
      "groq does not offer ab. Did you mean a?",
    );
    await expect(chosen([offer], ["qwen3"])).rejects.toThrow("It offers a, b.");
    expect(await chosen([offer, silent], ["a", "c"])).toEqual([["a"], ["c"]]);
  });

  test("that are refused are so also where all that is offered is here already", async () => {
    const all = { ...offer, proposals: [] };
    await expect(chosen([all], ["qwen3"])).rejects.toThrow("groq does not offer qwen3");
  });
});

describe("the draft", () => {
  const groq = { found: foundOf("groq"), models: [proposalOf("groq", "llama", "0.59")] };
  const together = {
    found: foundOf("together"),
    models: [proposalOf("together", "llama", "0.88")],
  };

  test("keeps two vendors' models of one name apart, each at its own price", () => {
    const text = draftText(draftOf([groq, together], asItIs));
    const { models } = readManifest(text, { checkAddress: addressProblem });
    expect(models.map(({ id, routes }) => [id, routes[0]?.provider])).toEqual([
      ["llama", "groq"],
      ["together/llama", "together"],
    ]);
  });

  test("has the markup in prices and not in costs", () => {
    const text = draftText(draftOf([groq], readMarkup("12.5")));
    expect(text).toContain('price: { input: "0.66375", output: "0.66375" }');
  });
});

test("a preset takes over from the embedded models, and leaves other routes as they are", () => {
  const preset = fitPreset("google", { variable: () => undefined, factor: asItIs });
  const model = (id: string, ...providers: readonly string[]) => ({
    id,
    route_list: providers.map((provider) => ({ provider, model: "m" })),
  });
  const models = [
    model("svc-3-flash", "engine"),
    model("svc-embedding-2", "other", "engine"),
    model("multimodal-embedding-1"),
    model("svc-2.5-flash-tts", "google"),
    model("svc-2.5-pro-tts", "engine"),
    model("mine", "engine"),
  ];
  expect(presetFate(preset, models, () => true)).toEqual({
    moved: ["svc-3-flash", "svc-2.5-pro-tts"],
    stays: ["svc-embedding-2"],
    waits: [],
  });
  expect(presetFate(undefined, models, () => true)).toEqual({ moved: [], stays: [], waits: [] });
});

test("a preset without its keys takes nothing from the embedded models", () => {
  const { variable, factor } = { variable: () => undefined, factor: asItIs };
  const preset = fitPreset("google", { variable, factor });
  const route_list = [{ provider: "engine", model: "small" }];
  const models = [
    { id: "svc-3-flash", route_list },
    { id: "svc-2.5-pro-tts", route_list },
  ];
  const withKeys = (...names: readonly string[]) =>
    presetFate(preset, models, (name) => names.includes(name));
  expect(withKeys()).toEqual({
    moved: [],
    stays: [],
    waits: models.map(({ id }) => ({ id, variables: ["GEMINI_API_KEY"] })),
  });
  expect(withKeys("GEMINI_API_KEY").waits).toEqual([]);
  // The chat model has a second route, on Vertex AI.
  const vertex = withKeys("GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS");
  expect(vertex.moved).toEqual(["svc-3-flash"]);
});

describe("the preset google", () => {
  const fit = (environment: Readonly<Record<string, string>>) =>
    fitPreset("google", { variable: (name) => environment[name], factor: asItIs });

  test("takes the variable that is set, and the region that is set", () => {
    const { text } = fit({ GOOGLE_API_KEY: "x", GOOGLE_CLOUD_LOCATION: "europe-west4" });
    expect(text).toContain("api_key: ${GOOGLE_API_KEY}");
    expect(text).toContain("location: ${GOOGLE_CLOUD_LOCATION}");
    expect(text).not.toContain("europe-west4");
  });

  test("keeps a region for embeddings where the whole world is set", () => {
    expect(fit({ GOOGLE_CLOUD_LOCATION: "global" }).text).toContain("location: us-central1");
    expect(fit({}).text).toContain("api_key: ${GEMINI_API_KEY}");
  });
});

test("a price with a markup is never below what was meant", () => {
  expect(raisePrice({ input: "0.000000001" }, readMarkup("0.000001"))).toEqual({
    input: "0.000000002",
  });
  expect(raisePrice({ input: "0", image: "0.0001" }, readMarkup("20"))).toEqual({
    input: "0.00",
    image: "0.00012",
  });
  expect(raisePrice({ input: "0.5" }, asItIs)).toEqual({ input: "0.5" });
});
