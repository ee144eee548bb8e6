import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { planStore } from "../../../test/setup/plan-home.ts";
import { draftText } from "../draft.ts";
import { readManifest } from "../manifest.ts";
import { fromLitellm } from "./litellm.ts";
import type { RouteDraft } from "./models.ts";

const text = readFileSync(
  join(import.meta.dir, "../../../test/fixtures/litellm/whole.yaml"),
  "utf8",
);

describe("a config that has grown", () => {
  const variables = { AZURE_US_BASE: "https://acme-us.openai.azure.com" };
  const imported = fromLitellm(text, {
    keepKeys: false,
    variable: (name) => (name === "AZURE_US_BASE" ? variables.AZURE_US_BASE : undefined),
    existing: {},
    isSame: () => false,
  });
  const written = draftText(imported.draft);
  // The addresses are not checked here.
  const manifest = readManifest(written, { checkAddress: () => undefined });
  const routesOf = (model: string) =>
    (imported.draft.models[model]?.["routes"] ?? []) as readonly RouteDraft[];
  const plan = planStore(written);

  test("becomes a svc.yaml that applies as it is, with all its models", () => {
    expect(manifest.models.map(({ id }) => id)).toEqual([
      "gpt-4o",
      "gpt-4o-mini",
      "claude-sonnet",
      "gemini-flash",
      "gemini-pro",
      "llama-fast",
      "llama-own",
      "qwen-local",
      "mixtral",
      "text-embedding",
      "voice",
      "gpt-4",
      "gpt-4-hidden",
    ]);
    expect(plan.differences.every(({ action }) => action === "create")).toBe(true);
    expect(plan.write.saveProviders?.length).toBe(12);
    expect(plan.warnings.filter(({ kind }) => kind === "not_served")).toMatchObject([
      { subject: "mixtral", message: expect.stringContaining("has no price") },
    ]);
  });

  test("gives each key and address a provider with a name that says which it is", () => {
    const { providers } = imported.draft;
    expect(Object.keys(providers)).toEqual([
      "azure-acme-eu",
      "azure-acme-us",
      "openai",
      "openai-backup",
      "anthropic",
      "bedrock",
      "gemini",
      "vertex",
      "groq",
      "vllm",
      "ollama",
      "together",
    ]);
    expect(providers["azure-acme-us"]).toEqual({
      vendor: "azure",
      base_url: "https://acme-us.openai.azure.com/openai/v1",
      api_key: "${AZURE_API_KEY_US}",
    });
    expect(providers["bedrock"]).toEqual({
      kind: "bedrock",
      region: "us-east-1",
      access_key_id: "${AWS_ACCESS_KEY_ID}",
      secret_access_key: "${AWS_SECRET_ACCESS_KEY}",
    });
    expect(providers["vertex"]).toEqual({
      kind: "vertex",
      project: "${VERTEX_PROJECT}",
      location: "europe-west1",
      credentials_file: "${GOOGLE_APPLICATION_CREDENTIALS}",
    });
    expect(providers["ollama"]).toEqual({
      vendor: "ollama",
      base_url: "http://localhost:11434/v1",
      allow_private: true,
    });
    expect(providers["vllm"]?.["api_key"]).toBeUndefined();
  });

  test("keeps costs to the last digit, and the dearest of them as the price", () => {
    const priceOf = (id: string) => manifest.models.find((model) => model.id === id)?.price;
    expect(priceOf("gpt-4o-mini")).toEqual({
      input: 150_000_000n,
      cached_input: 75_000_000n,
      output: 600_000_000n,
    });
    expect(priceOf("gpt-4o")).toEqual({ input: 2_750_000_000n, output: 11_000_000_000n });
    expect(priceOf("llama-own")).toEqual({ input: 0n, output: 0n });
    expect(priceOf("voice")).toEqual({ input: 600_000_000n, audio_output: 12_000_000_000n });
    expect(routesOf("gpt-4o")[0]?.cost).toEqual({ input: "2.5", output: "10" });
  });

  test("makes weights, orders and fallbacks routes, the fallbacks behind the model's own", () => {
    const short = (model: string) =>
      routesOf(model).map(
        ({ provider, priority = 1, weight = 1 }) => `${provider} ${priority} ×${weight}`,
      );
    expect(short("gpt-4o")).toEqual([
      "azure-acme-eu 1 ×3",
      "azure-acme-us 1 ×1",
      "anthropic 2 ×1",
      "bedrock 3 ×1",
    ]);
    expect(short("gpt-4o-mini")).toEqual(["openai 1 ×9", "openai-backup 1 ×1"]);
    expect(short("claude-sonnet")).toEqual(["anthropic 1 ×1", "bedrock 2 ×1"]);
    expect(short("gpt-4")).toEqual(short("gpt-4o"));
  });

  test("keeps bounds and time limits", () => {
    const model = (id: string) => manifest.models.find((one) => one.id === id);
    expect(model("gpt-4o")?.maxOutputTokens).toBe(16_384);
    expect(model("gpt-4o")?.timeouts).toEqual({ total: 120, firstByte: 21 });
  });
});
