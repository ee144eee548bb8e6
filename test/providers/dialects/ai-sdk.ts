/**
 * A provider package that the operator has installed, in front of a server that speaks the
 * chat-completions format. Packages do not tell whether `[DONE]` came: for them an answer is whole
 * with its finish_reason. So the counts stand beside it, where many servers put them.
 */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import { ProviderRegistry } from "../../../src/providers/registry.ts";
import { type Dialect, operatorKey, type VendorStream } from "../dialect.ts";
import { openAiDialect } from "./openai.ts";

const {
  models: _models,
  modelsPath: _modelsPath,
  ...vendor
} = openAiDialect({
  name: "ai-sdk",
  quirks: { capName: "max_tokens" },
});

export const aiSdkDialect: Dialect = {
  ...vendor,
  can: { ...vendor.can, writtenTokens: false },
  create: ({ origin, name, network }) =>
    new ProviderRegistry(network).build({
      name,
      kind: "ai-sdk",
      baseUrl: `${origin}/v1`,
      apiKey: operatorKey,
      allowPrivate: true,
      options: {
        package: "@ai-sdk/openai-compatible",
        "options.name": "acme",
        "options.supportsStructuredOutputs": "true",
      },
    }),
  streamed: (answer) => withCountsAtEnd(vendor.streamed(answer)),
  // The package knows fewer words; what it does not know ends an answer as any other end does.
  finishWords: { stop: "tool_calls", function_call: "tool_calls", eos: "stop" },
  // It takes replies with counts that are none for broken, and 0 for what was left out.
  usages: vendor.usages
    .filter(({ name }) => !/of texts|of a list|total alone|details of 0|zeros/.test(name))
    .map(({ streamed, ...usage }) =>
      streamed === undefined ? usage : { ...usage, streamed: withCountsAtEnd(streamed) },
    ),
};

/** The last count goes into the chunk that ends the answer. */
function withCountsAtEnd({ headers, packets }: VendorStream): VendorStream {
  const chunks = packets.map(toChunk).filter((chunk) => chunk !== undefined);
  const counts = chunks.filter(({ choices }) => Array.isArray(choices) && choices.length === 0);
  const said = chunks.filter((chunk) => !counts.includes(chunk));
  const last = { ...said.at(-1), usage: counts.at(-1)?.["usage"] ?? null };
  const events = [...said.slice(0, -1), ...counts.slice(0, -1), last].map(
    (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
  );
  const wholeFromBytes = Buffer.byteLength(events.join("")) - 1;
  return { headers, packets: [...events, "data: [DONE]\n\n"], wholeFromBytes };
}

function toChunk(packet: unknown): JsonObject | undefined {
  const data = String(packet).slice("data: ".length);
  if (data.startsWith("[DONE]")) return undefined;
  const chunk: unknown = JSON.parse(data);
  return isJsonObject(chunk) ? chunk : undefined;
}
