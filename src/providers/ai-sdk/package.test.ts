import { afterEach, describe, expect, test } from "bun:test";
import { httpReply, jsonReply } from "../../../test/fake/http/reply.ts";
import { anthropicMessage } from "../../../test/fake/vendors/anthropic-messages.ts";
import { bedrockReply } from "../../../test/fake/vendors/bedrock-converse.ts";
import { type Bridge, openBridge } from "../../../test/providers/bridge.ts";
import { apiErrorOf } from "../../../test/providers/failure-of.ts";
import type { ProviderSettings } from "../registry.ts";

const open: Bridge[] = [];
afterEach(() => Promise.all(open.splice(0).map(({ upstream }) => upstream.stop())));

async function begin(settings: Pick<ProviderSettings, "kind"> & Partial<ProviderSettings>) {
  const bridge = await openBridge(settings);
  open.push(bridge);
  return bridge;
}

const call = { messages: [{ role: "user", content: "Hi" }], maxOutputTokens: 9, options: {} };

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
