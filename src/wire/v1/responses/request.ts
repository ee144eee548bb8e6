import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import {
  anyObject,
  modelId,
  named,
  nullable,
  nullableFlag,
  nullableText,
  optionalAtLeast,
  optionalFlag,
  optionalInteger,
  optionalNumber,
  optionalObject,
  optionalText,
  tagged,
  text,
  told,
  unsupported,
} from "../schema.ts";
import { input, metadata } from "./items.ts";
import { toolList } from "./tools-schema.ts";

const format = tagged(
  "type",
  [
    Type.Object(
      { type: Type.Literal("text") },
      named("ResponseTextFormat", "Plain text (the default)."),
    ),
    Type.Object(
      { type: Type.Literal("json_object") },
      named("ResponseJsonObjectFormat", "A JSON object."),
    ),
    Type.Object(
      {
        type: Type.Literal("json_schema"),
        name: Type.String(told("Name of the schema.", "the name of the schema")),
        schema: anyObject(told("The JSON Schema.", "a JSON schema")),
        description: nullableText("Description of the schema, for the model."),
        strict: nullableFlag("Enforces the schema strictly."),
      },
      named("ResponseJsonSchemaFormat", "JSON that follows a schema."),
    ),
  ],
  {
    description: "Format of the reply.",
    "x-tag": '"text", "json_object" or "json_schema"',
    "x-says": "an object with a type",
  },
);

const textConfig = Type.Optional(
  Type.Object(
    {
      format: Type.Optional(format),
      verbosity: nullableText("How long answers are: low, medium, high."),
    },
    told("Options for text.", 'an object such as {"format":{"type":"text"}}'),
  ),
);

const reasoning = Type.Optional(
  Type.Object(
    {
      effort: nullableText("Reasoning effort: none, minimal, low, medium, high, …"),
      summary: nullableText("Whether to return what the model thought: auto, concise or detailed."),
      generate_summary: nullableText("The earlier name of summary."),
    },
    told("Options for reasoning.", 'an object such as {"effort":"low"}'),
  ),
);

const toolChoice = Type.Optional(
  Type.Union(
    [
      Type.Enum(["none", "auto", "required"]),
      Type.Object(
        {
          type: text("Kind of the choice, such as function."),
          name: nullableText("Name of the tool."),
          mode: Type.Optional(
            nullable(
              Type.Enum(["auto", "required"]),
              told("With allowed_tools.", '"auto" or "required"'),
            ),
          ),
          tools: Type.Optional(
            nullable(
              Type.Array(anyObject({ "x-says": "an object that names a tool" })),
              told("With allowed_tools: the tools.", "a list of objects that name tools"),
            ),
          ),
        },
        { additionalProperties: true, "x-says": "an object that names a tool" },
      ),
    ],
    told(
      "Whether the model calls tools, or which tool it must call.",
      '"none", "auto", "required", or an object that names a tool',
    ),
  ),
);

/** The body of POST /v1/responses. Fields that are not listed here never fail a request. */
export const responseRequest = Type.Object(
  {
    model: modelId("chat"),
    input,
    instructions: optionalText("Instructions for the model, before the conversation."),
    previous_response_id: optionalText("Continues a stored response. Only where storing is on."),
    store: optionalFlag(
      "Whether to store the response. Default: true where storing is on, else false.",
    ),
    stream: optionalFlag("Whether to stream the reply as server-sent events. Default: false."),
    stream_options: optionalObject("Options for streamed replies."),
    max_output_tokens: optionalAtLeast(1, "Maximum number of output tokens."),
    max_tool_calls: optionalAtLeast(1, "Maximum number of calls of built-in tools."),
    temperature: optionalNumber(0, 2, "Sampling temperature. 0 is the least random."),
    top_p: optionalNumber(0, 1, "Nucleus sampling: the probability mass to sample from."),
    top_logprobs: optionalInteger(0, 20, "Alternatives per token."),
    tools: Type.Optional(toolList("Tools that the model can call.")),
    tool_choice: toolChoice,
    parallel_tool_calls: optionalFlag("Whether a reply can contain several tool calls."),
    text: textConfig,
    reasoning,
    include: Type.Optional(
      Type.Array(Type.String({ "x-says": "a string" }), {
        ...told(
          "What to return beside the answer, such as reasoning.encrypted_content.",
          "a list of strings",
        ),
      }),
    ),
    truncation: Type.Optional(
      Type.Enum(
        ["auto", "disabled"],
        told("Whether a vendor may drop the middle of a conversation.", '"auto" or "disabled"'),
      ),
    ),
    metadata,
    user: optionalText("Your identifier for the end user."),
    safety_identifier: optionalText("Your identifier for the end user."),
    prompt_cache_key: optionalText(
      "Groups requests with a common start, for vendors that cache by it.",
    ),
    service_tier: optionalText(
      "`default` is forwarded to vendors that accept it. Other tiers are not forwarded, because they change the price.",
    ),
    background: Type.Optional(
      Type.Unsafe<false>({
        enum: [false],
        ...told("Not supported.", "false. Background responses are not supported"),
      }),
    ),
    conversation: unsupported("Send the conversation in input"),
    prompt: unsupported("Send the prompt in instructions and input"),
  },
  named("CreateResponseRequest", "A request for a response."),
);

export type ResponseRequest = Static<typeof responseRequest>;
