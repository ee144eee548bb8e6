import { type ChatCall, isJsonObject, type Json, type JsonObject } from "./chat.ts";
import { TextBound } from "./text-bound.ts";

/** What templates put around every message, and around the whole; rather too much than too little. */
const tokensAroundMessage = 16;
const tokensAroundCall = 64;
/** What vendors say to a model about its tools, besides the tools themselves. */
const tokensAroundTools = 640;

/** The options that a model reads as part of its prompt. */
const readOptions = ["tools", "tool_choice", "response_format", "chat_template_kwargs"] as const;

/**
 * The most tokens that a prompt can be. A tokenizer that works on bytes, as all of today's do, never
 * makes more tokens of a text than it has bytes in UTF-8; what is no text counts at its most.
 */
export function mostInputTokens(call: ChatCall, maxImageTokens: number): number {
  let bytes = 0;
  const bound = new TextBound();
  const images = walk(call, (text, { data }) => {
    bytes += bound.bytesOf(text);
    for (const long of data) bytes += bound.bytesOf(long);
  });
  const tools = call.options["tools"] === undefined ? 0 : tokensAroundTools;
  const around = tokensAroundCall + call.messages.length * tokensAroundMessage + tools;
  const { promptTokens = 0, addedTokens = 0 } = call.original ?? {};
  return bytes + images * maxImageTokens + around + promptTokens + addedTokens;
}

/** The texts that a tokenizer counts, and how many images and media tokens come on top. */
export function textsOf(call: ChatCall): {
  readonly texts: readonly string[];
  readonly images: number;
  /** Of documents and sounds, where nobody has counted them. */
  readonly mediaTokens: number;
} {
  const texts: string[] = [];
  let mediaTokens = 0;
  const images = walk(call, (text, { media, data }) => {
    if (media === undefined) texts.push(text, ...data);
    else mediaTokens += mostMediaTokens(charsOf([text, ...data]), media);
  });
  return { texts, images, mediaTokens };
}

/**
 * Whether there are documents or sounds, whose size says little of their tokens: a hundred empty
 * pages are a few kilobytes. Only the model's context bounds them.
 */
export function hasMedia({ messages }: ChatCall): boolean {
  for (const { content } of messages)
    if (Array.isArray(content)) for (const part of content) if (isMedia(part)) return true;
  return false;
}

interface TextSource {
  /** What the text is in place of, a document or a sound. */
  readonly media?: JsonObject | undefined;
  /** Long strings that were left out of the text. */
  readonly data: readonly string[];
}

type OnText = (text: string, source: TextSource) => void;

const plain: TextSource = { data: [] };

const charsOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);

/**
 * At most a token a byte, of documents whose text is packed. A second of sound is 32 tokens at most,
 * and 4,000 bytes or more.
 */
function mostMediaTokens(chars: number, { type }: JsonObject): number {
  const bytes = Math.ceil((chars * 3) / 4);
  return type === "input_audio" ? Math.ceil(bytes / 125) : bytes;
}

/** Gives every text, and how many images there are. */
function walk({ messages, options }: ChatCall, onText: OnText): number {
  let images = 0;
  for (const message of messages) {
    for (const name in message) {
      if (name === "role") continue;
      const value = message[name];
      if (typeof value === "string") onText(value, plain);
      else if (name === "content" && Array.isArray(value)) images += walkParts(value, onText);
      else if (value !== undefined && value !== null) onText(JSON.stringify(value), plain);
    }
  }
  for (const name of readOptions) {
    const value = options[name];
    if (value !== undefined && value !== null) onText(JSON.stringify(value), plain);
  }
  return images;
}

function walkParts(parts: readonly Json[], onText: OnText): number {
  let images = 0;
  for (const part of parts) {
    if (isImage(part)) images++;
    else if (!isJsonObject(part)) onText(JSON.stringify(part), plain);
    else {
      const { rest, data } = withoutLong(part);
      onText(textOf(rest), { media: isMedia(part) ? part : undefined, data });
    }
  }
  return images;
}

/** What is sent in place of an image, a document for example, counts by its size. */
function isImage(part: Json): boolean {
  if (!isJsonObject(part) || part["type"] !== "image_url") return false;
  const image = part["image_url"];
  const url = isJsonObject(image) ? image["url"] : undefined;
  return typeof url === "string" && !/^data:(?!image\/)/i.test(url);
}

/** What is neither text nor an image. */
function isMedia(part: Json): boolean {
  if (!isJsonObject(part)) return false;
  const { type, file } = part;
  if (type === "input_audio") return true;
  if (type === "image_url") return !isImage(part);
  if (type !== "file") return false;
  const { file_data: data, filename } = isJsonObject(file) ? file : {};
  if (typeof data !== "string" || !/^data:text\//i.test(data)) return true;
  // Vendors look at the name and the first bytes, whatever the label says: PDF, Office.
  const isNamedOtherwise = typeof filename === "string" && documentName.test(filename.slice(-10));
  return isNamedOtherwise || documentStart.test(data.slice(0, 300));
}

const documentName = /\.(pdf|docx?|xlsx?|pptx?|odt|ods|odp|epub|rtf)$/i;
const documentStart = /^data:text\/[^,]*,(JVBE|UEsD|0M8R|e1xyd)/i;

function textOf(part: JsonObject): string {
  const { text } = part;
  return typeof text === "string" ? text : JSON.stringify(part);
}

/** Longer strings are files: to write one out, only to measure it, would take tens of milliseconds. */
const longChars = 65_536;

function withoutLong(part: JsonObject): { rest: JsonObject; data: readonly string[] } {
  const name = typeof part["type"] === "string" ? part["type"] : "";
  const inner = part[name];
  if (!isJsonObject(inner)) return { rest: part, data: [] };
  const isLong = (value: Json | undefined) => typeof value === "string" && value.length > longChars;
  const long = Object.entries(inner).filter(([, value]) => isLong(value));
  if (long.length === 0) return { rest: part, data: [] };
  const cut = Object.fromEntries(long.map(([field]) => [field, ""]));
  const data = long.map(([, value]) => String(value));
  return { rest: { ...part, [name]: { ...inner, ...cut } }, data };
}
