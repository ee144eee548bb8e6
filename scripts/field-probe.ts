// How an adapter translates each field of a chat request: calls it and reads what it sends.
import { ApiError } from "../src/base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../src/call/chat.ts";
import type { UsableKind } from "../src/catalog/provider-kinds.ts";
import type { Provider } from "../src/providers/contract.ts";
import { httpReply } from "../test/fake/http/reply.ts";
import { type FakeUpstream, startFakeUpstream } from "../test/fake/upstream.ts";
import { weatherTool } from "../test/providers/calls.ts";
import type { Dialect, VendorReply } from "../test/providers/dialect.ts";
import { anthropicDialect } from "../test/providers/dialects/anthropic.ts";
import { bedrockKeyDialect } from "../test/providers/dialects/bedrock.ts";
import { geminiDialect } from "../test/providers/dialects/gemini.ts";
import { vertexDialect } from "../test/providers/dialects/vertex.ts";

/** How a kind says things on the wire; undefined: it sends chat completions, or any format. */
const dialects: Readonly<Record<UsableKind, Dialect | undefined>> = {
  openai: undefined,
  gemini: geminiDialect,
  vertex: vertexDialect,
  anthropic: anthropicDialect,
  bedrock: bedrockKeyDialect,
};

/** A non-default value for each field, with the other fields that it requires. */
const samples: readonly JsonObject[] = [
  { temperature: 0.5 },
  { top_p: 0.5 },
  { top_k: 5 },
  { min_p: 0.5 },
  { stop: ["END"] },
  { n: 2 },
  { seed: 7 },
  { presence_penalty: 0.5 },
  { frequency_penalty: 0.5 },
  { repetition_penalty: 1.5 },
  { logprobs: true },
  { top_logprobs: 3, logprobs: true },
  { logit_bias: { "1": 5 } },
  { tools: [weatherTool] },
  { tool_choice: "required", tools: [weatherTool] },
  { parallel_tool_calls: false, tools: [weatherTool] },
  {
    response_format: {
      type: "json_schema",
      json_schema: { name: "x", schema: { type: "object" } },
    },
  },
  { user: "user-1" },
  { reasoning_effort: "high" },
  { metadata: { a: "b" } },
  { store: true },
  { prompt_cache_key: "k" },
  { prediction: { type: "content", content: "x" } },
  { service_tier: "default" },
  { verbosity: "low" },
];

/** Rows of field and treatment; undefined for kinds that send the fields unchanged. */
export async function probeFields(
  kind: UsableKind,
): Promise<readonly (readonly [string, string])[] | undefined> {
  const dialect = dialects[kind];
  if (dialect === undefined) return undefined;
  const upstream = await startFakeUpstream();
  try {
    const answer = dialect.whole({
      pieces: [{ text: "ok" }],
      finish: "stop",
      usage: { input: 1, output: 1 },
    });
    upstream.replyWith((request) => framed(dialect.beside?.(request) ?? answer));
    const { origin } = new URL(upstream.baseUrl);
    const provider = dialect.create({ origin, name: kind });
    const sent = (options: JsonObject) => send({ upstream, provider, dialect, options });
    const rows: [string, string][] = [];
    for (const sample of samples) {
      const [field = "", ...needed] = Object.keys(sample);
      const without = Object.fromEntries(needed.map((name) => [name, sample[name] as Json]));
      rows.push([field, treatment(await sent(without), await sent(sample))]);
    }
    return rows;
  } finally {
    await upstream.stop();
  }
}

const framed = ({ status = 200, headers, packets }: VendorReply) =>
  httpReply({ status, headers, body: packets, framing: "length" });

type Sent = ReadonlyMap<string, string> | "refused";

async function send(options: {
  readonly upstream: FakeUpstream;
  readonly provider: Provider;
  readonly dialect: Dialect;
  readonly options: JsonObject;
}): Promise<Sent> {
  const { upstream, provider, dialect } = options;
  const call = {
    messages: [{ role: "user", content: "Hello" }],
    maxOutputTokens: 4096,
    options: options.options,
  };
  try {
    await provider.chat?.({
      call,
      target: { model: dialect.model },
      signal: AbortSignal.timeout(10_000),
      onAccepted: () => {},
    });
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_request") return "refused";
    throw error;
  }
  return flatten(upstream.requests.at(-1)?.json as Json);
}

function treatment(without: Sent, withField: Sent): string {
  if (withField === "refused") return "400";
  if (without === "refused") throw new Error("the request without the field was rejected");
  const added = [...withField].filter(([path, value]) => without.get(path) !== value);
  if (added.length === 0) return "dropped";
  const shown = new Set(added.map(([path]) => `\`${path}\``));
  return `sent as ${[...shown].join(", ")}`;
}

/** Each path of an object with its value. Lists, and anything three levels down, are one value. */
function flatten(value: Json, path = "", depth = 0, into = new Map<string, string>()): Sent {
  if (isJsonObject(value) && depth < 2)
    for (const [name, inner] of Object.entries(value))
      flatten(inner as Json, path === "" ? name : `${path}.${name}`, depth + 1, into);
  else into.set(path, JSON.stringify(value));
  return into;
}
