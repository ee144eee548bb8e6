import { describe, expect, test } from "bun:test";
import { readManifest } from "../../manifest/manifest.ts";
import { readMarkup } from "../../platform/prices/import.ts";
import type { Proposal } from "../../platform/providers/proposal.ts";
import { addressProblem } from "../../providers/kit/address.ts";
import { assume, type Found } from "./discover.ts";
import { chooseModels, type Offer } from "./offer.ts";
import {
  chooseFound,
  fileWith,
  fitPreset,
  nameWithin,
  presetFate,
  raisePrice,
  readPresent,
} from "./plan.ts";

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
    cost: price,
    note: null,
  };
}

const asItIs = readMarkup("0");

describe("a provider's name", () => {
  const file = `
providers:
  mine: { vendor: groq, api_key: "\${OTHER}" }
  vllm: { vendor: vllm, base_url: "http://10.0.0.9:8000/v1", allow_private: true }
models:
  m: { endpoint: chat, routes: [{ provider: mine, model: llama }] }
`;
  const present = readPresent(file);

  test("is the one that the file has for the same place", () => {
    expect(nameWithin(foundOf("groq"), present).name).toBe("mine");
  });

  test("is that also where the file says it in other words, as an export does", () => {
    const exported = readPresent(`providers:
  near: { kind: openai, base_url: "http://localhost:11434/v1", allow_private: true }
  far: { kind: openai, vendor: groq, base_url: "https://api.groq.com/openai/v1" }
  sky: { kind: vertex, project: "\${GOOGLE_CLOUD_PROJECT}", location: europe-west1 }
`);
    expect(nameWithin(foundOf("ollama"), exported).name).toBe("near");
    expect(nameWithin(foundOf("groq"), exported).name).toBe("far");
    expect(nameWithin(foundOf("vertex"), exported).name).toBe("vertex");
  });

  test("is another where the file has it for another place, so that no route leads astray", () => {
    expect(nameWithin(foundOf("vllm"), present).name).toBe("vllm-2");
    expect(nameWithin(foundOf("openai"), present).name).toBe("openai");
  });

  test("and routes that are there are known", () => {
    expect([...present.routes]).toEqual(["mine/llama"]);
    expect(present.models).toEqual([
      { id: "m", endpoint: "chat", input: "text", isRouted: true, hasPrice: false },
    ]);
    expect(readPresent("").routes.size).toBe(0);
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
    listed: undefined,
  };
  const present = readPresent("");
  const chosen = async (offers: readonly Offer[], names: readonly string[], wantsAll = false) => {
    const wishes = { names, wantsAll };
    const connections = await chooseModels({ offers, wishes, present, nowMs: 0 });
    return connections.map(({ models }) => models.map(({ id }) => id));
  };

  test("are those that have a price, unless all or some are asked for", async () => {
    expect(await chosen([offer], [])).toEqual([["a"]]);
    expect(await chosen([offer], [], true)).toEqual([["a", "b"]]);
    expect(await chosen([offer], ["b"])).toEqual([["b"]]);
  });

  test("that nobody offers are refused, unless one provider does not tell what it offers", async () => {
    await expect(chosen([offer], ["ab"])).rejects.toThrow(
      "groq does not offer ab; did you mean a?",
    );
    await expect(chosen([offer], ["qwen3"])).rejects.toThrow("it offers a, b.");
    expect(await chosen([offer, silent], ["a", "c"])).toEqual([["a"], ["c"]]);
  });

  test("that are refused are so also where all that is offered is here already", async () => {
    const all = { ...offer, proposals: [] };
    await expect(chosen([all], ["qwen3"])).rejects.toThrow("groq does not offer qwen3");
  });
});

describe("the file", () => {
  const groq = { found: foundOf("groq"), models: [proposalOf("groq", "llama", "0.59")] };
  const together = {
    found: foundOf("together"),
    models: [proposalOf("together", "llama", "0.88")],
  };

  test("keeps two vendors' models of one name apart, each at its own price", () => {
    const { text } = fileWith({
      before: undefined,
      preset: undefined,
      connections: [groq, together],
      factor: asItIs,
    });
    const { models } = readManifest(text, addressProblem);
    expect(models.map(({ id, routes }) => [id, routes[0]?.provider])).toEqual([
      ["llama", "groq"],
      ["together/llama", "together"],
    ]);
  });

  test("has the markup in prices and not in costs", () => {
    const { text } = fileWith({
      before: undefined,
      preset: undefined,
      connections: [groq],
      factor: readMarkup("12.5"),
    });
    expect(text).toContain('price: { input: "0.66375", output: "0.66375" }');
  });

  test("is the preset with its remarks where there was none, and more where there was one", () => {
    const preset = fitPreset("google", { variable: () => undefined, factor: asItIs });
    const options = { preset, connections: [groq], factor: asItIs };
    const fresh = fileWith({ ...options, before: " \n" });
    expect(fresh.text).toContain("# check against the vendor's list");
    expect(fresh.added).toContain("provider vertex-global");
    expect(fresh.added).toContain("model llama");
    const added = fileWith({ ...options, before: fresh.text });
    expect([added.text, added.added]).toEqual([fresh.text, []]);
  });
});

describe("a preset in a file that has models of its names", () => {
  const preset = fitPreset("google", { variable: () => undefined, factor: asItIs });
  const before = `# mine
providers:
  other: { vendor: groq }
models:
  # to try it
  svc-3-flash:
    endpoint: chat
    max_output_tokens: 512
    price: { input: "0.30", output: "2.50" }
    routes: [{ provider: engine, model: chat }]
  svc-embedding-2:
    endpoint: embeddings
    input: text
    price: { input: "0.02" }
    routes: [{ provider: other, model: embed }, { provider: engine, model: text }]
`;
  const options = { preset, connections: [], factor: asItIs, before };
  const routesIn = (text: string, id: string) =>
    readManifest(text, addressProblem)
      .models.find((model) => model.id === id)
      ?.routes.map(({ provider }) => provider);

  test("takes over from the embedded models, with its own price and limits", () => {
    const { text, added } = fileWith(options);
    expect(routesIn(text, "svc-3-flash")).toEqual(["google", "vertex-global"]);
    expect(added).toContain("model svc-3-flash");
    expect(text).not.toContain("max_output_tokens: 512");
    expect(text).toStartWith("# mine\n");
  });

  test("leaves one with other routes as it is: vectors of two models never mix", () => {
    const { text, kept } = fileWith(options);
    expect(routesIn(text, "svc-embedding-2")).toEqual(["other", "engine"]);
    expect(kept).toContain("model svc-embedding-2");
  });

  test("gives its own back to models that have lost them, at the price that they have", () => {
    const lost = `providers:
  vertex-global: { kind: vertex, project: p, location: global }
models:
  svc-3-flash:
    endpoint: chat
    price: { input: "9", output: "9" }
    routes: [{ provider: vertex-global, model: gemini-3-flash-preview }]
  svc-embedding-2: { endpoint: embeddings, input: text, price: { input: "9" } }
`;
    const { text } = fileWith({ ...options, before: lost });
    expect(routesIn(text, "svc-3-flash")).toContain("google");
    expect(routesIn(text, "svc-embedding-2")).toEqual(["google"]);
    expect(text.match(/"9"/g)).toHaveLength(3);
    const fate = presetFate({ preset, present: readPresent(lost), models: [] });
    expect(fate.stays).toEqual([]);
  });

  test("writes its models a line each, also where all that were there give way", () => {
    const only = `models:
  svc-3-flash: { endpoint: chat, price: { input: "1", output: "1" }, routes: [{ provider: engine, model: chat }] }
`;
    const { text } = fileWith({ ...options, before: only });
    expect(text).toMatch(/^models:\n {2}svc-/m);
    expect(text).toMatch(/^ {2}svc-embedding-2:\n/m);
  });

  test("says what is wrong where another model uses an anchor of one that gives way", () => {
    const shared = `models:
  svc-3-flash: { endpoint: chat, price: &p { input: "1", output: "1" }, routes: [{ provider: engine, model: chat }] }
  mine: { endpoint: chat, price: *p, routes: [{ provider: engine, model: chat }] }
`;
    expect(() => fileWith({ ...options, before: shared })).toThrow(/svc-3-flash: another model/);
  });

  test("and tells both", () => {
    const models = [
      { id: "svc-3-flash", served: true, routes: ["engine/chat"] },
      { id: "svc-embedding-2", served: true, routes: ["other/embed", "engine/text"] },
      { id: "multimodal-embedding-1", served: false, routes: [] },
      { id: "svc-2.5-pro-tts", served: true, routes: ["engine/speech-pro"] },
      { id: "mine", served: true, routes: ["engine/chat"] },
    ];
    expect(presetFate({ preset, present: readPresent(before), models })).toEqual({
      moved: ["svc-3-flash", "svc-2.5-pro-tts"],
      stays: ["svc-embedding-2"],
    });
    const again = readPresent(fileWith(options).text);
    expect(presetFate({ preset, present: again, models: [] }).stays).toEqual(["svc-embedding-2"]);
    const none = presetFate({ preset: undefined, present: again, models });
    expect(none).toEqual({ moved: [], stays: [] });
  });
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
