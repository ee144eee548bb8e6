import { afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { httpReply, jsonReply } from "../../../test/fake/http/reply.ts";
import { anthropicMessage } from "../../../test/fake/vendors/anthropic-messages.ts";
import { bedrockReply } from "../../../test/fake/vendors/bedrock-converse.ts";
import { type Bridge, openBridge } from "../../../test/providers/bridge.ts";
import { apiErrorOf } from "../../../test/providers/stage.ts";
import type { JsonObject } from "../../call/chat.ts";
import type { ProviderSettings } from "../registry.ts";

const open: Bridge[] = [];
afterEach(() => Promise.all(open.splice(0).map(({ upstream }) => upstream.stop())));

async function begin(settings: Pick<ProviderSettings, "kind"> & Partial<ProviderSettings>) {
  const bridge = await openBridge(settings);
  open.push(bridge);
  return bridge;
}

const call = { messages: [{ role: "user", content: "Hi" }], maxOutputTokens: 9, options: {} };
const compatible = "@ai-sdk/openai-compatible";
const reply = jsonReply({
  body: {
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  },
});

describe("a package that cannot be called is the operator's to mend", () => {
  const cases = [
    [{ package: "@acme/no-such-package" }, "run npm install @acme/no-such-package in the project"],
    [{ package: "no-such-package/entry" }, "run npm install no-such-package in the project"],
    [{ package: compatible, factory: "createNothing" }, "has no export that creates a provider"],
    [{ package: "yaml" }, "has no"],
  ] as const;
  for (const [options, words] of cases)
    test(`${options.package}${"factory" in options ? ` with ${options.factory}` : ""}`, async () => {
      const bridge = await begin({ kind: "ai-sdk", options });
      for (const work of [bridge.chat(call), bridge.hear(call)]) {
        const error = await apiErrorOf(work);
        expect([error.code, error.upstream?.reason]).toEqual(["upstream_unavailable", "missing"]);
        expect(error.detail).toContain(words);
        expect(error.message).not.toContain(options.package);
      }
      expect(bridge.upstream.requests).toEqual([]);
    });
});

test("a package is one by its name: code at a path or an address is not run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  const file = join(folder, "code.js");
  await writeFile(file, "globalThis.svcTestCodeRan = true; export const createIt = () => ({});");
  const inline = "data:text/javascript,globalThis.svcTestCodeRan = true; export const a = 1";
  try {
    const near = relative(import.meta.dir, file);
    for (const wanted of [file, near, `./${near}`, String(pathToFileURL(file)), inline]) {
      const bridge = await begin({ kind: "ai-sdk", options: { package: wanted } });
      const error = await apiErrorOf(bridge.chat(call));
      expect(error.detail).toContain("cannot be loaded (TypeError)");
    }
    expect(Reflect.get(globalThis, "svcTestCodeRan")).toBeUndefined();
  } finally {
    Reflect.deleteProperty(globalThis, "svcTestCodeRan");
    await rm(folder, { recursive: true });
  }
});

describe("what a vendor wants back with a tool call", () => {
  const signature = "dGhvdWdodA==";
  const tool_calls = [
    {
      index: 0,
      id: "call_1",
      type: "function",
      function: { name: "look", arguments: "{}" },
      extra_content: { google: { thought_signature: signature } },
    },
    { index: 1, id: "call_2", type: "function", function: { name: "look", arguments: "{}" } },
  ];
  const whole = jsonReply({
    body: {
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, tool_calls },
          finish_reason: "tool_calls",
        },
      ],
    },
  });
  const events = [
    { choices: [{ index: 0, delta: { role: "assistant", tool_calls } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const streamed = httpReply({
    headers: { "content-type": "text/event-stream" },
    body: [...events, "data: [DONE]\n\n"],
    framing: "chunked",
  });
  const settings = (name: string) => ({
    kind: "ai-sdk" as const,
    options: { package: compatible, "options.name": name },
  });

  async function carriedBy(bridge: Bridge, form: "whole" | "streamed"): Promise<JsonObject[]> {
    bridge.upstream.replyOnce(form === "whole" ? whole : streamed);
    if (form === "whole")
      return (await bridge.chat(call)).choices[0]?.message["tool_calls"] as JsonObject[];
    const found = new Map<unknown, JsonObject>();
    for (const part of await bridge.hear(call)) {
      const pieces = part.type === "delta" ? part.delta["tool_calls"] : undefined;
      for (const piece of (pieces ?? []) as JsonObject[])
        found.set(piece["index"], {
          ...found.get(piece["index"]),
          ...piece,
          function: { name: "look", arguments: "{}" },
        });
    }
    return [...found.values()];
  }

  const answers = ["call_1", "call_2"].map((id) => ({
    role: "tool",
    tool_call_id: id,
    content: "seen",
  }));
  async function sentBack(bridge: Bridge, calls: readonly JsonObject[]) {
    bridge.upstream.replyOnce(reply);
    const said = { role: "assistant", content: null, tool_calls: calls };
    await bridge.chat({ ...call, messages: [...call.messages, said, ...answers] });
    const [, sent = {}] = bridge.asked["messages"] as readonly JsonObject[];
    return (sent["tool_calls"] as JsonObject[]).map(({ extra_content: extra }) => extra);
  }

  for (const form of ["whole", "streamed"] as const)
    for (const name of ["acme", "acme-cloud"])
      test(`${form}, from ${name}: goes to the caller without a name, and back as it was`, async () => {
        const bridge = await begin(settings(name));
        const calls = await carriedBy(bridge, form);
        expect(calls.map(({ extra_content: extra }) => extra)).toEqual([
          { format: expect.stringMatching(/^svc-[\w-]{8}$/), thought_signature: signature },
          undefined,
        ]);
        expect(JSON.stringify(calls)).not.toMatch(/acme|google|provider/i);
        expect(await sentBack(bridge, calls)).toEqual([
          { google: { thought_signature: signature } },
          undefined,
        ]);
      });

  test("is not sent to another vendor", async () => {
    const calls = await carriedBy(await begin(settings("acme")), "whole");
    expect(await sentBack(await begin(settings("other")), calls)).toEqual([undefined, undefined]);
  });
});

describe("a reply of unknown length", () => {
  const piece = Buffer.alloc(1024 * 1024, " ");
  const said = anthropicMessage({
    blocks: [{ type: "text", text: "Hi" }],
    stopReason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const replyOf = (sizeMebibytes: number) =>
    httpReply({
      headers: { "content-type": "application/json" },
      body: [...Array<Buffer>(sizeMebibytes).fill(piece), said],
      framing: "chunked",
    });

  test("may be as large as any other", async () => {
    const bridge = await begin({ kind: "anthropic" });
    bridge.upstream.replyOnce(replyOf(15));
    const [choice] = (await bridge.chat(call)).choices;
    expect(choice?.message["content"]).toBe("Hi");
  });

  test("and no larger", async () => {
    const bridge = await begin({ kind: "anthropic" });
    bridge.upstream.replyOnce(replyOf(16));
    const error = await apiErrorOf(bridge.chat(call));
    expect(error.code).toBe("upstream_error");
    expect(error.detail).toContain("larger than 16777216 bytes");
  });
});

test("its own settings go to the package: texts, truths and JSON", async () => {
  const bridge = await begin({
    kind: "ai-sdk",
    options: {
      package: compatible,
      factory: "createOpenAICompatible",
      "options.name": "acme",
      "options.includeUsage": "false",
      "options.headers": '{"x-team":"seven"}',
    },
  });
  bridge.upstream.replyWith(reply);
  await bridge.chat(call);
  const [request] = bridge.upstream.requests;
  expect(request?.headers).toMatchObject({ "x-team": "seven", "user-agent": "svc-gateway" });
  await bridge.hear(call).catch(() => {});
  expect(bridge.asked["stream_options"]).toBeUndefined();
});

test("an effort reaches a package that has a word for it", async () => {
  const bridge = await begin({
    kind: "ai-sdk",
    options: { package: compatible, "options.name": "acme" },
  });
  bridge.upstream.replyWith(reply);
  const options = { reasoning_effort: "low", parallel_tool_calls: false, user: "user-7" };
  await bridge.chat({ ...call, options: { ...options, tools: [] } });
  expect(bridge.asked).toMatchObject({ reasoning_effort: "low", user: "user-7" });
});

describe("what the operator has not named is not looked for", () => {
  const names = [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
  ];
  const before = new Map(names.map((name) => [name, process.env[name]]));
  const setAll = () => {
    for (const name of names) process.env[name] = "http://127.0.0.1:9/of-somebody-else";
  };
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
  });

  test("keys of the environment do not replace those of the settings", async () => {
    setAll();
    const bedrock = await begin({
      kind: "bedrock",
      apiKey: undefined,
      options: { region: "us-east-1", access_key_id: "AKIA-OURS", secret_access_key: "secret" },
    });
    const said = bedrockReply({ blocks: [{ text: ["Hi"] }], stopReason: "end_turn" });
    bedrock.upstream.replyWith(jsonReply({ body: JSON.parse(said) }));
    await bedrock.chat(call);
    const [signed] = bedrock.upstream.requests;
    expect(signed?.headers["authorization"]).toStartWith("AWS4-HMAC-SHA256 Credential=AKIA-OURS/");
    expect(signed?.headers["x-amz-security-token"]).toBeUndefined();

    const anthropic = await begin({ kind: "anthropic", apiKey: "sk-ours" });
    const usage = { input_tokens: 1, output_tokens: 1 };
    const blocks = [{ type: "text", text: "Hi" }] as const;
    const message = anthropicMessage({ blocks, stopReason: "end_turn", usage });
    anthropic.upstream.replyWith(jsonReply({ body: JSON.parse(message) }));
    await anthropic.chat(call);
    const [asked] = anthropic.upstream.requests;
    expect(asked?.headers["x-api-key"]).toBe("sk-ours");
    expect(asked?.headers["authorization"]).toBeUndefined();
  });

  test("where none is named, nothing is sent", async () => {
    setAll();
    for (const kind of ["anthropic", "bedrock"] as const) {
      const bridge = await begin({ kind, apiKey: undefined });
      const error = await apiErrorOf(bridge.chat(call));
      expect([error.code, error.upstream?.reason]).toEqual(["upstream_unavailable", "auth"]);
      expect(bridge.upstream.requests).toEqual([]);
    }
  });
});

test("models are listed page by page", async () => {
  const bridge = await begin({ kind: "anthropic" });
  const page = (ids: readonly string[], has_more: boolean) =>
    jsonReply({
      body: {
        data: ids.map((id) => ({ type: "model", id, max_tokens: 64_000 })),
        has_more,
        first_id: ids[0],
        last_id: ids.at(-1),
      },
    });
  bridge.upstream.replyOnce(page(["model-a", "model b"], true));
  bridge.upstream.replyOnce(page(["model-c"], false));
  const models = await bridge.provider.listModels?.(new AbortController().signal);
  expect(models).toEqual(
    ["model-a", "model b", "model-c"].map((id) => ({
      id,
      endpoint: "chat",
      maxOutputTokens: 64_000,
    })),
  );
  expect(bridge.upstream.requests.map(({ path }) => path)).toEqual([
    "/v1/models?limit=1000",
    "/v1/models?limit=1000&after_id=model%20b",
  ]);
});
