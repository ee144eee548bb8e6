import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import {
  anyObject,
  atLeast,
  filled,
  modelId,
  named,
  nullable,
  nullableFlag,
  nullableObject,
  nullableText,
  optionalAtLeast,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  tagged,
  told,
  unsupported,
} from "../schema.ts";
import { blocks, cacheControl, message, textBlock } from "./blocks.ts";

/**
 * The body of POST /v1/messages. Fields that are not named here never fail a request, and never go
 * upstream.
 */
const toolForm = "an object with name and input_schema";
const tool = Type.Object(
  {
    type: Type.Optional(
      nullable(
        Type.String({ pattern: "^(custom|(bash|text_editor|memory|computer)_\\d{8})$" }),
        told(
          "`custom`, or a tool of the vendor's that your program runs: bash, text editor, memory, computer. Only for vendors that have it.",
          "custom, bash_…, text_editor_…, memory_… or computer_…. Tools that a vendor runs and bills, such as web search, are not supported",
        ),
      ),
    ),
    name: filled("Name of the tool.", "the name of the tool"),
    description: nullableText("Description of the tool, for the model."),
    input_schema: nullableObject("Arguments of the tool as a JSON Schema.", "a JSON schema"),
    strict: nullableFlag("Enforces the schema strictly."),
    defer_loading: nullableFlag("Hides the tool until a tool_reference block names it."),
    cache_control: cacheControl,
  },
  { ...named("MessagesTool", "A tool that the model can call."), "x-says": toolForm },
);

const parallel = {
  disable_parallel_tool_use: nullableFlag("Allows one tool call per reply at most."),
};
const toolChoice = tagged(
  "type",
  [
    Type.Object(
      { type: Type.Literal("auto"), ...parallel },
      named("AutoToolChoice", "The model decides."),
    ),
    Type.Object(
      { type: Type.Literal("any"), ...parallel },
      named("AnyToolChoice", "The model must call a tool."),
    ),
    Type.Object(
      {
        type: Type.Literal("tool"),
        name: filled("Name of the tool.", "the name of a tool"),
        ...parallel,
      },
      named("NamedToolChoice", "The model must call this tool."),
    ),
    Type.Object(
      { type: Type.Literal("none") },
      named("NoToolChoice", "The model must not call tools."),
    ),
  ],
  {
    description: "Whether the model calls tools, or which tool it must call.",
    "x-tag": '"auto", "any", "tool" or "none"',
    "x-says": "an object with a type",
  },
);

const display = Type.Optional(
  nullable(
    Type.Enum(["summarized", "omitted"]),
    told("Whether the reply has the text of the reasoning.", '"summarized" or "omitted"'),
  ),
);
const thinking = tagged(
  "type",
  [
    Type.Object(
      {
        type: Type.Literal("enabled"),
        budget_tokens: atLeast(1, "Most tokens to think with. They count toward max_tokens."),
        display,
      },
      named("ThinkingEnabled", "The model thinks, within a budget."),
    ),
    Type.Object(
      { type: Type.Literal("adaptive"), display },
      named("ThinkingAdaptive", "The model decides how long it thinks."),
    ),
    Type.Object(
      { type: Type.Literal("disabled") },
      named("ThinkingDisabled", "The model does not think, as far as it can be switched off."),
    ),
  ],
  {
    description: "Whether and how long the model thinks.",
    "x-tag": '"enabled", "adaptive" or "disabled"',
    "x-says": "an object with a type",
  },
);

const jsonFormat = Type.Object(
  {
    type: Type.Enum(["json_schema"], told("Always json_schema.", '"json_schema"')),
    schema: anyObject(told("The JSON Schema.", "a JSON schema")),
  },
  { additionalProperties: true },
);
const formatForm = 'an object such as {"type":"json_schema","schema":{…}}';
const outputConfig = Type.Object(
  {
    effort: Type.Optional(
      nullable(
        Type.Enum(["low", "medium", "high", "xhigh", "max"]),
        told("How much effort the model makes.", '"low", "medium", "high", "xhigh" or "max"'),
      ),
    ),
    format: Type.Optional(nullable(jsonFormat, told("Makes the reply JSON.", formatForm))),
  },
  { additionalProperties: true, ...told("Effort and format of the reply.", "an object") },
);

/** Fields that would change the answer or the bill if they were ignored. */
const unserved = {
  thread: unsupported("Send the whole conversation in messages"),
  container: unsupported("This API does not run code"),
  mcp_servers: Type.Optional(
    Type.Array(anyObject(told("A server.", "omitted")), {
      maxItems: 0,
      ...told(
        "Not supported.",
        "omitted. Connect to MCP servers in your program and pass their tools in tools",
      ),
    }),
  ),
  inference_geo: unsupported("The operator chooses where models run"),
  speed: Type.Optional(
    Type.Enum(
      ["standard"],
      told("Only standard.", '"standard". Faster processing has another price'),
    ),
  ),
};

const counted = {
  model: modelId("chat"),
  messages: Type.Array(message, {
    minItems: 1,
    ...told("The conversation so far.", "a list of at least one message"),
  }),
  system: Type.Optional(blocks([textBlock], "text", 0)),
  tools: Type.Optional(
    Type.Array(tool, {
      maxItems: 512,
      ...told("Tools that the model can call.", "a list of at most 512 tools"),
    }),
  ),
  tool_choice: Type.Optional(toolChoice),
  thinking: Type.Optional(thinking),
  output_config: Type.Optional(outputConfig),
  output_format: Type.Optional(
    Type.Object(jsonFormat.properties, {
      additionalProperties: true,
      ...told("Older name of output_config.format.", formatForm),
    }),
  ),
  cache_control: optionalObject(
    "Asks the vendor to cache the whole prompt, for 5 minutes.",
    'an object such as {"type":"ephemeral"}',
  ),
  ...unserved,
};

export const messagesRequest = Type.Object(
  {
    ...counted,
    max_tokens: atLeast(1, "Maximum number of output tokens, reasoning included."),
    stream: optionalFlag("Whether to stream the reply as server-sent events. Default: false."),
    stop_sequences: Type.Optional(
      Type.Array(Type.String({ minLength: 1, "x-says": "a string of at least one character" }), {
        maxItems: 16,
        ...told(
          "Sequences that stop generation. They are not included in the reply.",
          "a list of at most 16 strings",
        ),
      }),
    ),
    temperature: optionalNumber(0, 1, "Sampling temperature. 0 is the least random."),
    top_p: optionalNumber(0, 1, "Nucleus sampling: the probability mass to sample from."),
    top_k: optionalAtLeast(
      0,
      "Samples from the most likely tokens only, for models that support it.",
    ),
    metadata: Type.Optional(
      Type.Object(
        {
          user_id: nullableText("Your identifier for the end user."),
        },
        {
          additionalProperties: true,
          ...told("About the request.", 'an object such as {"user_id":"…"}'),
        },
      ),
    ),
    service_tier: optionalText(
      "`standard_only` is forwarded to vendors that speak this format. Other tiers are not forwarded, because they change the price.",
    ),
  },
  named("MessagesRequest", "A request in the Messages format."),
);

/** The body of POST /v1/messages/count_tokens. */
export const countRequest = Type.Object(
  counted,
  named("CountTokensRequest", "A prompt whose tokens are to be counted."),
);

export type MessagesRequest = Static<typeof messagesRequest>;
export type CountRequest = Static<typeof countRequest>;
