import { type Static, type TSchema, Type } from "typebox";
import { voices } from "../../call/speak.ts";

/**
 * The request bodies of the contract, and what chat-completions clients send beyond it. `says`
 * completes the sentence "<field> must be …" where the schema alone would say it badly. Fields
 * that are not named here never fail a request.
 */
const says = (words: string) => ({ "x-says": words });

const text = Type.String(says("a string"));
const textPart = Type.Object({ type: Type.Literal("text"), text });
const refusalPart = Type.Object({ type: Type.Literal("refusal"), refusal: text });
const imagePart = Type.Object({
  type: Type.Literal("image_url"),
  image_url: Type.Object(
    {
      url: text,
      detail: Type.Optional(
        Type.Union(
          [Type.Null(), Type.Enum(["auto", "low", "high"])],
          says('"auto", "low" or "high"'),
        ),
      ),
    },
    says("an object with a url"),
  ),
});

/** One field tells the kinds apart, so that an error speaks of the kind that was meant. */
const tagged = (
  tag: string,
  kinds: TSchema[],
  words: { readonly tag: string; readonly whole: string },
) =>
  Type.Unsafe({
    type: "object",
    discriminator: { propertyName: tag },
    oneOf: kinds,
    "x-tag": words.tag,
    ...says(words.whole),
  });

const oneOfParts = (parts: TSchema[], kinds: string) =>
  Type.Array(tagged("type", parts, { tag: `one of: ${kinds}`, whole: "an object with a type" }), {
    minItems: 1,
    ...says("a list of at least one content part"),
  });

const content = (parts: TSchema[], kinds: string) =>
  Type.Union(
    [Type.String(), oneOfParts(parts, kinds)],
    says(`text, or a list of one or more content parts (${kinds})`),
  );

const name = Type.Optional(Type.Union([Type.Null(), Type.String()], says("a string")));
const plainContent = content([textPart], "text");
const toolCall = Type.Object(
  {
    id: text,
    type: Type.Optional(Type.Union([Type.Null(), Type.Literal("function")], says('"function"'))),
    function: Type.Object(
      { name: text, arguments: text },
      says("an object with name and arguments"),
    ),
  },
  says("an object with id and function"),
);

const messages = Type.Array(
  tagged(
    "role",
    [
      Type.Object({ role: Type.Enum(["system", "developer"]), content: plainContent, name }),
      Type.Object({
        role: Type.Literal("user"),
        content: content([textPart, imagePart], "text, image_url"),
        name,
      }),
      Type.Object({
        role: Type.Literal("assistant"),
        content: Type.Optional(
          Type.Union(
            [Type.Null(), content([textPart, refusalPart], "text, refusal")],
            says("text, a list of text parts, or null beside tool_calls"),
          ),
        ),
        tool_calls: Type.Optional(
          Type.Union([Type.Null(), Type.Array(toolCall)], says("a list of tool calls")),
        ),
        name,
      }),
      Type.Object({ role: Type.Literal("tool"), content: plainContent, tool_call_id: text }),
    ],
    {
      tag: "one of: system, developer, user, assistant, tool",
      whole: "an object with role and content",
    },
  ),
  { minItems: 1, ...says("a list of at least one message") },
);

const functionTool = Type.Object(
  {
    type: Type.Literal("function"),
    function: Type.Object(
      {
        name: Type.String({ minLength: 1, ...says("the name of the function") }),
        description: Type.Optional(Type.Union([Type.Null(), Type.String()], says("a string"))),
        parameters: Type.Optional(
          Type.Union([Type.Null(), Type.Object({})], says("a JSON schema")),
        ),
      },
      says("an object with at least a name"),
    ),
  },
  says('an object such as {"type":"function","function":{…}}'),
);
const tool = tagged("type", [functionTool], {
  tag: '"function"',
  whole: 'an object such as {"type":"function","function":{…}}',
});

const between = (minimum: number, maximum: number) =>
  Type.Optional(
    Type.Number({ minimum, maximum, ...says(`a number from ${minimum} to ${maximum}`) }),
  );
const atLeastOne = Type.Optional(Type.Integer({ minimum: 1, ...says("an integer of at least 1") }));
const flag = Type.Optional(Type.Boolean(says("true or false")));
const record = (words: string) => Type.Optional(Type.Object({}, says(words)));

export const chatRequest = Type.Object({
  model: text,
  messages,
  max_tokens: atLeastOne,
  max_completion_tokens: atLeastOne,
  temperature: between(0, 2),
  top_p: between(0, 1),
  stream: flag,
  stream_options: Type.Optional(
    Type.Object(
      {
        include_usage: Type.Optional(
          Type.Union([Type.Null(), Type.Boolean()], says("true or false")),
        ),
      },
      says('an object such as {"include_usage":true}'),
    ),
  ),
  stop: Type.Optional(
    Type.Union(
      [Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 16 })],
      says("a string, or a list of 1 to 16 strings"),
    ),
  ),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 128, ...says("an integer from 1 to 128") })),
  seed: Type.Optional(Type.Integer(says("an integer"))),
  presence_penalty: between(-2, 2),
  frequency_penalty: between(-2, 2),
  logprobs: flag,
  top_logprobs: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 20, ...says("an integer from 0 to 20") }),
  ),
  logit_bias: record("an object of token ids and numbers"),
  tools: Type.Optional(Type.Array(tool, { maxItems: 128, ...says("a list of at most 128 tools") })),
  tool_choice: Type.Optional(
    Type.Union(
      [Type.Enum(["none", "auto", "required"]), Type.Object({ type: Type.String() })],
      says('"none", "auto", "required", or an object that names a tool'),
    ),
  ),
  parallel_tool_calls: flag,
  response_format: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(
          ["text", "json_object", "json_schema"],
          says('"text", "json_object" or "json_schema"'),
        ),
      },
      says("an object with a type"),
    ),
  ),
  user: Type.Optional(text),
  metadata: record("an object"),
  reasoning_effort: Type.Optional(text),
});

/** Without `input`, whose many forms embeddings-input.ts reads. */
export const embeddingRequest = Type.Object({
  model: text,
  dimensions: Type.Optional(Type.Enum([768, 1536, 3072], says("768, 1536 or 3072"))),
  encoding_format: Type.Optional(Type.Enum(["float", "base64"], says('"float" or "base64"'))),
  user: Type.Optional(text),
});

export const maxSpeechCharacters = 5000;

export const speechRequest = Type.Object({
  model: text,
  input: Type.String({
    minLength: 1,
    maxLength: maxSpeechCharacters,
    ...says(`text of 1 to ${maxSpeechCharacters} characters`),
  }),
  voice: Type.Enum([...voices], says(`one of: ${voices.join(", ")} (names are case-sensitive)`)),
  response_format: Type.Optional(Type.Enum(["wav", "pcm"], says('"wav" or "pcm"'))),
});

export type ChatRequest = Static<typeof chatRequest>;
export type EmbeddingRequest = Static<typeof embeddingRequest>;
export type SpeechRequest = Static<typeof speechRequest>;
