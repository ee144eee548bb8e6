import type { PriceKey } from "./price.ts";

export const endpoints = ["chat", "embeddings", "speech"] as const;
export type Endpoint = (typeof endpoints)[number];

/** What an embeddings model takes; other endpoints take text. */
export type InputKind = "text" | "media";

export const endpointPaths: Readonly<Record<Endpoint, string>> = {
  chat: "/v1/chat/completions",
  embeddings: "/v1/embeddings",
  speech: "/v1/audio/speech",
};

/** Without these a model has no price, and a model without a price is not served. */
export function billedClasses(endpoint: Endpoint, input: InputKind): readonly PriceKey[] {
  switch (endpoint) {
    case "chat":
      return ["input", "output"];
    case "embeddings":
      return input === "media" ? ["image", "video_second"] : ["input"];
    case "speech":
      return ["input", "audio_output"];
    default:
      return endpoint satisfies never;
  }
}
