/** The same answers in the bytes of other vendors, and how their requests are known. */
import { fromStreamBody, marker, upstreamModel } from "../load/traffic.ts";

export interface Answers {
  readonly whole: Buffer;
  readonly start: Buffer;
  readonly chunk: Buffer;
  readonly end: Buffer;
}

const text = `I am sorry that a book was missing (${marker}). Please send me your order number, and the second one will leave our shop within two days.`;
const piece = ` ${marker}`;

const geminiUsage = {
  promptTokenCount: 74,
  candidatesTokenCount: 32,
  totalTokenCount: 106,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 74 }],
};
const gemini = (said: string, rest: object = {}) =>
  JSON.stringify({
    candidates: [{ content: { parts: [{ text: said }], role: "model" }, index: 0, ...rest }],
    usageMetadata: geminiUsage,
    modelVersion: upstreamModel,
    responseId: "upstream-0123456789",
  });
const geminiEvent = (said: string, rest?: object) => `data: ${gemini(said, rest)}\r\n\r\n`;

const anthropicUsage = {
  input_tokens: 74,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 32,
  service_tier: "standard",
};
const anthropicEvent = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const anthropicPiece = anthropicEvent("content_block_delta", {
  index: 0,
  delta: { type: "text_delta", text: piece },
});

const byVendor = {
  gemini: {
    whole: whole(gemini(text, { finishReason: "STOP" })),
    start: start(geminiEvent(piece)),
    chunk: chunk(geminiEvent(piece)),
    end: end([geminiEvent("", { finishReason: "STOP" })]),
  },
  anthropic: {
    whole: whole(
      JSON.stringify({
        id: "msg_0123456789",
        type: "message",
        role: "assistant",
        model: upstreamModel,
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: anthropicUsage,
      }),
    ),
    start: start(
      anthropicEvent("message_start", {
        message: {
          id: "msg_0123456789",
          type: "message",
          role: "assistant",
          model: upstreamModel,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 74, output_tokens: 1 },
        },
      }) +
        anthropicEvent("content_block_start", {
          index: 0,
          content_block: { type: "text", text: "" },
        }) +
        anthropicPiece,
    ),
    chunk: chunk(anthropicPiece),
    end: end([
      anthropicEvent("content_block_stop", { index: 0 }),
      anthropicEvent("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 32 },
      }),
      anthropicEvent("message_stop"),
    ]),
  },
} as const satisfies Record<string, Answers>;

/** What a request of one of these vendors' forms asks for; undefined: it is of the common form. */
export function fromVendorRequest(
  requestLine: string,
  body: string,
): { readonly answers: Answers; readonly chunks: number | undefined } | undefined {
  if (requestLine.includes(`/models/${upstreamModel}:`)) {
    const isStream = requestLine.includes(":streamGenerateContent");
    const cap = /"maxOutputTokens":(\d+)/.exec(body)?.[1];
    const chunks = isStream ? fromStreamBody(`"stream":true,"max_tokens":${cap}`) : undefined;
    return { answers: byVendor.gemini, chunks };
  }
  if (!requestLine.includes("/messages ")) return undefined;
  return { answers: byVendor.anthropic, chunks: fromStreamBody(body) };
}

function whole(json: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    "latin1",
  );
}

export function start(event: string): Buffer {
  const head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  return Buffer.concat([Buffer.from(head, "latin1"), chunk(event)]);
}

export function chunk(event: string): Buffer {
  return Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`, "latin1");
}

export function end(events: readonly string[]): Buffer {
  return Buffer.concat([...events.map(chunk), Buffer.from("0\r\n\r\n", "latin1")]);
}
