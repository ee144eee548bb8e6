/** Chat completions answered as server-sent events: the format, and OpenAI's own way with it. */

import { type Framing, httpReply, type Recording } from "../http/reply.ts";
import { CHAT_CREATED, CHAT_MODEL, CHAT_USAGE, type VendorUsage } from "./chat-json.ts";

/** An object becomes a `data:` line of JSON; a string is the event's lines as they stand. */
export type StreamEvent = string | Readonly<Record<string, unknown>>;

export const DONE = "data: [DONE]";

interface StreamFormat {
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  readonly framing?: Framing;
  /** How many events share a part of the body, that is, a packet. */
  readonly eventsPerPart?: number;
  readonly finalBlankLine?: boolean;
}

interface ChatStreamOptions extends StreamFormat {
  readonly events: readonly StreamEvent[];
}

export function chatStream(options: ChatStreamOptions): Recording {
  const { lineEnd = "\n", framing = "chunked", eventsPerPart = 1, finalBlankLine = true } = options;
  const blocks = options.events.map((event, at) => {
    const lines =
      typeof event === "string" ? event.split("\n") : [`data: ${JSON.stringify(event)}`];
    const isLast = at === options.events.length - 1;
    const end = isLast && !finalBlankLine ? "" : lineEnd + lineEnd;
    return lines.join(lineEnd) + end;
  });
  const body: string[] = [];
  for (let at = 0; at < blocks.length; at += eventsPerPart) {
    body.push(blocks.slice(at, at + eventsPerPart).join(""));
  }
  return httpReply({
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body,
    framing,
  });
}

/** An answer that says these deltas and ends well. */
export const deltaStream = (
  deltas: readonly Readonly<Record<string, unknown>>[],
  finish = "stop",
): Recording =>
  chatStream({
    events: [...deltas.map((delta) => chatChunk({ delta })), chatChunk({ finish }), DONE],
  });

interface ChunkOptions {
  readonly delta?: Readonly<Record<string, unknown>>;
  /** `null` until the last delta of a choice; some vendors send "". */
  readonly finish?: string | null;
  readonly index?: number;
  /** Instead of the one choice. */
  readonly choices?: readonly unknown[];
  /** `null` is sent as such; left out, the field is left out. */
  readonly usage?: VendorUsage | null;
  /** Laid over the chunk. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export function chatChunk(options: ChunkOptions): Readonly<Record<string, unknown>> {
  const choice = {
    index: options.index ?? 0,
    delta: options.delta ?? {},
    logprobs: null,
    finish_reason: options.finish ?? null,
  };
  return {
    id: "chatcmpl-vendor0002",
    object: "chat.completion.chunk",
    created: CHAT_CREATED,
    model: CHAT_MODEL,
    service_tier: "default",
    system_fingerprint: "fp_44709d6fcb",
    choices: options.choices ?? [choice],
    ...(options.usage === undefined ? {} : { usage: options.usage }),
    ...options.extra,
  };
}

export interface StreamContent extends StreamFormat {
  readonly pieces?: readonly string[];
  readonly usage?: VendorUsage;
}

/** The events of OpenAI with `include_usage`: role, text, finish, usage, `[DONE]`. */
export function openaiEvents(content: StreamContent = {}): readonly StreamEvent[] {
  const { pieces = ["Hello", "!", " How can I help?"], usage = CHAT_USAGE } = content;
  const chunks = [
    chatChunk({ delta: { role: "assistant", content: "", refusal: null }, usage: null }),
    ...pieces.map((piece) => chatChunk({ delta: { content: piece }, usage: null })),
    chatChunk({ finish: "stop", usage: null }),
    chatChunk({ choices: [], usage }),
  ];
  return [...chunks.map((chunk, at) => ({ ...chunk, obfuscation: padding(at) })), DONE];
}

/** OpenAI pads each chunk, so that its size does not tell the length of the token. */
function padding(at: number): string {
  return "q7Rz0bXk".slice(0, 1 + (at % 8));
}
