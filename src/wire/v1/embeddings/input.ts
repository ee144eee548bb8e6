import type { TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { fieldError, reader } from "../validate.ts";
import { checkText } from "../well-formed.ts";
import { inputForms, maxTexts } from "./request.ts";

export type TextInput =
  | { readonly kind: "texts"; readonly texts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly (readonly number[])[] };

/** Media by their claims: gateway/endpoints/embeddings looks at what they really are. */
export type MediaInput =
  | { readonly kind: "images"; readonly dataUris: readonly string[]; readonly isList: boolean }
  | { readonly kind: "video"; readonly base64: string; readonly param: string };

interface Video {
  readonly video: { readonly bytesBase64Encoded: string };
}

const read = {
  text: form<string>(inputForms.text),
  texts: form<readonly string[]>(inputForms.texts),
  tokens: form<readonly number[]>(inputForms.tokens),
  tokenLists: form<readonly (readonly number[])[]>(inputForms.tokenLists),
  image: form<string>(inputForms.image),
  images: form<readonly string[]>(inputForms.images),
  video: form<Video>(inputForms.video),
  videos: form<readonly [Video]>(inputForms.videos),
};

/** A string, 1 to 100 strings, one list of token ids, or 1 to 100 of those. */
export function readTextInput(body: JsonObject): TextInput {
  const { input } = body;
  const first = firstOf(input);
  if (isJsonObject(input) || isJsonObject(first))
    throw fieldError(
      isJsonObject(input) ? "input" : "input[0]",
      "must be text or token ids. Images and videos require a different model",
    );
  if (typeof first === "number") return { kind: "tokens", tokens: [read.tokens(body)] };
  if (Array.isArray(input) && input.length > maxTexts) throw fieldError("input", tooMany);
  if (Array.isArray(first)) return { kind: "tokens", tokens: read.tokenLists(body) };
  const isList = typeof input !== "string";
  const texts = isList ? read.texts(body) : [read.text(body)];
  for (let at = 0; at < texts.length; at++)
    checkText(isList ? `input[${at}]` : "input", texts[at] ?? "");
  return { kind: "texts", texts };
}

/** 1 to 8 image data URIs, one alone, a video object, or that in a list of one. */
export function readMediaInput(body: JsonObject): MediaInput {
  const { input } = body;
  if (typeof input === "string")
    return { kind: "images", dataUris: [read.image(body)], isList: false };
  if (isJsonObject(input)) return toVideo(read.video(body), "input");
  const first = firstOf(input);
  if (!isJsonObject(first)) return { kind: "images", dataUris: read.images(body), isList: true };
  if (Array.isArray(input) && input.length > 1)
    throw fieldError("input[1]", "is not allowed. Send one video per request, with no other input");
  const [video] = read.videos(body);
  return toVideo(video, "input[0]");
}

/** Clients split long lists by a setting of their own: that is what the reader can change. */
const tooMany = `must have at most ${maxTexts} entries. Lower your client's batch size: chunk_size=${maxTexts} in LangChain, batchSize: ${maxTexts} in LangChain.js, embed_batch_size=${maxTexts} in LlamaIndex`;

/** Each form is checked by itself: what is wrong then lies in the form that was meant. */
function form<T>(schema: TSchema): (body: JsonObject) => T {
  const check = reader<{ readonly input: T }>(Type.Object({ input: schema }));
  return (body) => check(body).input;
}

function toVideo({ video }: Video, param: string): MediaInput {
  return {
    kind: "video",
    base64: video.bytesBase64Encoded,
    param: `${param}.video.bytesBase64Encoded`,
  };
}

const firstOf = (input: Json | undefined) => (Array.isArray(input) ? input[0] : undefined);
