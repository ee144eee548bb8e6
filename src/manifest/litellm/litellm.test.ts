import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../../base/problem.ts";
import type { ProviderDraft } from "../draft.ts";
import { withLiterals } from "../literals.ts";
import { type Manifest, readDraft } from "../manifest.ts";
import { fromLitellm, type LitellmImport } from "./litellm.ts";
import type { RouteDraft } from "./models.ts";

const fixture = (name: string) =>
  readFileSync(join(import.meta.dir, "../../../test/fixtures/litellm", name), "utf8");

interface Given {
  readonly keepKeys?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
  readonly existing?: Readonly<Record<string, ProviderDraft>>;
}

const read = (text: string, { keepKeys = false, variables = {}, existing = {} }: Given = {}) =>
  fromLitellm(text, {
    keepKeys,
    variable: (name) => variables[name],
    existing,
    isSame: (one, other) => Bun.deepEquals(one, other),
  });

/** A config of entries, each as the inside of its litellm_params, by model name. */
const config = (...entries: readonly (readonly [string, string])[]) =>
  `model_list:\n${entries.map(([name, params]) => `  - { model_name: ${name}, litellm_params: { ${params} } }\n`).join("")}`;

const routesOf = ({ draft }: LitellmImport, model: string) =>
  (draft.models[model]?.["routes"] ?? []) as readonly RouteDraft[];
const notesOf = ({ notes }: LitellmImport) => notes.map(({ line, text }) => `${line} ${text}`);
const problemOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
  throw new Error("it was read without a problem");
};

/** As the store takes it: the addresses are not checked here. */
function toManifest({ draft, literals }: LitellmImport): Manifest {
  return readDraft(withLiterals(draft, literals), { checkAddress: () => undefined });
}

describe("a model on one's own machine", () => {
  const local = ["local", "model: ollama/qwen3"] as const;
  const priceOf = (text: string) => read(text).draft.models["local"]?.["price"];

  test("costs nothing, and is served at once", () => {
    const embed = ["local", "model: ollama/nomic-embed-text, mode: embedding"] as const;
    expect(priceOf(config(local))).toEqual({ input: "0", output: "0" });
    expect(priceOf(config(embed))).toMatchObject({ input: "0" });
    expect(notesOf(read(config(local))).join()).toContain("its price is 0");
  });

  test("has no price of ours where a route leads to a vendor who asks for money", () => {
    expect(priceOf(config(local, ["local", "model: groq/qwen3"]))).toBeUndefined();
    const paid = config(local, ["paid", "model: groq/qwen3"]);
    expect(
      priceOf(`${paid}litellm_settings: { fallbacks: [ { local: [paid] } ] }\n`),
    ).toBeUndefined();
  });
});

describe("what is said in another way here", () => {
  const imported = read(fixture("odd.yaml"));
  const { providers, models } = imported.draft;

  test("applies, with the entries that can be served", () => {
    expect(toManifest(imported).models.map(({ id }) => id)).toEqual([
      "shared",
      "own",
      "maker",
      "bare",
      "pixels",
      "speech",
      "hub",
      "fire",
      "region",
    ]);
  });

  test("leaves nothing out without a word", () => {
    const notes = notesOf(imported).join("\n");
    for (const part of [
      "openai/* is a wildcard for openai/*",
      "two words is not imported",
      "picture is not imported: the gateway serves chat, embeddings, speech and transcription, not image_generation",
      "ranker is not imported: the gateway serves chat, embeddings, speech and transcription, not rerank",
      "vertex_ai/claude-sonnet-4-5@20250929 is not imported",
      "watsonx/granite is not imported",
      "shared: not imported: rpm, extra_headers",
      "bare: not imported: max_parallel_requests",
      "no api_key: ${OPENAI_API_KEY} is used for openai",
      "bare is already defined above for chat; this entry is not imported",
      "fallback from shared to own: its routes are added to shared",
      "fallback from pixels to own is not imported: both models must exist",
      'alias ghost is not imported: model "absent" does not exist',
      "1 proxy settings are not imported: router_settings.redis_password, general_settings.master_key, environment_variables, include, defaults, guardrails, mcp_servers",
    ])
      expect(notes).toContain(part);
  });

  test("never tells a secret of the file", () => {
    expect(JSON.stringify(imported)).not.toContain("hunter2");
  });

  test("finds addresses and keys where LiteLLM does", () => {
    expect(providers[routesOf(imported, "shared")[0]?.provider ?? ""]).toEqual({
      kind: "openai",
      base_url: "https://llm.example.com/v1",
      api_key: "${SHARED_KEY}",
    });
    expect(providers[routesOf(imported, "own")[0]?.provider ?? ""]).toEqual({
      kind: "openai",
      base_url: "http://10.1.2.3:9000/v1",
      allow_private: true,
    });
    expect(providers["groq"]).toEqual({
      kind: "openai",
      base_url: "https://api.groq.com/openai/v1",
      api_key: "${GROQ_API_KEY}",
    });
    expect(providers["cohere"]).toBeUndefined();
    expect(notesOf(imported).join()).toContain("there is no adapter for cohere");
    expect(providers["bedrock"]).toEqual({
      kind: "bedrock",
      region: "eu-west-1",
      api_key: "${BEDROCK_KEY}",
    });
  });

  test("asks for models by the names that they have at their vendors", () => {
    const first = (model: string) => routesOf(imported, model)[0]?.model;
    expect(first("hub")).toBe("deepseek-ai/DeepSeek-R1:together");
    expect(first("fire")).toBe("accounts/fireworks/models/llama-v3p3-70b-instruct");
    expect(first("region")).toBe("anthropic.claude-v2");
    expect(first("maker")).toBe("my-model");
  });

  test("knows embeddings of media, and the voices of Gemini as our own", () => {
    expect(models["pixels"]).toMatchObject({
      endpoint: "embeddings",
      input: "media",
      price: { image: "0.0001", video_second: "0.0005" },
    });
    expect(models["speech"]).toMatchObject({
      endpoint: "speech",
      price: { input: "0.5", audio_output: "10" },
    });
    expect(routesOf(imported, "speech")[0]?.voices).toBe("same");
  });
});

describe("keys in plain text", () => {
  const text = config(
    ["one", "model: openai/a, api_key: sk-proj-literal-1"],
    ["two", "model: openai/b, api_key: sk-proj-literal-2"],
    [
      "three",
      "model: bedrock/c, aws_region_name: r, aws_access_key_id: AKIA1, aws_secret_access_key: s3cr3t",
    ],
  );

  test("are refused, each with its line and without being told", () => {
    const message = problemOf(() => read(text));
    expect(message.split("\n")).toEqual([
      expect.stringMatching(/^line 2: api_key is in plain text: .*os\.environ\/NAME.*--keep-keys/),
      expect.stringMatching(/^line 3: api_key is in plain text/),
      expect.stringMatching(/^line 4: aws_access_key_id is in plain text/),
      expect.stringMatching(/^line 4: aws_secret_access_key is in plain text/),
    ]);
    expect(message).not.toMatch(/literal|AKIA|s3cr3t/);
  });

  test("go where they are sealed and never into the draft, if the operator keeps them", () => {
    const { draft, literals } = read(text, { keepKeys: true });
    expect(JSON.stringify(draft)).not.toMatch(/literal|AKIA|s3cr3t/);
    expect(draft.providers["openai"]).toEqual({ vendor: "openai", api_key: "<stored>" });
    expect(literals).toEqual({
      openai: { api_key: "sk-proj-literal-1" },
      "openai-2": { api_key: "sk-proj-literal-2" },
      bedrock: { access_key_id: "AKIA1", secret_access_key: "s3cr3t" },
    });
  });
});

test("an unknown vendor is told, whatever it is called", () => {
  const text = `${config(["m", "model: large, custom_llm_provider: constructor"])}litellm_settings: { toString: x }\n`;
  const imported = read(text);
  expect(imported.draft).toEqual({ providers: {}, models: {} });
  expect(notesOf(imported)).toEqual([
    "1 proxy settings are not imported: litellm_settings.toString",
    expect.stringMatching(/^2 large is not imported: unknown vendor "constructor"/),
  ]);
});

describe("names of providers", () => {
  const text = config(["m", "model: groq/a, api_key: os.environ/GROQ_API_KEY"]);

  test("that the file has for the same stay", () => {
    const existing = { groq: { api_key: "${GROQ_API_KEY}", vendor: "groq" } };
    expect(Object.keys(read(text, { existing }).draft.providers)).toEqual(["groq"]);
  });

  test("that the file has for something else are not taken", () => {
    const existing = { groq: { vendor: "groq", api_key: "${OTHER}" } };
    const imported = read(text, { existing });
    expect(Object.keys(imported.draft.providers)).toEqual(["groq-2"]);
    expect(routesOf(imported, "m")[0]?.provider).toBe("groq-2");
  });
});

describe("a file that cannot be read", () => {
  const lineOf = (text: string) => problemOf(() => read(text));

  test("is refused with every line that is wrong", () => {
    const text = config(
      ["a", "model: openai/a, input_cost_per_token: cheap"],
      ["b", "model: openai/b, output_cost_per_token: 2.5"],
      ["c", "model: openai/c, input_cost_per_token: 1.0000000000000001e-07"],
      ["d", "model: azure/d, api_base: os.environ/NOT_SET"],
      ["e", "model: openai/e, timeout: soon"],
      ["f", "api_key: os.environ/K"],
    );
    expect(lineOf(text).split("\n")).toEqual([
      "line 2: input_cost_per_token must be an amount in USD, such as 1.5e-07",
      "line 3: output_cost_per_token is more than 10000 USD per million; is it a price per token?",
      "line 4: input_cost_per_token has too many digits: 0.10000000000000001 USD",
      "line 5: api_base refers to NOT_SET, which is not set; set it for the import, or write the address",
      "line 5: azure requires an api_base",
      "line 6: timeout must be a number of seconds up to 86400",
      "line 7: litellm_params.model is missing in an entry of model_list",
    ]);
  });

  test("is never quoted: its lines may hold keys", () => {
    expect(lineOf("model_list:\n  - api_key: sk-very-secret: x\n")).not.toContain("secret");
  });

  test("is refused where it is no such config", () => {
    expect(lineOf("model_list: []\n")).toMatch(/^line 1: model_list is missing or empty/);
    expect(lineOf("- just\n- a list\n")).toBe("line 1: the file is not a LiteLLM config");
    expect(lineOf("model_list: [\n  - a: {\n")).toMatch(/^line 3, column 1: /);
    expect(lineOf("a: 1\nb: *gone\n")).toMatch(/^line 2: /);
  });
});

test("weights follow the first entry, as LiteLLM has it: whole numbers in the same proportion", () => {
  const weights = (...params: readonly string[]) =>
    routesOf(
      read(config(...params.map((more, at) => ["m", `model: groq/a${at}${more}`] as const))),
      "m",
    ).map(({ weight = 1 }) => weight);
  expect(weights(", weight: 0.75", ", weight: 0.25")).toEqual([3, 1]);
  expect(weights(", weight: 2", "")).toEqual([1, 0]);
  expect(weights("", ", weight: 2")).toEqual([1, 1]);
  expect(weights(", rpm: 900, tpm: 1", ", rpm: 600")).toEqual([3, 2]);
  expect(weights(", tpm: 3000000001", ", tpm: 1")).toEqual([999_667, 1]);
});

test("an entry without an order comes behind those that have one", () => {
  const text = config(
    ["m", "model: groq/late"],
    ["m", "model: groq/second, order: 20"],
    ["m", "model: groq/first, order: -1"],
  );
  expect(routesOf(read(text), "m").map(({ model, priority = 1 }) => [model, priority])).toEqual([
    ["first", 1],
    ["second", 2],
    ["late", 3],
  ]);
});

test("fallbacks are those of the file and not their own fallbacks; an alias has them too", () => {
  const text = `${config(["a", "model: groq/a"], ["b", "model: groq/b"])}router_settings:
  fallbacks: [{ a: [b] }, { b: [a] }, { c: [a] }]
  model_group_alias: { z: a }
`;
  const imported = read(text);
  const models = (id: string) => routesOf(imported, id).map(({ model }) => model);
  expect([models("a"), models("b"), models("z")]).toEqual([
    ["a", "b"],
    ["b", "a"],
    ["a", "b"],
  ]);
  expect(notesOf(imported).join("\n")).toContain("fallback from c to a is not imported");
});

test("what the file does not say is not made up", () => {
  expect(read(config(["m", "model: groq/a"])).draft.models["m"]).toEqual({
    endpoint: "chat",
    routes: [{ provider: "groq", model: "a" }],
  });
});
