import type { TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import {
  anyObject,
  filled,
  named,
  nullable,
  nullableFlag,
  nullableObject,
  nullableText,
  tagged,
  text,
  told,
} from "../schema.ts";

/** The blocks of which messages are made, in the Messages format. */

export const cacheControl = nullableObject(
  "Asks the vendor to cache the prompt up to here, for 5 minutes.",
  'an object such as {"type":"ephemeral"}',
);

const citations = nullableObject(
  "Whether the model cites the block. Only for models of vendors that speak this format.",
  'an object such as {"enabled":true}',
);

export const textBlock = Type.Object(
  { type: Type.Literal("text"), text: text("The text."), cache_control: cacheControl },
  named("TextBlock", "A text block."),
);

const base64Form = "base64 data";
const imageSource = tagged(
  "type",
  [
    Type.Object(
      {
        type: Type.Literal("base64"),
        media_type: Type.Enum(
          ["image/jpeg", "image/png", "image/gif", "image/webp"],
          told("Image format.", '"image/jpeg", "image/png", "image/gif" or "image/webp"'),
        ),
        data: filled("The image in base64.", base64Form),
      },
      named("Base64ImageSource", "The image itself."),
    ),
    Type.Object(
      { type: Type.Literal("url"), url: filled("An http(s) URL.", "an http(s) URL") },
      named("UrlImageSource", "The address of an image."),
    ),
  ],
  {
    description: "The image.",
    "x-tag": '"base64" or "url". File ids are not supported',
    "x-says": "an object with a type",
  },
);

const imageBlock = Type.Object(
  { type: Type.Literal("image"), source: imageSource, cache_control: cacheControl },
  named("ImageBlock", "An image, for models that accept images."),
);

/** Text, or a list of blocks of these kinds. */
export function blocks(kinds: TSchema[], names: string, least: 0 | 1 = 1) {
  const block = tagged("type", kinds, {
    "x-tag": `one of: ${names}`,
    "x-says": "an object with a type",
  });
  const list = Type.Array(block, {
    minItems: least,
    "x-says": `a list of ${least === 1 ? "one or more " : ""}blocks`,
  });
  const says = `text, or a list of ${least === 1 ? "one or more " : ""}blocks (${names})`;
  return Type.Union([Type.String(), list], told(`A string, or a list of blocks: ${names}.`, says));
}

const documentSource = tagged(
  "type",
  [
    Type.Object(
      {
        type: Type.Literal("base64"),
        media_type: Type.Enum(["application/pdf"], told("Always a PDF.", '"application/pdf"')),
        data: filled("The PDF in base64.", base64Form),
      },
      named("PdfSource", "A PDF."),
    ),
    Type.Object(
      {
        type: Type.Literal("text"),
        media_type: Type.Optional(
          nullable(Type.Enum(["text/plain"]), told("Always plain text.", '"text/plain"')),
        ),
        data: text("The text."),
      },
      named("PlainTextSource", "Plain text."),
    ),
    Type.Object(
      { type: Type.Literal("content"), content: blocks([textBlock, imageBlock], "text, image") },
      named("BlocksSource", "A document of blocks."),
    ),
    Type.Object(
      { type: Type.Literal("url"), url: filled("The URL of a PDF.", "an http(s) URL") },
      named("UrlPdfSource", "The address of a PDF. Only for vendors that speak this format."),
    ),
  ],
  {
    description: "The document.",
    "x-tag": '"base64", "text", "content" or "url". File ids are not supported',
    "x-says": "an object with a type",
  },
);

const documentBlock = Type.Object(
  {
    type: Type.Literal("document"),
    source: documentSource,
    title: nullableText("Title of the document."),
    context: nullableText("What the model should know about the document."),
    citations,
    cache_control: cacheControl,
  },
  named("DocumentBlock", "A document, for models that accept it."),
);

const searchResultBlock = Type.Object(
  {
    type: Type.Literal("search_result"),
    source: text("Where it was found."),
    title: text("Title of the result."),
    content: Type.Array(
      tagged("type", [textBlock], { "x-tag": '"text"', "x-says": "a text block" }),
      told("Text blocks.", "a list of text blocks"),
    ),
    citations,
    cache_control: cacheControl,
  },
  named("SearchResultBlock", "A result of your own search."),
);

const toolReferenceBlock = Type.Object(
  {
    type: Type.Literal("tool_reference"),
    tool_name: filled("Name of a tool in tools.", "the name of a tool"),
    cache_control: cacheControl,
  },
  named("ToolReferenceBlock", "Makes a deferred tool known to the model."),
);

const toolResultBlock = Type.Object(
  {
    type: Type.Literal("tool_result"),
    tool_use_id: text("Id of the tool_use block that this answers."),
    content: Type.Optional(
      nullable(
        blocks(
          [textBlock, imageBlock, documentBlock, searchResultBlock, toolReferenceBlock],
          "text, image, document, search_result, tool_reference",
          0,
        ),
        told("What the tool returned.", "text, or a list of blocks"),
      ),
    ),
    is_error: nullableFlag("Whether the tool failed."),
    cache_control: cacheControl,
  },
  named("ToolResultBlock", "The result of a tool call."),
);

const thinkingBlock = Type.Object(
  {
    type: Type.Literal("thinking"),
    thinking: text("The reasoning text."),
    signature: nullableText("As it was in the reply."),
  },
  named("ThinkingBlock", "Reasoning of an earlier reply. Send it back unchanged."),
);

const redactedBlock = Type.Object(
  { type: Type.Literal("redacted_thinking"), data: text("As it was in the reply.") },
  named("RedactedThinkingBlock", "Hidden reasoning of an earlier reply. Send it back unchanged."),
);

const toolUseBlock = Type.Object(
  {
    type: Type.Literal("tool_use"),
    id: filled("Id of the call.", "the id of the call"),
    name: filled("Name of the tool.", "the name of a tool"),
    input: anyObject(told("Arguments of the call.", "an object")),
    cache_control: cacheControl,
  },
  named("ToolUseBlock", "A tool call made by the model."),
);

export const message = tagged(
  "role",
  [
    Type.Object(
      {
        role: Type.Literal("user"),
        content: blocks(
          [textBlock, imageBlock, documentBlock, searchResultBlock, toolResultBlock],
          "text, image, document, search_result, tool_result",
        ),
      },
      named("UserTurn", "A message from the user, or the results of tools."),
    ),
    Type.Object(
      {
        role: Type.Literal("assistant"),
        content: blocks(
          [textBlock, thinkingBlock, redactedBlock, toolUseBlock],
          "text, thinking, redacted_thinking, tool_use",
          0,
        ),
      },
      named("AssistantTurn", "An earlier reply. As the last message, the start of the reply."),
    ),
    Type.Object(
      { role: Type.Literal("system"), content: blocks([textBlock], "text") },
      named("SystemTurn", "Instructions within the conversation."),
    ),
  ],
  {
    ...named("Turn", "A message in the conversation."),
    "x-tag": "one of: user, assistant, system",
    "x-says": "an object with role and content",
  },
);
