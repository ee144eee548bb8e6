import { type Static, type TSchema, Type } from "typebox";
import { anyObject, modelId, named, nullable, tagged, told } from "../schema.ts";
import { unserved } from "./unserved.ts";

/**
 * The body of POST /v1/chat/completions: the contract's fields, and what chat-completions clients
 * send beyond it. Fields that are not named here never fail a request.
 */
const text = (description: string) => Type.String(told(description, "a string"));

const textPart = Type.Object(
  { type: Type.Literal("text"), text: text("The text.") },
  named("TextPart", "A piece of text."),
);
const refusalPart = Type.Object(
  { type: Type.Literal("refusal"), refusal: text("The words of the refusal.") },
  named("RefusalPart", "An earlier refusal of the model."),
);
const imagePart = Type.Object(
  {
    type: Type.Literal("image_url"),
    image_url: Type.Object(
      {
        url: text("An http(s) address, or a data URI."),
        detail: Type.Optional(
          nullable(
            Type.Enum(["auto", "low", "high"]),
            told("How closely to look.", '"auto", "low" or "high"'),
          ),
        ),
      },
      told("Where the image is.", "an object with a url"),
    ),
  },
  named("ImagePart", "An image, for models that see."),
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
        filename: Type.Optional(nullable(Type.String(), told("The name of the file.", "a string"))),
      },
      told("The file.", "an object with file_data"),
    ),
  },
  named("FilePart", "A document, for models that read them."),
);
const audioPart = Type.Object(
  {
    type: Type.Literal("input_audio"),
    input_audio: Type.Object(
      {
        data: Type.String({ minLength: 1, ...told("The audio in base64.", "a base64 string") }),
        format: Type.Enum(["wav", "mp3"], told("How it is encoded.", '"wav" or "mp3"')),
      },
      told("The audio.", "an object with data and format"),
    ),
  },
  named("AudioPart", "Speech or sounds, for models that hear."),
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

const name = Type.Optional(
  nullable(Type.String(), told("Tells apart those who share a role.", "a string")),
);
const plainContent = content([textPart], "text");

const toolCall = Type.Object(
  {
    id: text("The id that the answer to it names as tool_call_id."),
    type: Type.Optional(nullable(Type.Literal("function"), told("Always function.", '"function"'))),
    function: Type.Object(
      {
        name: text("The function's name."),
        arguments: text("Its arguments: JSON, as the model wrote it."),
      },
      told("What is called.", "an object with name and arguments"),
    ),
  },
  {
    ...named("ToolCall", "A tool call that the model made."),
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
  Type.Object({ refusal: text("The words of a refusal.") }),
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
          told("Both mean the same.", '"system" or "developer"'),
        ),
        content: plainContent,
        name,
      },
      named("InstructionMessage", "What the model is told before the conversation."),
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
      named("UserMessage", "What the user says."),
    ),
    Type.Object(
      {
        role: Type.Literal("assistant"),
        content: Type.Optional(
          nullable(
            content([textPart, refusalPart], "text, refusal"),
            told(
              "What the model said. Null, or absent, only beside tool_calls or a refusal.",
              "text, a list of text parts, or null beside tool_calls",
            ),
          ),
        ),
        refusal: Type.Optional(
          nullable(Type.String(), told("The words of a refusal, sent back.", "a string")),
        ),
        tool_calls: Type.Optional(
          nullable(Type.Array(toolCall), told("The tools that it called.", "a list of tool calls")),
        ),
        name,
      },
      { ...named("AssistantMessage", "What the model said before."), anyOf: assistantSays },
    ),
    Type.Object(
      {
        role: Type.Literal("tool"),
        content: content([textPart, imagePart, filePart], "text, image_url, file"),
        tool_call_id: text("The call that this answers."),
      },
      named("ToolMessage", "What a tool gave back."),
    ),
  ],
  {
    ...named("Message", "One message of the conversation."),
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
        name: Type.String({
          minLength: 1,
          ...told("The function's name.", "the name of the function"),
        }),
        description: Type.Optional(
          nullable(Type.String(), told("What it does, for the model.", "a string")),
        ),
        parameters: Type.Optional(
          nullable(anyObject(), told("Its arguments, as a JSON schema.", "a JSON schema")),
        ),
        strict: Type.Optional(
          nullable(Type.Boolean(), told("Holds the arguments to the schema.", "true or false")),
        ),
      },
      told("The function.", "an object with at least a name"),
    ),
  },
  { ...named("Tool", "A function that the model may call."), "x-says": toolForm },
);
/** One kind so far; told by its type, so that an error speaks of a type that we do not know. */
const tool = tagged("type", [functionTool], { "x-tag": '"function"', "x-says": toolForm });

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
const atLeastOne = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, ...told(description, "an integer of at least 1") }));
const flag = (description: string) =>
  Type.Optional(Type.Boolean(told(description, "true or false")));
const record = (description: string, says = "an object") =>
  Type.Optional(anyObject(told(description, says)));

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
      "Texts that end the answer; they are not part of it.",
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
          type: Type.String(told("The kind of tool: function.", '"function"')),
          function: Type.Optional(
            Type.Object(
              { name: text("The function's name.") },
              told("The one that must be called.", "an object with a name"),
            ),
          ),
        },
        { additionalProperties: true, "x-says": "an object that names a tool" },
      ),
    ],
    told(
      "Whether tools are called, or the one that must be.",
      '"none", "auto", "required", or an object that names a tool',
    ),
  ),
);

const responseFormat = Type.Optional(
  tagged(
    "type",
    [
      Type.Object({ type: Type.Literal("text") }, named("TextFormat", "Text, as ever.")),
      Type.Object(
        { type: Type.Literal("json_object") },
        named("JsonObjectFormat", "Some JSON object."),
      ),
      Type.Object(
        {
          type: Type.Literal("json_schema"),
          json_schema: anyObject(
            told("A name, the schema, and strict.", "an object with name and schema"),
          ),
        },
        named("JsonSchemaFormat", "JSON that obeys a schema."),
      ),
    ],
    {
      description: "The form of the answer.",
      "x-tag": '"text", "json_object" or "json_schema"',
      "x-says": "an object with a type",
    },
  ),
);

/** Also the words for keys that are not token ids, which OpenAPI 3.0 cannot describe. */
export const biasForm = "an object of token ids and numbers from -100 to 100";

export const chatRequest = Type.Object(
  {
    model: modelId("chat"),
    messages: Type.Array(message, {
      minItems: 1,
      ...told("The conversation so far.", "a list of at least one message"),
    }),
    max_tokens: atLeastOne("The most tokens that the answer may have."),
    max_completion_tokens: atLeastOne("The newer name of max_tokens. Of both the smaller counts."),
    temperature: between(0, 2, "How much chance: 0 is the likeliest answer."),
    top_p: between(0, 1, "Chooses among the likeliest tokens that together have this share."),
    stream: flag("Whether the reply comes as server-sent events; false unless told."),
    stream_options: Type.Optional(
      Type.Object(
        {
          include_usage: Type.Optional(
            nullable(Type.Boolean(), told("A last event tells the usage.", "true or false")),
          ),
        },
        told("Of use beside stream only.", 'an object such as {"include_usage":true}'),
      ),
    ),
    stop,
    n: integer(1, 128, "How many answers; each one costs."),
    seed: Type.Optional(
      Type.Integer(
        told("The same seed gives, as far as the model can, the same answer.", "an integer"),
      ),
    ),
    presence_penalty: between(-2, 2, "Above 0, what was said already is less likely."),
    frequency_penalty: between(-2, 2, "Above 0, what was said often is less likely."),
    logprobs: flag("Whether the reply tells how likely each token was."),
    top_logprobs: integer(0, 20, "With logprobs: how many other tokens to tell of."),
    logit_bias: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.Number({
            minimum: -100,
            maximum: 100,
            "x-says": "a number from -100 to 100",
          }),
          ...told("Token ids and how much likelier each becomes.", biasForm),
        },
      ),
    ),
    tools: Type.Optional(
      Type.Array(tool, {
        maxItems: 128,
        ...told("What the model may call.", "a list of at most 128 tools"),
      }),
    ),
    tool_choice: toolChoice,
    parallel_tool_calls: flag("Whether one answer may call several tools."),
    response_format: responseFormat,
    user: Type.Optional(text("Your own name for the user.")),
    metadata: record("Names and values of your own, for providers that keep them."),
    store: flag("Whether a provider that can may keep the reply."),
    service_tier: Type.Optional(
      text(
        "`default` is passed on to vendors that take it. Other tiers are not: they change the price.",
      ),
    ),
    reasoning_effort: Type.Optional(
      text("How long a reasoning model may think: low, medium, high …"),
    ),
    ...unserved,
  },
  named("ChatCompletionRequest", "A conversation, and how it is to be answered."),
);

export type ChatRequest = Static<typeof chatRequest>;
