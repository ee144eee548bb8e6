import type { Static, TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import {
  anyObject,
  filled,
  modelId,
  named,
  nullable,
  nullableFlag,
  nullableObject,
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
} from "../schema.ts";
import { unserved } from "./unserved.ts";

const textPart = Type.Object(
  { type: Type.Literal("text"), text: text("The text.") },
  named("TextPart", "A text part."),
);
const refusalPart = Type.Object(
  { type: Type.Literal("refusal"), refusal: text("The refusal text.") },
  named("RefusalPart", "A refusal from an earlier reply."),
);
const imagePart = Type.Object(
  {
    type: Type.Literal("image_url"),
    image_url: Type.Object(
      {
        url: text("An http(s) URL or a data URI."),
        detail: Type.Optional(
          nullable(
            Type.Enum(["auto", "low", "high"]),
            told("Level of detail.", '"auto", "low" or "high"'),
          ),
        ),
      },
      told("The image.", "an object with a url"),
    ),
  },
  named("ImagePart", "An image, for models that accept images."),
);

const filePart = Type.Object(
  {
    type: Type.Literal("file"),
    file: Type.Object(
      {
        file_data: Type.String({
          pattern: "^[dD][aA][tT][aA]:",
          ...told(
            "A data URI such as data:application/pdf;base64,….",
            "a data URI such as data:application/pdf;base64,…",
          ),
        }),
        filename: nullableText("File name."),
      },
      told("The file.", "an object with file_data"),
    ),
  },
  named("FilePart", "A file, for models that accept files."),
);
const audioPart = Type.Object(
  {
    type: Type.Literal("input_audio"),
    input_audio: Type.Object(
      {
        data: filled("The audio in base64.", "a base64 string"),
        format: Type.Enum(["wav", "mp3"], told("Audio format.", '"wav" or "mp3"')),
      },
      told("The audio.", "an object with data and format"),
    ),
  },
  named("AudioPart", "Audio, for models that accept audio."),
);

const content = (parts: TSchema[], kinds: string) => {
  const part = tagged("type", parts, {
    "x-tag": `one of: ${kinds}`,
    "x-says": "an object with a type",
  });
  const list = Type.Array(part, { minItems: 1, "x-says": "a list of at least one content part" });
  const says = `text, or a list of one or more content parts (${kinds})`;
  return Type.Union([Type.String(), list], told(`Text, or content parts: ${kinds}.`, says));
};

const name = nullableText("Distinguishes participants with the same role.");
const plainContent = content([textPart], "text");

const toolCall = Type.Object(
  {
    id: text("Id of the call; the tool message repeats it as tool_call_id."),
    type: Type.Optional(nullable(Type.Literal("function"), told("Always function.", '"function"'))),
    function: Type.Object(
      {
        name: text("Name of the function."),
        arguments: text("Arguments as JSON text, as written by the model."),
      },
      told("The function to call.", "an object with name and arguments"),
    ),
  },
  {
    ...named("ToolCall", "A tool call made by the model."),
    "x-says": "an object with id and function",
  },
);

/** One of these must be there: an assistant message that says nothing has no meaning. */
const assistantSays = [
  Type.Object({
    tool_calls: Type.Array(anyObject(told("A tool call.", "a tool call")), {
      minItems: 1,
      ...told("At least one tool call.", "a list of at least one tool call"),
    }),
  }),
  Type.Object({ refusal: text("The refusal text.") }),
  // The last one provides the words of the error.
  Type.Object({
    content: Type.Union(
      [Type.String(), Type.Array(anyObject(told("A content part.", "a content part")))],
      told("Text or content parts.", "text, unless the message has tool_calls or a refusal"),
    ),
  }),
];

const message = tagged(
  "role",
  [
    Type.Object(
      {
        role: Type.Enum(
          ["system", "developer"],
          told("Both roles are equivalent.", '"system" or "developer"'),
        ),
        content: plainContent,
        name,
      },
      named("InstructionMessage", "Instructions for the model."),
    ),
    Type.Object(
      {
        role: Type.Literal("user"),
        content: content(
          [textPart, imagePart, filePart, audioPart],
          "text, image_url, file, input_audio",
        ),
        name,
      },
      named("UserMessage", "A message from the user."),
    ),
    Type.Object(
      {
        role: Type.Literal("assistant"),
        content: Type.Optional(
          nullable(
            content([textPart, refusalPart], "text, refusal"),
            told(
              "The model's reply. May be null or omitted only with tool_calls or a refusal.",
              "text, a list of text parts, or null with tool_calls",
            ),
          ),
        ),
        refusal: nullableText("The refusal text of an earlier reply."),
        tool_calls: Type.Optional(
          nullable(Type.Array(toolCall), told("The model's tool calls.", "a list of tool calls")),
        ),
        name,
      },
      { ...named("AssistantMessage", "An earlier reply from the model."), anyOf: assistantSays },
    ),
    Type.Object(
      {
        role: Type.Literal("tool"),
        content: content([textPart, imagePart, filePart], "text, image_url, file"),
        tool_call_id: text("Id of the tool call that this message answers."),
      },
      named("ToolMessage", "The result of a tool call."),
    ),
  ],
  {
    ...named("Message", "A message in the conversation."),
    "x-tag": "one of: system, developer, user, assistant, tool",
    "x-says": "an object with role and content",
  },
);

const toolForm = 'an object such as {"type":"function","function":{…}}';
const functionTool = Type.Object(
  {
    type: Type.Literal("function"),
    function: Type.Object(
      {
        name: filled("Name of the function.", "the name of the function"),
        description: nullableText("Description of the function, for the model."),
        parameters: nullableObject("Parameters as a JSON Schema.", "a JSON schema"),
        strict: nullableFlag("Enforces the schema strictly."),
      },
      told("The function.", "an object with at least a name"),
    ),
  },
  { ...named("Tool", "A function that the model can call."), "x-says": toolForm },
);
/** One kind so far; told by its type, so that an error speaks of a type that we do not know. */
const tool = tagged("type", [functionTool], { "x-tag": '"function"', "x-says": toolForm });

const stop = Type.Optional(
  Type.Union(
    [
      Type.String(),
      Type.Array(Type.String({ "x-says": "a string" }), {
        minItems: 1,
        maxItems: 16,
        "x-says": "a list of 1 to 16 strings",
      }),
    ],
    told(
      "Sequences that stop generation. They are not included in the reply.",
      "a string, or a list of 1 to 16 strings",
    ),
  ),
);

const toolChoice = Type.Optional(
  Type.Union(
    [
      Type.Enum(["none", "auto", "required"]),
      Type.Object(
        {
          type: Type.String(told("Tool type: function.", '"function"')),
          function: Type.Optional(
            Type.Object(
              { name: text("Name of the function.") },
              told("The function that must be called.", "an object with a name"),
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

const responseFormat = Type.Optional(
  tagged(
    "type",
    [
      Type.Object({ type: Type.Literal("text") }, named("TextFormat", "Plain text (the default).")),
      Type.Object(
        { type: Type.Literal("json_object") },
        named("JsonObjectFormat", "A JSON object."),
      ),
      Type.Object(
        {
          type: Type.Literal("json_schema"),
          json_schema: anyObject(
            told("An object with name, schema and strict.", "an object with name and schema"),
          ),
        },
        named("JsonSchemaFormat", "JSON that follows a schema."),
      ),
    ],
    {
      description: "Format of the reply.",
      "x-tag": '"text", "json_object" or "json_schema"',
      "x-says": "an object with a type",
    },
  ),
);

/** Also the words for keys that are not token ids, which OpenAPI 3.0 cannot describe. */
export const biasForm = "an object of token ids and numbers from -100 to 100";

/**
 * The body of POST /v1/chat/completions: the contract's fields, and what chat-completions clients
 * send beyond it. Fields that are not named here never fail a request.
 */
export const chatRequest = Type.Object(
  {
    model: modelId("chat"),
    messages: Type.Array(message, {
      minItems: 1,
      ...told("The conversation so far.", "a list of at least one message"),
    }),
    max_tokens: optionalAtLeast(1, "Maximum number of output tokens."),
    max_completion_tokens: optionalAtLeast(
      1,
      "Alias of max_tokens. If both are set, the lower applies.",
    ),
    temperature: optionalNumber(0, 2, "Sampling temperature. 0 is the least random."),
    top_p: optionalNumber(0, 1, "Nucleus sampling: the probability mass to sample from."),
    stream: optionalFlag("Whether to stream the reply as server-sent events. Default: false."),
    stream_options: Type.Optional(
      Type.Object(
        {
          include_usage: nullableFlag("Sends usage in a final event."),
        },
        told("Options for streamed replies.", 'an object such as {"include_usage":true}'),
      ),
    ),
    stop,
    n: optionalInteger(1, 128, "Number of choices. Each one is billed."),
    seed: Type.Optional(
      Type.Integer(
        told("Seed for reproducible replies, as far as the model supports it.", "an integer"),
      ),
    ),
    presence_penalty: optionalNumber(
      -2,
      2,
      "Positive values make tokens that already appeared less likely.",
    ),
    frequency_penalty: optionalNumber(-2, 2, "Positive values make frequent tokens less likely."),
    logprobs: optionalFlag("Whether to return log probabilities of the output tokens."),
    top_logprobs: optionalInteger(0, 20, "Alternatives per token. Requires logprobs."),
    logit_bias: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.Number({
            minimum: -100,
            maximum: 100,
            "x-says": "a number from -100 to 100",
          }),
          ...told("Bias by token id; positive values make a token more likely.", biasForm),
        },
      ),
    ),
    tools: Type.Optional(
      Type.Array(tool, {
        maxItems: 128,
        ...told("Tools that the model can call.", "a list of at most 128 tools"),
      }),
    ),
    tool_choice: toolChoice,
    parallel_tool_calls: optionalFlag("Whether a reply can contain several tool calls."),
    response_format: responseFormat,
    user: optionalText("Your identifier for the end user."),
    metadata: optionalObject("Your own key-value pairs, for providers that store them."),
    store: optionalFlag("Whether the provider may store the reply, if it supports that."),
    service_tier: optionalText(
      "`default` is forwarded to vendors that accept it. Other tiers are not forwarded, because they change the price.",
    ),
    reasoning_effort: optionalText("Reasoning effort: low, medium, high, …"),
    ...unserved,
  },
  named("ChatCompletionRequest", "A chat completion request."),
);

export type ChatRequest = Static<typeof chatRequest>;
