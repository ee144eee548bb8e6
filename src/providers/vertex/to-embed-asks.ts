import type { JsonObject } from "../../call/chat.ts";
import type { EmbedCall } from "../../call/embed.ts";
import { fieldError, fromDataUri, type InlineData } from "../gemini/wire.ts";

/** One request of a call: most of the models take one thing at a time. */
export interface EmbedAsk {
  readonly method: "predict" | "embedContent";
  readonly body: JsonObject;
  /** How many vectors must come back. */
  readonly count: number;
}

export function toEmbedAsks(call: EmbedCall, model: string): readonly EmbedAsk[] {
  const { input, dimensions } = call;
  const isContent = takesContent(model);
  switch (input.kind) {
    case "texts":
      return isContent
        ? input.texts.map((text) => toContentAsk({ text }, dimensions))
        : inPortions(input.texts, model).map((texts) => toTextAsk(texts, dimensions));
    case "images":
      return input.dataUris.map((uri, at) => {
        const inlineData = fromDataUri(uri);
        if (inlineData === undefined) throw fieldError(`input[${at}]`, "must be a data URI");
        return isContent ? toMediaContentAsk(inlineData) : toImageAsk(inlineData.data);
      });
    case "video": {
      // The first bytes of WebM; all others that are let through are MP4.
      const mimeType = input.base64.startsWith("GkXfo") ? "video/webm" : "video/mp4";
      return [isContent ? toMediaContentAsk({ mimeType, data: input.base64 }) : toVideoAsk(input)];
    }
    case "tokens":
      throw fieldError("input", "must be text. This model does not accept token ids");
    default:
      return input satisfies never;
  }
}

/** The second generation of Gemini's embeddings, which `predict` refuses. */
function takesContent(model: string): boolean {
  return /(^|\/)gemini-embedding-(?!001)/.test(model);
}

function toMediaContentAsk({ mimeType, data }: InlineData): EmbedAsk {
  return toContentAsk({ inlineData: { mimeType, data } }, undefined);
}

/** A content gives one vector, however many parts it has: so it has one. */
function toContentAsk(part: JsonObject, dimensions: number | undefined): EmbedAsk {
  const content = { parts: [part] };
  return { method: "embedContent", body: { content, ...toShape(dimensions) }, count: 1 };
}

function toTextAsk(texts: readonly string[], dimensions: number | undefined): EmbedAsk {
  const instances = texts.map((content) => ({ content }));
  return {
    method: "predict",
    body: { instances, parameters: toShape(dimensions) },
    count: texts.length,
  };
}

/** A text that is too long is refused: the vector of its beginning would pass for that of the whole. */
function toShape(dimensions: number | undefined): JsonObject {
  const autoTruncate = false;
  return dimensions === undefined
    ? { autoTruncate }
    : { autoTruncate, outputDimensionality: dimensions };
}

const maxTexts = 250;
/** 20,000 tokens are allowed, and no token is less than a byte. */
const maxPortionBytes = 20_000;

/** Gemini's first embeddings take one text a request, others many. */
function inPortions(texts: readonly string[], model: string): readonly (readonly string[])[] {
  if (model.includes("gemini-embedding")) return texts.map((text) => [text]);
  const portions: string[][] = [];
  let portion: string[] = [];
  let portionBytes = 0;
  for (const text of texts) {
    const sizeBytes = Buffer.byteLength(text);
    const isFull = portion.length === maxTexts || portionBytes + sizeBytes > maxPortionBytes;
    if (portions.length === 0 || isFull) {
      portion = [];
      portionBytes = 0;
      portions.push(portion);
    }
    portion.push(text);
    portionBytes += sizeBytes;
  }
  return portions;
}

function toImageAsk(base64: string): EmbedAsk {
  const instances = [{ image: { bytesBase64Encoded: base64 } }];
  return { method: "predict", body: { instances }, count: 1 };
}

/** The vendor's default and its cheapest; our videos are shorter, so that one piece comes of it. */
const intervalS = 16;

function toVideoAsk(input: { readonly base64: string; readonly durationS: number }): EmbedAsk {
  const videoSegmentConfig = {
    startOffsetSec: 0,
    endOffsetSec: Math.max(1, Math.ceil(input.durationS)),
    intervalSec: intervalS,
  };
  const video = { bytesBase64Encoded: input.base64, videoSegmentConfig };
  return { method: "predict", body: { instances: [{ video }] }, count: 1 };
}
