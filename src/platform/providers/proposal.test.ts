import { describe, expect, test } from "bun:test";
import { draftText } from "../../manifest/draft.ts";
import { readManifest } from "../../manifest/manifest.ts";
import { type OfferedModel, type ProposalOptions, proposeModels } from "./proposal.ts";

const nowMs = Date.parse("2026-11-01T00:00:00Z");

const propose = (models: readonly OfferedModel[], more: Partial<ProposalOptions> = {}) =>
  proposeModels({
    provider: "up",
    kind: "openai",
    vendor: "openai",
    baseUrl: "https://api.openai.com/v1",
    models,
    taken: new Map(),
    nowMs,
    ...more,
  });

const named = (...ids: readonly string[]) => ids.map((id) => ({ id }));

describe("what a model is for", () => {
  test("is read from its name where the upstream does not say", async () => {
    const names = {
      chat: ["gpt-4o-mini", "llama3.2:3b", "qwen/qwen3-32b", "o4-mini", "tulu-3-latest"],
      embeddings: ["text-embedding-3-small", "nomic-embed-text", "BAAI/bge-m3", "all-minilm:l6"],
      speech: ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro", "playai-tts"],
      transcription: ["whisper-1", "whisper-large-v3-turbo", "gpt-4o-transcribe"],
    };
    for (const [endpoint, ids] of Object.entries(names)) {
      const proposals = await propose(named(...ids));
      expect(proposals.map((one) => [one.upstream, one.endpoint])).toEqual(
        ids.map((id) => [id, endpoint]),
      );
    }
  });

  test("is nothing that is served here for pictures, moderation and the like", async () => {
    const others = named(
      "dall-e-3",
      "gpt-image-1",
      "imagen-4.0-generate-001",
      "veo-3.0-generate-preview",
      "sora-2",
      "omni-moderation-latest",
      "gpt-4o-realtime-preview",
      "gpt-4o-audio-preview",
      "stable-diffusion-3",
      "rerank-v3.5",
      "mistral-ocr-latest",
      "gpt-3.5-turbo-instruct",
    );
    expect(await propose(others)).toEqual([]);
  });

  test("is what the upstream says, whatever the name", async () => {
    const [proposal] = await propose([
      { id: "whisper-embed-tts", endpoint: "chat", maxOutputTokens: 77 },
    ]);
    expect(proposal).toMatchObject({ endpoint: "chat", draft: { max_output_tokens: 77 } });
    const [media] = await propose([{ id: "x", endpoint: "embeddings", input: "media" }]);
    expect(media?.draft).toMatchObject({ endpoint: "embeddings", input: "media" });
  });
});

describe("ids", () => {
  test("are the upstream's own, and have the provider in front where they are taken", async () => {
    const proposals = await propose(named("gpt-4o", "gpt-4o-mini", "gpt-4o"), {
      taken: new Map([["gpt-4o", undefined]]),
    });
    // The third is the first again, for which no name is left.
    expect(proposals.map(({ id, upstream }) => [id, upstream])).toEqual([
      ["up/gpt-4o", "gpt-4o"],
      ["gpt-4o-mini", "gpt-4o-mini"],
    ]);
  });

  test("are used again where a model of that kind has no route, and its price stays", async () => {
    const taken = new Map([
      ["gpt-4o", { endpoint: "chat", input: "text", hasPrice: true }],
      ["gpt-4o-mini", { endpoint: "embeddings", input: "text", hasPrice: true }],
      ["tts-1", { endpoint: "speech", input: "text", hasPrice: true }],
      ["up/tts-1", { endpoint: "speech", input: "text", hasPrice: true }],
      ["nobodys-model", { endpoint: "chat", input: "text", hasPrice: false }],
      ["o4-mini", { endpoint: "chat", input: "text", hasPrice: false }],
    ]);
    const proposals = await propose(named("gpt-4o", "gpt-4o-mini", "tts-1"), { taken });
    expect(proposals.map(({ id }) => id)).toEqual(["gpt-4o", "up/gpt-4o-mini", "tts-1"]);
    expect(proposals[0]?.note).toBe("It had no route. Its price is unchanged.");
    expect(proposals[0]?.draft["price"]).toBeUndefined();
    expect(proposals[1]?.draft["price"]).toBeDefined();
    const [unknown, known] = await propose(named("nobodys-model", "o4-mini"), { taken });
    expect(unknown?.note).toBe("No list price found. Set a price to serve this model.");
    expect(known?.draft["price"]).toBeDefined();
  });

  test("are made of what svc.yaml allows; the route keeps the upstream's name", async () => {
    const ids = ["models/gemini-2.5-flash", "@cf/meta/llama 3", "~weird~", "x".repeat(200), "…"];
    const proposals = await propose(named(...ids));
    expect(proposals.map(({ id }) => id)).toEqual([
      "gemini-2.5-flash",
      "cf/meta/llama-3",
      "weird-",
    ]);
    expect(proposals[1]?.draft["routes"]).toMatchObject([{ model: "@cf/meta/llama 3" }]);
  });
});

describe("prices", () => {
  test("are the vendor's public ones, exact, as price and as cost", async () => {
    const [chat, embed] = await propose(named("gpt-4o-mini", "text-embedding-3-small"));
    const price = { input: "0.15", cached_input: "0.075", output: "0.60" };
    expect(chat?.draft).toEqual({
      endpoint: "chat",
      price,
      routes: [{ provider: "up", model: "gpt-4o-mini", cost: price }],
    });
    expect(chat).toMatchObject({ price, cost: price, note: null });
    expect(embed?.draft).toMatchObject({ input: "text", price: { input: "0.02" } });
  });

  test("that are not known are left out, and what follows from it is told", async () => {
    for (const baseUrl of ["https://api.openai.com/v1", "http://10.0.0.5/v1"]) {
      const [proposal] = await propose(named("no-such-model-here"), { baseUrl, vendor: undefined });
      expect(proposal).toMatchObject({ price: null, cost: null });
      expect(proposal?.draft).not.toHaveProperty("price");
      expect(proposal?.note).toBe("No list price found. Set a price to serve this model.");
    }
  });

  test("that are known by half are told as the cost, and the model is not served by them", async () => {
    // The table has what its input costs, and no word of its output.
    const [proposal] = await propose([{ id: "text-embedding-3-small", endpoint: "chat" }]);
    expect(proposal).toMatchObject({ price: null, cost: { input: "0.02" } });
    expect(proposal?.draft).not.toHaveProperty("price");
    expect(proposal?.note).toBe("No list price found. Set a price to serve this model.");
  });

  test("are not taken from a vendor whose server it is not", async () => {
    const [proposal] = await propose(named("gpt-4o-mini"), {
      vendor: undefined,
      baseUrl: "https://proxy.example/v1",
    });
    expect(proposal?.price).toBeNull();
  });

  test("are nothing for a server of the operator's own machine", async () => {
    for (const vendor of ["ollama", "lmstudio", "vllm", "llamacpp"]) {
      const proposals = await propose(named("llama3.2", "nomic-embed-text"), {
        vendor,
        baseUrl: "http://127.0.0.1:1/v1",
      });
      expect(proposals.map(({ price, cost }) => [price, cost])).toEqual([
        [{ input: "0", output: "0" }, null],
        [{ input: "0" }, null],
      ]);
    }
  });

  test("are found for vendors whose address is made of a place", async () => {
    const [gemini] = await propose(named("gemini-2.5-flash"), {
      kind: "vertex",
      vendor: "vertex",
      baseUrl: "",
    });
    expect(gemini?.price).toMatchObject({ input: "0.30", output: "2.50" });
    const [claude] = await propose(named("us.anthropic.claude-sonnet-4-20250514-v1:0"), {
      kind: "bedrock",
      vendor: "bedrock",
      baseUrl: "",
    });
    expect(claude?.price).toMatchObject({ output: "15.00" });
  });
});

test("every draft is one that svc.yaml takes", async () => {
  const models = named("gpt-4o-mini", "text-embedding-3-small", "gpt-4o-mini-tts", "tts-1", "x");
  for (const kind of ["openai", "gemini"] as const) {
    const proposals = await propose(models, { kind });
    const drafts = Object.fromEntries(proposals.map(({ id, draft }) => [id, draft]));
    const text = draftText({
      providers: { up: { kind, base_url: "https://up.example/v1", api_key: "${KEY}" } },
      models: drafts,
    });
    expect(readManifest(text, { checkAddress: () => undefined }).models).toHaveLength(5);
  }
});
