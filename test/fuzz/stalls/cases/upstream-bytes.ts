import { type Bytes, type Framing, httpReply } from "../../../fake/http/reply.ts";
import { chatJson } from "../../../fake/openai/chat-json.ts";
import { embeddingsReply } from "../../../fake/openai/embedding-replies.ts";
import { speechReplies } from "../../../fake/openai/speech-replies.ts";

/** What the upstream of the stall cases sends: whole HTTP replies, byte for byte. */

export interface RawReply {
  readonly body: readonly Bytes[];
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly framing?: Framing;
}

export function rawReply({ body, status = 200, headers = {}, framing = "length" }: RawReply) {
  const type = { "content-type": "application/json" };
  return [httpReply({ status, headers: { ...type, ...headers }, body, framing }).bytes];
}

/** Events as they stand, in chunks of a packet each. */
export function eventsReply(events: readonly string[], framing: Framing = "length") {
  return rawReply({ headers: { "content-type": "text/event-stream" }, body: events, framing });
}

/** A stream of one choice with these deltas, and its end. */
export function chatStreamReply(deltas: readonly unknown[]) {
  const event = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`;
  const words = deltas.map((delta) => event({ choices: [{ index: 0, delta }] })).join("");
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  return eventsReply([`${words}${end}data: [DONE]\n\n`]);
}

export interface VectorsReply {
  readonly count: number;
  readonly dimensions: number;
  readonly encoding: "float" | "base64";
}

/** Numbers as long as those of real models. */
export function vectorsReply({ count, dimensions, encoding }: VectorsReply) {
  const vectors = Array.from({ length: count }, (_, row) =>
    Array.from({ length: dimensions }, (_, at) => Math.fround(Math.sin(row * dimensions + at))),
  );
  return [embeddingsReply({ vectors, encoding }).bytes];
}

/** A good short reply to whatever was asked. */
export function usualReply(path: string): readonly Uint8Array[] {
  if (path.endsWith("/embeddings")) return usual.embeddings;
  return path.endsWith("/audio/speech") ? usual.speech : usual.chat;
}

const usual = {
  chat: [chatJson().bytes],
  embeddings: vectorsReply({ count: 1, dimensions: 3_072, encoding: "float" }),
  speech: [speechReplies.pcmWithLength({ seconds: 0.02 }).bytes],
};
