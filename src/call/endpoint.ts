import type { PriceKey } from "./price.ts";

export const endpoints = ["chat", "embeddings", "speech", "transcription"] as const;
export type Endpoint = (typeof endpoints)[number];

/** What an embeddings model takes; other endpoints have only one kind, `text`. */
export type InputKind = "text" | "media";

export const endpointPaths: Readonly<Record<Endpoint, string>> = {
  chat: "/v1/chat/completions",
  embeddings: "/v1/embeddings",
  speech: "/v1/audio/speech",
  transcription: "/v1/audio/transcriptions",
};

/** All that a model can be billed by; kinds of input without a price of their own cost what input does. */
export function pricedClasses(endpoint: Endpoint, input: InputKind): readonly PriceKey[] {
  const billed = billedClasses(endpoint, input);
  return endpoint === "chat" ? [...billed, "cached_input", "cache_write"] : billed;
}

/** Without these a model has no price, and a model without a price is not served. */
export function billedClasses(endpoint: Endpoint, input: InputKind): readonly PriceKey[] {
  switch (endpoint) {
    case "chat":
      return ["input", "output"];
    case "embeddings":
      return input === "media" ? ["image", "video_second"] : ["input"];
    case "speech":
      return ["input", "audio_output"];
    case "transcription":
      return ["audio_second"];
    default:
      return endpoint satisfies never;
  }
}
