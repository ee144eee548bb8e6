import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { anyObject, modelId, named, nullable, tagged, told } from "../schema.ts";
import { freeObject, input, metadata } from "./items.ts";
import { toolList } from "./tools-schema.ts";

/** The body of POST /v1/responses. Fields that are not named here never fail a request. */
const text = (description: string) => Type.Optional(Type.String(told(description, "a string")));
const flag = (description: string) =>
  Type.Optional(Type.Boolean(told(description, "true or false")));
const between = (minimum: number, maximum: number, description: string) =>
  Type.Optional(
    Type.Number({
      minimum,
      maximum,
      ...told(description, `a number from ${minimum} to ${maximum}`),
    }),
  );
const integer = (minimum: number, maximum: number, description: string) =>
  Type.Optional(
    Type.Integer({
      minimum,
      maximum,
      ...told(description, `an integer from ${minimum} to ${maximum}`),
    }),
  );
const mayText = (description: string) =>
  Type.Optional(nullable(Type.String(), told(description, "a string")));

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
        description: mayText("Description of the schema, for the model."),
        strict: Type.Optional(
          nullable(Type.Boolean(), told("Enforces the schema strictly.", "true or false")),
        ),
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
      verbosity: mayText("How long answers are: low, medium, high."),
    },
    told("Options for text.", 'an object such as {"format":{"type":"text"}}'),
  ),
);

const reasoning = Type.Optional(
  Type.Object(
    {
      effort: mayText("Reasoning effort: none, minimal, low, medium, high, …"),
      summary: mayText("Whether to return what the model thought: auto, concise or detailed."),
      generate_summary: mayText("The earlier name of summary."),
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
          type: Type.String(told("Kind of the choice, such as function.", "a string")),
          name: mayText("Name of the tool."),
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

export const responseRequest = Type.Object(
  {
    model: modelId("chat"),
    input,
    instructions: text("Instructions for the model, before the conversation."),
    previous_response_id: text("Continues a stored response. Only where storing is on."),
    store: flag("Whether to store the response. Default: true where storing is on, else false."),
    stream: flag("Whether to stream the reply as server-sent events. Default: false."),
    stream_options: freeObject("Options for streamed replies."),
    max_output_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        ...told("Maximum number of output tokens.", "an integer of at least 1"),
      }),
    ),
    max_tool_calls: Type.Optional(
      Type.Integer({
        minimum: 1,
        ...told("Maximum number of calls of built-in tools.", "an integer of at least 1"),
      }),
    ),
    temperature: between(0, 2, "Sampling temperature. 0 is the least random."),
    top_p: between(0, 1, "Nucleus sampling: the probability mass to sample from."),
    top_logprobs: integer(0, 20, "Alternatives per token."),
    tools: Type.Optional(toolList("Tools that the model can call.")),
    tool_choice: toolChoice,
    parallel_tool_calls: flag("Whether a reply can contain several tool calls."),
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
    user: text("Your identifier for the end user."),
    safety_identifier: text("Your identifier for the end user."),
    prompt_cache_key: text("Groups requests with a common start, for vendors that cache by it."),
    service_tier: text(
      "`default` is forwarded to vendors that accept it. Other tiers are not forwarded, because they change the price.",
    ),
    background: Type.Optional(
      Type.Unsafe<false>({
        enum: [false],
        ...told("Not supported.", "false. Background responses are not supported"),
      }),
    ),
    conversation: Type.Optional(
      Type.Unsafe<null>({
        enum: [null],
        ...told("Not supported.", "omitted. Send the conversation in input"),
      }),
    ),
    prompt: Type.Optional(
      Type.Unsafe<null>({
        enum: [null],
        ...told("Not supported.", "omitted. Send the prompt in instructions and input"),
      }),
    ),
  },
  named("CreateResponseRequest", "A request for a response."),
);

export type ResponseRequest = Static<typeof responseRequest>;
