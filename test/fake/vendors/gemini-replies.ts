/**
 * What the Gemini API answers, in the form of its `generateContent`, `streamGenerateContent`,
 * embeddings and speech replies; texts, counts and ids are made up.
 */

import type { JsonObject } from "../../../src/call/chat.ts";
import { httpReply, jsonReply, type Recording } from "../http/reply.ts";

const modelVersion = "gemini-3-flash-preview";
const responseId = "Mzh1Z2VtaW5pMDAwMQ";

/** `usageMetadata` of a short answer without thoughts. */
export const GEMINI_USAGE = {
  promptTokenCount: 9,
  candidatesTokenCount: 4,
  totalTokenCount: 13,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
} as const;

/** One reply, or one event of a stream, of one candidate. */
export function geminiReply(options: {
  readonly parts?: readonly JsonObject[];
  readonly finishReason?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly more?: JsonObject;
}): JsonObject {
  const { parts, finishReason, usage, more } = options;
  const content = parts === undefined ? {} : { content: { parts, role: "model" } };
  const end = finishReason === undefined ? {} : { finishReason };
  return {
    candidates: [{ ...content, ...end, index: 0, ...more }],
    ...(usage === undefined ? {} : { usageMetadata: usage }),
    modelVersion,
    responseId,
  };
}

export function geminiEvent(reply: unknown, lineEnd = "\r\n"): string {
  return `data: ${JSON.stringify(reply)}${lineEnd}${lineEnd}`;
}

export function geminiStream(events: readonly string[]): Recording {
  const headers = { ...vendorHeaders, "content-type": "text/event-stream" };
  return httpReply({ headers, body: events, framing: "chunked" });
}

export function geminiJson(body: unknown, status = 200): Recording {
  const headers = { ...vendorHeaders, "content-type": "application/json; charset=UTF-8" };
  return jsonReply({ status, headers, body });
}

/** The one instruction of the vendor's servers about themselves. */
export const vendorHeaders = {
  server: "scaffolding on HTTPServer2",
  "server-timing": "gfet4t7; dur=412",
  vary: "X-Origin",
} as const;

/** An error as `google.rpc.Status` puts it into JSON. */
export function geminiError(options: {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly JsonObject[];
}): JsonObject {
  return { error: { ...options } };
}

export const errorDetails = {
  reason: (reason: string): JsonObject => ({
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason,
    domain: "googleapis.com",
    metadata: { service: "generativelanguage.googleapis.com" },
  }),
  quota: (quotaId: string): JsonObject => ({
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    violations: [
      {
        quotaMetric: "generativelanguage.googleapis.com/generate_content_requests",
        quotaId,
        quotaDimensions: { location: "global", model: "gemini-3-flash" },
        quotaValue: "10",
      },
    ],
  }),
  retry: (retryDelay: string): JsonObject => ({
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay,
  }),
} as const;

/** What the vendor says when a quota is reached, of a minute or of a day alike. */
export const quotaMessage =
  "You exceeded your current quota, please check your plan and billing details.";

/** A piece of speech, in one event. */
export function geminiAudio(options: {
  readonly bytes: Uint8Array;
  readonly mimeType?: string;
  readonly finishReason?: string;
  readonly usage?: JsonObject;
}): JsonObject {
  const { bytes, mimeType = "audio/L16;codec=pcm;rate=24000", finishReason, usage } = options;
  const data = Buffer.from(bytes).toString("base64");
  return geminiReply({ parts: [{ inlineData: { mimeType, data } }], finishReason, usage });
}
