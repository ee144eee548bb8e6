import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { isDataUri, toCallerUrl } from "../../kit/caller-url.ts";
import type { Family, Fields } from "../model.ts";

/** What a model takes, for who writes its prompt. */
export interface Reader {
  readonly family: Family;
  readonly supportedUrls: Fields;
  /** Whether the vendor may be given addresses to fetch. */
  readonly takesUrls: boolean;
}

export function refusal(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}

/** The texts of a message, each on a line of its own. */
export function joinedText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.filter(isJsonObject).map(wordsOf).join("\n") : "";
}

/** A refusal that is sent back was said by the model, too. */
export function wordsOf({ text, refusal: refused }: JsonObject): string {
  if (typeof text === "string") return text;
  return typeof refused === "string" ? refused : "";
}

/** What the user says, in text and images. */
export function toUserParts(content: Json | undefined, at: string, reader: Reader): Fields[] {
  if (!Array.isArray(content)) return [{ type: "text", text: joinedText(content) }];
  const parts: Fields[] = [];
  for (const [place, part] of content.entries()) {
    if (!isJsonObject(part)) continue;
    const cached = withCache(part, reader.family);
    const file = toMediaPart(part, `${at}[${place}]`, reader);
    if (file !== undefined) parts.push({ ...file, ...cached });
    // Vendors refuse a text of nothing beside other parts.
    else if (wordsOf(part) !== "" || content.length === 1)
      parts.push({ type: "text", text: wordsOf(part), ...cached });
  }
  return parts;
}

/** An image, a document or audio; undefined where it is text. */
export function toMediaPart(part: JsonObject, at: string, reader: Reader): Fields | undefined {
  switch (part["type"]) {
    case "image_url":
      return toImage(part, `${at}.image_url.url`, reader);
    case "file":
      return toDocument(part, `${at}.file.file_data`, reader);
    case "input_audio":
      throw refusal(`${at}.input_audio`, "is not supported. This model does not accept audio");
    default:
      return undefined;
  }
}

const documentTypes: Readonly<Record<Family, RegExp>> = {
  anthropic: /^(application\/pdf|text\/plain|image\/.*)$/,
  bedrock:
    /^(application\/(pdf|msword|vnd\.(ms-excel|openxmlformats-officedocument\.(wordprocessingml\.document|spreadsheetml\.sheet)))|text\/(csv|html|plain|markdown)|image\/.*)$/,
};

function toDocument({ file }: JsonObject, param: string, reader: Reader): Fields {
  const { file_data: uri, filename } = isJsonObject(file) ? file : {};
  if (typeof uri !== "string" || !isDataUri(uri)) throw refusal(param, "must be a data URI");
  const document = fromDataUri(uri, param);
  if (!documentTypes[reader.family].test(document.mediaType))
    throw refusal(
      param,
      `must be a PDF or plain text. This model does not support ${document.mediaType}`,
    );
  return typeof filename === "string" ? { ...document, filename } : document;
}

/** Writing to a cache has its price, by the minute for some: what is asked for is the shortest. */
export function withCache({ cache_control: wish }: JsonObject, family: Family): Fields {
  if (!isJsonObject(wish)) return {};
  return family === "bedrock"
    ? { providerOptions: { amazonBedrock: { cachePoint: { type: "default" } } } }
    : { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
}

function toImage({ image_url: image }: JsonObject, param: string, reader: Reader): Fields {
  const url = isJsonObject(image) ? image["url"] : undefined;
  if (typeof url !== "string") throw refusal(param, "must be a string");
  if (isDataUri(url)) return fromDataUri(url, param);
  const { takesUrls } = reader;
  const address = toCallerUrl(url, { param, takesUrls });
  // Only the vendor may fetch a caller's URL: the gateway would do it from inside its network.
  if (!isSupported(address, reader.supportedUrls))
    throw refusal(param, "must be a data URI. This model does not accept image URLs");
  const data = new URL(address);
  return {
    type: "file",
    mediaType: "image/*",
    data: { type: "url", url: data },
  };
}

function isSupported(url: string, patterns: Fields): boolean {
  return ["image/*", "*/*", "*"].some((type) => {
    const list = patterns[type];
    return (
      Array.isArray(list) && list.some((pattern) => pattern instanceof RegExp && pattern.test(url))
    );
  });
}

function fromDataUri(uri: string, param: string) {
  const comma = uri.slice(0, maxHeadChars).indexOf(",");
  const head = comma === -1 ? "" : uri.slice("data:".length, comma).toLowerCase();
  const [mediaType = "", ...attributes] = head.split(";");
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mediaType))
    throw refusal(param, "must be a data URI with a media type, such as data:image/png;base64,…");
  const rest = uri.slice(comma + 1);
  const data = attributes.includes("base64") ? rest : fromPercents(rest, param);
  return { type: "file", mediaType, data: { type: "data", data } };
}

/** Real ones have some 30 characters: megabytes of parameters are not looked at. */
const maxHeadChars = 256;
/** Whoever sends more sends it in base64. */
const maxPercentChars = 64 * 1024;

function fromPercents(text: string, param: string): string {
  if (text.length > maxPercentChars) throw refusal(param, "must be a base64 data URI");
  try {
    return Buffer.from(decodeURIComponent(text)).toString("base64");
  } catch {
    throw refusal(param, "must be a base64 data URI");
  }
}
