import type { Json } from "../../call/chat.ts";
import { fieldError } from "./validate.ts";

const maxTexts = 100;
const maxImages = 8;
const mediaForms = `a list of 1 to ${maxImages} image data URIs, or {"video":{"bytesBase64Encoded":"…"}}`;

export type TextInput =
  | { readonly kind: "texts"; readonly texts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly (readonly number[])[] };

/** Media by their claims: gateway/endpoints/embeddings looks at what they really are. */
export type MediaInput =
  | { readonly kind: "images"; readonly dataUris: readonly string[]; readonly isList: boolean }
  | { readonly kind: "video"; readonly base64: string; readonly param: string };

/** A string, 1 to 100 strings, one list of token ids, or 1 to 100 of those. */
export function readTextInput(input: Json | undefined): TextInput {
  const expected = `a string, a list of 1 to ${maxTexts} strings, or token ids`;
  if (input === undefined) throw fieldError("input", `is missing: it must be ${expected}`);
  if (typeof input === "string") return { kind: "texts", texts: [nonEmpty(input, "input")] };
  if (!Array.isArray(input))
    throw fieldError("input", `must be ${expected}; images and videos need another model`);
  const entries: readonly Json[] = input;
  const [first] = entries;
  if (first === undefined) throw fieldError("input", `must be ${expected}: the list is empty`);
  if (typeof first === "number") return { kind: "tokens", tokens: [tokenIds(entries, "input")] };
  if (entries.length > maxTexts)
    throw fieldError("input", `must have at most ${maxTexts} entries, not ${entries.length}`);
  if (typeof first === "string")
    return { kind: "texts", texts: entries.map((entry, at) => nonEmpty(entry, `input[${at}]`)) };
  if (Array.isArray(first))
    return { kind: "tokens", tokens: entries.map((entry, at) => tokenIds(entry, `input[${at}]`)) };
  throw fieldError(
    "input[0]",
    `must be a string or a list of token ids; images and videos need another model`,
  );
}

/** 1 to 8 image data URIs, one alone, a video object, or that in a list of one. */
export function readMediaInput(input: Json | undefined): MediaInput {
  if (input === undefined) throw fieldError("input", `is missing: it must be ${mediaForms}`);
  if (typeof input === "string") return { kind: "images", dataUris: [input], isList: false };
  if (!Array.isArray(input)) return readVideo(input, "input");
  const entries: readonly Json[] = input;
  const [first] = entries;
  if (first === undefined) throw fieldError("input", `must be ${mediaForms}: the list is empty`);
  if (isObject(first)) {
    if (entries.length > 1)
      throw fieldError("input[1]", "is one too many: a video stands alone, one a request");
    return readVideo(first, "input[0]");
  }
  if (entries.length > maxImages)
    throw fieldError("input", `must have at most ${maxImages} images, not ${entries.length}`);
  return {
    kind: "images",
    isList: true,
    dataUris: entries.map((entry, at) => {
      if (typeof entry === "string") return entry;
      throw fieldError(
        `input[${at}]`,
        "must be an image data URI like the others: images and a video do not mix",
      );
    }),
  };
}

function readVideo(value: Json, param: string): MediaInput {
  const video = isObject(value) ? value["video"] : undefined;
  if (video === undefined) throw fieldError(param, `must be ${mediaForms}`);
  const base64 = isObject(video) ? video["bytesBase64Encoded"] : undefined;
  if (typeof base64 !== "string")
    throw fieldError(`${param}.video.bytesBase64Encoded`, "must be a base64 string");
  return { kind: "video", base64, param: `${param}.video.bytesBase64Encoded` };
}

function nonEmpty(entry: Json, param: string): string {
  if (typeof entry !== "string") throw fieldError(param, "must be a string like the first entry");
  if (entry === "") throw fieldError(param, "must not be empty");
  return entry;
}

function tokenIds(entry: Json, param: string): readonly number[] {
  if (!Array.isArray(entry) || entry.length === 0)
    throw fieldError(param, "must be a list of at least one token id");
  return entry.map((id, at) => {
    if (typeof id === "number" && Number.isInteger(id) && id >= 0) return id;
    throw fieldError(`${param}[${at}]`, "must be a token id: an integer of at least 0");
  });
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
