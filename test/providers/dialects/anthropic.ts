/** Anthropic's Messages API, through its provider package. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import {
  type AnthropicAnswer,
  type AnthropicBlock,
  type AnthropicUsage,
  anthropicEvent,
  anthropicEvents,
  anthropicMessage,
  anthropicModel,
} from "../../fake/vendors/anthropic-messages.ts";
import { callersWords, usageOf } from "../calls.ts";
import {
  type Answer,
  type Asked,
  type AskedPiece,
  type Counts,
  type Dialect,
  fullAbilities,
  operatorKey,
  type SentRequest,
  type VendorStream,
} from "../dialect.ts";
import { bodyAt, built, listOf, numberOf, objectOf, textsOf, toTool } from "./asked.ts";
import { anthropicErrors } from "./errors/anthropic.ts";

const json = { "content-type": "application/json" };
const sse = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

export const anthropicDialect: Dialect = {
  name: "anthropic",
  model: anthropicModel,
  can: { ...fullAbilities, anyJson: false },
  vendorWords: ["anthropic", "claude"],
  headers: ["x-api-key", "anthropic-version", "anthropic-beta"],
  create: ({ origin, ...more }) => built({ ...more, kind: "anthropic", baseUrl: `${origin}/v1` }),
  whole: (answer) => ({ headers: json, packets: [anthropicMessage(toAnswer(answer))] }),
  streamed: (answer) => toStream(anthropicEvents(toAnswer(answer))),
  finishWords: {
    stop_sequence: "stop",
    pause_turn: "stop",
    model_context_window_exceeded: "length",
    tool_use: "tool_calls",
    // A word that is not known yet.
    a_new_reason: "stop",
  },
  usages: usagesOf(),
  ...anthropicErrors,
  brokenPackets: [
    'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n',
    `event: content_block_delta\ndata: ${callersWords} ${operatorKey} is no JSON\n\n`,
    anthropicEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta" } }),
    "data: [1]\n\n",
    "data: null\n\n",
  ],
  asked: toAsked,
  credential: ({ headers }) => headers["x-api-key"],
  modelsPath: "/v1/models",
  models: (ids) => {
    const data = ids.map((id) => ({
      type: "model",
      id,
      display_name: id,
      created_at: "2026-01-01",
    }));
    const body = { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
    return { headers: json, packets: [JSON.stringify(body)] };
  },
};

const words = {
  stop: "end_turn",
  length: "max_tokens",
  content_filter: "refusal",
  tool_calls: "tool_use",
};

function toAnswer({ pieces, finish, finishWord, usage }: Answer): AnthropicAnswer {
  const blocks: AnthropicBlock[] = [];
  const texts: string[] = [];
  const thoughts: string[] = [];
  const closeText = () => {
    const said = texts.splice(0);
    if (said.length > 0) blocks.push({ type: "text", text: said.join(""), pieces: said });
    const thought = thoughts.splice(0);
    const thinking = thought.join("");
    if (thought.length > 0)
      blocks.push({ type: "thinking", thinking, signature: "c2lnbmVk", pieces: thought });
  };
  for (const piece of pieces) {
    if ("call" in piece) {
      closeText();
      const { id, name, pieces: text } = piece.call;
      const input: unknown = JSON.parse(text.join(""));
      blocks.push({ type: "tool_use", id, name, input, pieces: text });
      continue;
    }
    const isOther = "text" in piece ? thoughts.length > 0 : texts.length > 0;
    if (isOther) closeText();
    if ("text" in piece) texts.push(piece.text);
    else thoughts.push(piece.reasoning);
  }
  closeText();
  return { blocks, stopReason: finishWord ?? words[finish], usage: toUsage(usage) };
}

/** It always tells; servers that only speak its language leave zeros where they do not count. */
function toUsage(counts: Counts | undefined): AnthropicUsage {
  if (counts === undefined) return { input_tokens: 0, output_tokens: 0 };
  const { input, output, cached = 0, written = 0, reasoning } = counts;
  return {
    input_tokens: input - cached - written,
    output_tokens: output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function toStream(packets: readonly string[]): VendorStream {
  const sizeBytes = Buffer.byteLength(packets.join(""));
  return { headers: sse, packets, wholeFromBytes: sizeBytes - 2 };
}

function usagesOf(): Dialect["usages"] {
  const blocks = [{ type: "text", text: "Hi" }] as const;
  const said = (usage: AnthropicUsage) => ({ blocks, stopReason: "end_turn", usage });
  const both = (
    name: string,
    usage: AnthropicUsage,
    expected: Dialect["usages"][number]["expected"],
  ) => ({
    name,
    whole: { headers: json, packets: [anthropicMessage(said(usage))] },
    streamed: toStream(anthropicEvents(said(usage))),
    expected,
  });
  const growing = anthropicEvents(said({ input_tokens: 19, output_tokens: 10 }));
  const early = anthropicEvent({
    type: "message_delta",
    delta: { stop_reason: null, stop_sequence: null },
    usage: { output_tokens: 4 },
  });
  return [
    both(
      "without caches leaves them unknown",
      { input_tokens: 19, output_tokens: 10 },
      usageOf({ input: 19, output: 10 }),
    ),
    both(
      "counts what was read from a cache and written to it as input",
      {
        input_tokens: 2,
        output_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 30,
      },
      usageOf({ input: 132, output: 10, cached: 100, written: 30 }),
    ),
    both(
      "with caches of null leaves them unknown",
      {
        input_tokens: 19,
        output_tokens: 10,
        cache_read_input_tokens: null,
        cache_creation_input_tokens: null,
      },
      usageOf({ input: 19, output: 10 }),
    ),
    {
      name: "that grows is the last one, never the sum",
      streamed: toStream(growing.toSpliced(-2, 0, early)),
      expected: usageOf({ input: 19, output: 10 }),
    },
  ];
}

function toAsked(request: SentRequest): Asked {
  const body = bodyAt(request, "/v1/messages");
  const messages = listOf(body["messages"]);
  const format = objectOf(objectOf(body["output_config"])["format"]);
  return {
    model: String(body["model"]),
    streamed: body["stream"] === true,
    system: listOf(body["system"]).map(({ text }) => String(text)),
    pieces: messages.flatMap((message) => toPieces(message, messages)),
    tools: listOf(body["tools"]).map((tool) => toTool(tool, tool["input_schema"])),
    toolChoice: toChoice(body["tool_choice"]),
    cap: numberOf(body["max_tokens"]),
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    stop: textsOf(body["stop_sequences"]),
    answerForm: isJsonObject(format["schema"]) ? { schema: format["schema"] } : undefined,
  };
}

function toPieces({ role, content }: JsonObject, all: readonly JsonObject[]): AskedPiece[] {
  if (role !== "user" && role !== "assistant") throw new Error(`no role ${String(role)}`);
  return listOf(content).map((block): AskedPiece => {
    const { type, text, source, name, input, tool_use_id: id } = block;
    if (type === "text") return { by: role, text: String(text) };
    if (type === "tool_use" && role === "assistant")
      return { by: role, call: { name: String(name), arguments: input } };
    if (type === "image" && isJsonObject(source) && role === "user")
      return {
        by: role,
        image: { mediaType: String(source["media_type"]), base64: String(source["data"]) },
      };
    if (type === "tool_result" && role === "user")
      return { by: "tool", name: calledName(all, id), result: String(block["content"]) };
    throw new Error(`no block ${String(type)} of ${role}`);
  });
}

function calledName(messages: readonly JsonObject[], id: unknown): string {
  const blocks = messages.flatMap(({ content }) => listOf(content));
  const call = blocks.find((block) => block["type"] === "tool_use" && block["id"] === id);
  if (call === undefined) throw new Error(`no call has the id ${String(id)}`);
  return String(call["name"]);
}

function toChoice(choice: unknown): Asked["toolChoice"] {
  const { type, name } = objectOf(choice);
  if (type === "auto" || type === "none") return type;
  if (type === "any") return "required";
  return type === "tool" ? { name: String(name) } : undefined;
}
