/** What OpenAI's own Responses API answers, and how a request to it reads. */

import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import type {
  Answer,
  Asked,
  AskedPiece,
  Counts,
  Piece,
  SentRequest,
} from "../../providers/dialect.ts";
import { bodyAt, listOf, numberOf, objectOf, toTool } from "../../providers/dialects/asked.ts";
import { openAiErrors } from "../../providers/dialects/errors/openai.ts";
import { openAiDialect } from "../../providers/dialects/openai.ts";
import type { Wire } from "./wire.ts";

const model = "gpt-5-mini-2025-08-07";
const json = { "content-type": "application/json" };
const sse = { "content-type": "text/event-stream; charset=utf-8" };
/** What the vendor encrypts of its thoughts; it wants it back. */
export const sealedThought = "gAAAAABsealed-thought-of-the-vendor";

const { mixedCalls: _mixedCalls, ...can } = openAiDialect({
  name: "",
  quirks: { capName: "max_completion_tokens" },
}).can;

export const openAiResponses: Wire = {
  name: "openai responses",
  model,
  can: { ...can, writtenTokens: false },
  whole: (answer) => ({ headers: json, packets: [JSON.stringify(toResponse(answer))] }),
  streamed: (answer) => {
    const packets = toEvents(answer).map(toText);
    const sizeBytes = Buffer.byteLength(packets.join(""));
    return { headers: sse, packets, wholeFromBytes: sizeBytes - 2 };
  },
  error: openAiErrors.error,
  fault: (kind, words) => {
    const code = {
      failed: "server_error",
      overloaded: "server_is_overloaded",
      limited: "rate_limit_exceeded",
    }[kind];
    const message = `Something failed ${words}`;
    return toText({ type: "error", code, message, param: null, sequence_number: 99 });
  },
  asked: toAsked,
};

const toText = (event: JsonObject) =>
  `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;

/** Pieces of the same kind make one item. */
function toItems(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const items: Piece[][] = [];
  for (const piece of pieces) {
    const last = items.at(-1);
    const [first] = last ?? [];
    const isMore =
      first !== undefined &&
      (("text" in first && "text" in piece) || ("reasoning" in first && "reasoning" in piece));
    if (isMore) last?.push(piece);
    else items.push([piece]);
  }
  return items;
}

function toItem(pieces: readonly Piece[], at: number): JsonObject {
  const [first] = pieces;
  if (first === undefined) throw new Error("an item of nothing");
  if ("call" in first) {
    const { id, name, pieces: texts } = first.call;
    return {
      id: `fc_vendor${at}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      arguments: texts.join(""),
    };
  }
  if ("text" in first)
    return {
      id: `msg_vendor${at}`,
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", annotations: [], logprobs: [], text: textsOf(pieces) }],
    };
  return {
    id: `rs_vendor${at}`,
    type: "reasoning",
    encrypted_content: sealedThought,
    summary: [{ type: "summary_text", text: textsOf(pieces) }],
  };
}

const textsOf = (pieces: readonly Piece[]) =>
  pieces
    .map((piece) => ("text" in piece ? piece.text : "reasoning" in piece ? piece.reasoning : ""))
    .join("");

function toResponse(answer: Answer): JsonObject {
  const { finish, usage } = answer;
  const isCut = finish === "length" || finish === "content_filter";
  return {
    ...envelope("completed"),
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut
      ? { reason: finish === "length" ? "max_output_tokens" : "content_filter" }
      : null,
    output: toItems(answer.pieces).map(toItem),
    usage: toUsage(usage),
  };
}

const envelope = (status: string): JsonObject => ({
  id: "resp_vendor0001",
  object: "response",
  created_at: 1_791_968_400,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: "low", summary: "auto" },
  safety_identifier: null,
  service_tier: "default",
  store: false,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  usage: null,
  user: null,
  metadata: {},
});

function toUsage(counts: Counts | undefined): Json {
  if (counts === undefined) return null;
  const { input, output, cached = 0, reasoning = 0 } = counts;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function toEvents(answer: Answer): readonly JsonObject[] {
  const last = toResponse(answer);
  const events: JsonObject[] = [
    { type: "response.created", response: envelope("in_progress") },
    { type: "response.in_progress", response: envelope("in_progress") },
    ...toItems(answer.pieces).flatMap(itemEvents),
    {
      type: last["status"] === "completed" ? "response.completed" : "response.incomplete",
      response: last,
    },
  ];
  return events.map(({ type, ...rest }, sequence_number) => ({ type, sequence_number, ...rest }));
}

function itemEvents(pieces: readonly Piece[], output_index: number): readonly JsonObject[] {
  const item = toItem(pieces, output_index);
  const item_id = String(item["id"]);
  const place = { item_id, output_index };
  const [first] = pieces;
  const added = (empty: JsonObject) => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...empty },
  });
  const done = { type: "response.output_item.done", output_index, item };
  if (first !== undefined && "call" in first)
    return [
      added({ status: "in_progress", arguments: "" }),
      ...first.call.pieces.map((delta) => ({
        type: "response.function_call_arguments.delta",
        ...place,
        delta,
        obfuscation: "q7Rz",
      })),
      {
        type: "response.function_call_arguments.done",
        ...place,
        arguments: item["arguments"],
      },
      done,
    ];
  return first !== undefined && "text" in first
    ? [added({ status: "in_progress", content: [] }), ...textEvents(pieces, place), done]
    : [added({ encrypted_content: "gAAAAAB", summary: [] }), ...thoughtEvents(pieces, place), done];
}

function textEvents(pieces: readonly Piece[], place: JsonObject): readonly JsonObject[] {
  const at = { ...place, content_index: 0 };
  const part = { type: "output_text", annotations: [], logprobs: [], text: "" };
  const text = textsOf(pieces);
  return [
    { type: "response.content_part.added", ...at, part },
    ...pieces.map((piece) => ({
      type: "response.output_text.delta",
      ...at,
      delta: textsOf([piece]),
      logprobs: [],
      obfuscation: "b0Xk",
    })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: { ...part, text } },
  ];
}

function thoughtEvents(pieces: readonly Piece[], place: JsonObject): readonly JsonObject[] {
  const at = { ...place, summary_index: 0 };
  const part = { type: "summary_text", text: "" };
  const text = textsOf(pieces);
  return [
    { type: "response.reasoning_summary_part.added", ...at, part },
    ...pieces.map((piece) => ({
      type: "response.reasoning_summary_text.delta",
      ...at,
      delta: textsOf([piece]),
    })),
    { type: "response.reasoning_summary_text.done", ...at, text },
    { type: "response.reasoning_summary_part.done", ...at, part: { ...part, text } },
  ];
}

function toAsked(request: SentRequest): Asked {
  const body = bodyAt(request, "/v1/responses");
  if (body["store"] !== false) throw new Error("the vendor would keep it");
  const items = listOf(body["input"]);
  const instructions = items.filter(({ role }) => role === "developer");
  const { format } = objectOf(body["text"]);
  return {
    model: String(body["model"]),
    streamed: body["stream"] === true,
    system: [
      ...(typeof body["instructions"] === "string" ? [body["instructions"]] : []),
      ...instructions.map(({ content }) =>
        listOf(content)
          .map(({ text }) => text)
          .join("\n"),
      ),
    ],
    pieces: items
      .filter((item) => !instructions.includes(item))
      .flatMap((item) => toPieces(item, items)),
    tools: listOf(body["tools"]).map((tool) => toTool(tool, tool["parameters"])),
    toolChoice: toChoice(body["tool_choice"]),
    cap: numberOf(body["max_output_tokens"]),
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    stop: undefined,
    answerForm: toForm(format),
  };
}

function toForm(format: unknown): Asked["answerForm"] {
  const { type, schema } = objectOf(format);
  if (type === "json_object") return "json";
  return isJsonObject(schema) ? { schema } : undefined;
}

function toPieces(item: JsonObject, all: readonly JsonObject[]): readonly AskedPiece[] {
  const { type, role, content, name, call_id: id } = item;
  if (type === "reasoning") return [];
  if (type === "function_call")
    return [
      {
        by: "assistant",
        call: { name: String(name), arguments: JSON.parse(String(item["arguments"])) },
      },
    ];
  if (type === "function_call_output") {
    const called = all.find((one) => one["type"] === "function_call" && one["call_id"] === id);
    const { output } = item;
    const texts = listOf(output).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
    const result = typeof output === "string" ? output : texts.join("\n");
    return [{ by: "tool", name: String(called?.["name"]), result }];
  }
  if (role !== "user" && role !== "assistant") throw new Error(`no role ${String(role)}`);
  return listOf(content).map((part): AskedPiece => {
    const [, mediaType, base64] =
      /^data:([^;]+);base64,(.*)$/.exec(String(part["image_url"])) ?? [];
    if (mediaType !== undefined && base64 !== undefined)
      return { by: "user", image: { mediaType, base64 } };
    return { by: role, text: String(part["text"]) };
  });
}

function toChoice(choice: unknown): Asked["toolChoice"] {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  return isJsonObject(choice) ? { name: String(choice["name"]) } : undefined;
}
