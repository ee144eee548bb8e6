/** A gateway whose models are served by upstreams of each kind, for clients of the Messages format. */

import Anthropic from "@anthropic-ai/sdk";
import { httpReply, type Recording } from "../fake/http/reply.ts";
import {
  type AnthropicAnswer,
  type AnthropicBlock,
  anthropicEvents,
  anthropicMessage,
} from "../fake/vendors/anthropic-messages.ts";
import type { TestGateway } from "./harness.ts";

export const messagesManifest = `
providers:
  native: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
  cloud: { kind: bedrock, base_url: "UPSTREAM", region: us-east-1, api_key: "\${FAKE_KEY}", allow_private: true }
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  server: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
models:
  claude: { endpoint: chat, context_length: 200000, max_output_tokens: 64000, price: { input: 3, cached_input: "0.3", cache_write: "3.75", output: 15 }, routes: [{ provider: native, model: claude-sonnet-4-5 }] }
  claude-cloud: { endpoint: chat, price: { input: 3, output: 15 }, routes: [{ provider: cloud, model: us.anthropic.claude-sonnet-4-5 }] }
  flash: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: google, model: gemini-3-flash }] }
  local: { endpoint: chat, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: server, model: local-model }] }
  vectors: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: server, model: vectors }] }
`;

/** The real SDK, pointed at the gateway: its base URL ends before /v1. */
export const anthropicAt = (
  { origin, key }: TestGateway,
  options: { readonly apiKey?: string; readonly maxRetries?: number } = {},
) => new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0, ...options });

export const ask = { role: "user", content: "Say hello" } as const;

const usual = { input_tokens: 20, output_tokens: 30 };

type Answer = Partial<AnthropicAnswer> & { readonly blocks: readonly AnthropicBlock[] };

const filled = ({ stopReason = "end_turn", usage = usual, blocks }: Answer): AnthropicAnswer => ({
  blocks,
  stopReason,
  usage,
});

export const nativeWhole = (answer: Answer): Recording =>
  httpReply({
    headers: { "content-type": "application/json" },
    body: [anthropicMessage(filled(answer))],
    framing: "length",
  });

export const nativeStream = (answer: Answer): Recording =>
  httpReply({
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: anthropicEvents(filled(answer)),
    framing: "chunked",
  });
