import type { TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { anyObject, named, nullable, tagged, told } from "../schema.ts";

/** Replies of the endpoints of the Messages format. They may have more fields than these. */
const count = (description: string) => Type.Integer({ minimum: 0, description });
const text = (description: string) => Type.String(told(description));

const usage = Type.Object(
  {
    input_tokens: count("Input tokens that were neither read from a cache nor written to one."),
    cache_creation_input_tokens: Type.Optional(
      nullable(count("Input tokens."), told("Input tokens written to the vendor's cache.")),
    ),
    cache_read_input_tokens: Type.Optional(
      nullable(count("Input tokens."), told("Input tokens read from the vendor's cache.")),
    ),
    output_tokens: count("Output tokens, including reasoning."),
  },
  named("MessagesUsage", "Token usage. In a stream, the last event has the counts."),
);

const kinds: TSchema[] = [
  Type.Object(
    {
      type: Type.Literal("text"),
      text: text("The text."),
      citations: Type.Optional(
        nullable(Type.Array(anyObject(told("A citation."))), told("Sources of the text.")),
      ),
    },
    named("ReplyTextBlock", "Text."),
  ),
  Type.Object(
    {
      type: Type.Literal("thinking"),
      thinking: text("The reasoning text. May be empty."),
      signature: text("Opaque. Send it back unchanged."),
    },
    named("ReplyThinkingBlock", "Reasoning."),
  ),
  Type.Object(
    { type: Type.Literal("redacted_thinking"), data: text("Opaque. Send it back unchanged.") },
    named("ReplyRedactedBlock", "Reasoning that is not shown."),
  ),
  Type.Object(
    {
      type: Type.Literal("tool_use"),
      id: text("Id of the call; the tool_result repeats it as tool_use_id."),
      name: text("Name of the tool."),
      input: anyObject(told("Arguments of the call.")),
    },
    named("ReplyToolUseBlock", "A tool call made by the model."),
  ),
];

const stopReason = nullable(
  Type.String(),
  told(
    "Why generation ended: end_turn, max_tokens, stop_sequence, tool_use, refusal, or another value of the vendor's.",
  ),
);

export const messageReply = Type.Object(
  {
    id: text("Id of the message."),
    type: Type.Enum(["message"]),
    role: Type.Enum(["assistant"]),
    model: text("The requested model."),
    content: Type.Array(tagged("type", kinds, { "x-tag": "a block" }), told("The reply.")),
    stop_reason: stopReason,
    stop_sequence: nullable(
      Type.String(),
      told("The sequence that stopped generation, if the vendor reports it."),
    ),
    usage,
  },
  named("MessagesReply", "A reply in the Messages format."),
);

export const messageEvent = Type.Object(
  {
    type: text(
      "message_start, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop, ping or error; also the name of the event.",
    ),
    message: Type.Optional(anyObject(told("The message without content, in message_start."))),
    index: Type.Optional(count("Index of the block.")),
    content_block: Type.Optional(anyObject(told("The block that begins."))),
    delta: Type.Optional(
      anyObject(
        told(
          "What is added: text_delta, thinking_delta, signature_delta, input_json_delta or citations_delta; in message_delta, the stop reason.",
        ),
      ),
    ),
    usage: Type.Optional(usage),
  },
  named("MessagesEvent", "An event of a streamed reply in the Messages format."),
);

export const tokenCount = Type.Object(
  { input_tokens: count("Input tokens of the prompt.") },
  named("TokenCount", "How many tokens a prompt has."),
);

export const messagesErrorReply = Type.Object(
  {
    type: Type.Enum(["error"]),
    error: Type.Object(
      {
        type: text("Error type of the Messages format."),
        message: text("What is wrong and what to do next."),
        code: text("Error code, as in the other formats."),
        param: nullable(Type.String(), told("The field at fault, if there is one.")),
      },
      told("The error."),
    ),
    request_id: text("Id of the request."),
  },
  named("MessagesErrorReply", "An error in the Messages format."),
);

const time = (description: string) => nullable(Type.String(), told(description));
export const messagesModel = Type.Object(
  {
    type: Type.Enum(["model"]),
    id: text("Model id."),
    display_name: text("Name of the model."),
    created_at: text("Creation time (RFC 3339)."),
    lifecycle: Type.Enum(["active", "deprecated"], told("State of the model.")),
    deprecated_at: time("When it was deprecated, if it is."),
    retires_at: time("When it retires, if known."),
    max_input_tokens: nullable(count("Tokens."), told("Context length, if known.")),
    max_tokens: nullable(count("Tokens."), told("Highest max_tokens, if known.")),
  },
  named("MessagesModel", "A model, as clients of the Messages format read it."),
);
export const messagesModelList = Type.Object(
  {
    data: Type.Array(messagesModel, told("A page of the chat models that the key can use.")),
    has_more: Type.Boolean(told("Whether there are more pages.")),
    first_id: nullable(Type.String(), told("Id of the first model of the page.")),
    last_id: nullable(Type.String(), told("Id of the last model of the page.")),
  },
  named("MessagesModelList", "A page of models, if the request has an anthropic-version header."),
);
