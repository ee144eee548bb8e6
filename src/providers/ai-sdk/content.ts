import { ApiError } from "../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { isDataUri, toCallerUrl } from "../kit/caller-url.ts";
import type { Family, Fields } from "./model.ts";

/** What a model takes, for who writes its prompt. */
export interface Reader {
  readonly family: Family;
  /** Older packages have the data of a file bare, newer ones say what it is. */
  readonly hasTaggedData: boolean;
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
    if (part["type"] === "image_url")
      parts.push({ ...toFile(part, `${at}[${place}].image_url.url`, reader), ...cached });
    // Vendors refuse a text of nothing beside other parts.
    else if (wordsOf(part) !== "" || content.length === 1)
      parts.push({ type: "text", text: wordsOf(part), ...cached });
  }
  return parts;
}

/** Writing to a cache has its price, by the minute for some: what is asked for is the shortest. */
export function withCache({ cache_control: wish }: JsonObject, family: Family): Fields {
  if (!isJsonObject(wish)) return {};
  return family === "bedrock"
    ? { providerOptions: { amazonBedrock: { cachePoint: { type: "default" } } } }
    : { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
}

function toFile({ image_url: image }: JsonObject, param: string, reader: Reader): Fields {
  const url = isJsonObject(image) ? image["url"] : undefined;
  if (typeof url !== "string") throw refusal(param, "must be a string");
  if (isDataUri(url)) return fromDataUri(url, param, reader);
  const { takesUrls } = reader;
  const address = toCallerUrl(url, { param, takesUrls });
  // Nobody but the vendor may fetch what a caller names: we would do it from inside.
  if (!isSupported(address, reader.supportedUrls))
    throw refusal(param, "must be a data URI: this model takes no images by their address");
  const data = new URL(address);
  return {
    type: "file",
    mediaType: "image/*",
    data: reader.hasTaggedData ? { type: "url", url: data } : data,
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

function fromDataUri(uri: string, param: string, reader: Reader): Fields {
  const comma = uri.slice(0, maxHeadChars).indexOf(",");
  const head = comma === -1 ? "" : uri.slice("data:".length, comma).toLowerCase();
  const [mediaType = "", ...attributes] = head.split(";");
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mediaType))
    throw refusal(param, "must be a data URI that names its type, such as data:image/png;base64,…");
  const rest = uri.slice(comma + 1);
  const base64 = attributes.includes("base64") ? rest : fromPercents(rest, param);
  const data = reader.hasTaggedData ? { type: "data", data: base64 } : base64;
  return { type: "file", mediaType, data };
}

/** Real ones have some 30 characters: megabytes of parameters are not looked at. */
const maxHeadChars = 256;
/** Whoever sends more sends it in base64. */
const maxPercentChars = 64 * 1024;

function fromPercents(text: string, param: string): string {
  if (text.length > maxPercentChars) throw refusal(param, "must be a data URI in base64");
  try {
    return Buffer.from(decodeURIComponent(text)).toString("base64");
  } catch {
    throw refusal(param, "must be a data URI in base64");
  }
}
