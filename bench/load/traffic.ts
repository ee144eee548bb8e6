/**
 * The bytes of the bench: what the generator asks, what the upstream answers, and the marks by which
 * a reply is recognised as whole. All ASCII, so that a character is a byte.
 */

/** The names callers use; proxies must turn them into the upstream's on the way out, and back. */
export const models = {
  chat: { public: "svc-3-flash", upstream: "upstream-model" },
  embeddings: { public: "svc-embedding-2", upstream: "upstream-embedding" },
  speech: { public: "svc-2.5-flash-tts", upstream: "upstream-speech" },
} as const;
export type ModelKind = keyof typeof models;
export const publicModel = models.chat.public;
export const upstreamModel = models.chat.upstream;

/** How a chat is asked for. */
export type LoadDialect = "chat" | "responses" | "messages" | "completions";

/** Stands once in a chat reply and once in every streamed content event, and nowhere else. */
export const marker = "lorem-ipsum";

/** The one upstream stream setting that any gateway must pass on is the cap, so the cap carries the
 * number of chunks. Four tokens a chunk, so that a gateway that cuts at the cap never has cause to. */
const tokensPerChunk = 4;

export type ChatRequest = {
  readonly model: string;
  readonly key: string;
  /** Size of the JSON body; default: the short conversation as it is. */
  readonly bodyBytes?: number | undefined;
  /** Whole header lines. */
  readonly headers?: readonly string[] | undefined;
};

/** A short chat in any dialect; with `chunks`, streamed. */
export function shortChat(chunks: number | undefined) {
  const cap = chunks === undefined ? 128 : chunks * tokensPerChunk;
  return { messages: [system, question], cap, isStream: chunks !== undefined } as const;
}
export type StreamRequest = ChatRequest & {
  readonly chunks: number;
  /** Milliseconds between two chunks. */
  readonly paceMs?: number | undefined;
};

export function chatRequest({ model, key, bodyBytes, headers }: ChatRequest): Buffer {
  const rest = { temperature: 0.7, top_p: 0.95, max_tokens: 128 };
  const body = sized(bodyBytes, (messages) => ({ model, messages, ...rest }));
  return httpRequest({ path: "chat/completions", key, headers, body });
}

export function streamRequest(request: StreamRequest): Buffer {
  const { model, key, chunks, paceMs = defaultPaceMs, bodyBytes, headers } = request;
  const rest = {
    max_tokens: chunks * tokensPerChunk,
    stream: true,
    stream_options: { include_usage: true },
  };
  const body = sized(bodyBytes, (messages) => ({
    model,
    messages: paced(messages, paceMs),
    ...rest,
  }));
  return httpRequest({ path: "chat/completions", key, headers, body });
}

/** How many chunks the upstream is asked for; undefined for a request that is not a stream. */
export function fromStreamBody(body: string): number | undefined {
  if (!/"stream": ?true/.test(body)) return undefined;
  const cap = /"max(?:_completion|_output)?_tokens": ?(\d+)/.exec(body)?.[1];
  return cap === undefined ? undefined : Math.floor(Number(cap) / tokensPerChunk);
}

export const defaultPaceMs = 10;

/** A word in the prompt has the pace: every proxy passes prompts on. */
export function paceOf(body: string): number {
  const pace = /pace-(\d{1,4})-ms/.exec(body)?.[1];
  return pace === undefined ? defaultPaceMs : Math.max(1, Number(pace));
}

/** Some clients write JSON with spaces. */
export function asksFor(body: string, model: string): boolean {
  return body.includes(`"model":"${model}"`) || body.includes(`"model": "${model}"`);
}

/** The length of the body that a message head announces; undefined when it announces none. */
export function contentLengthOf(head: string): number | undefined {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? undefined : Number(length);
}

type Message = { readonly role: string; readonly content: string };

const system: Message = {
  role: "system",
  content:
    "You are a support assistant of a small bookshop. Answer in two short sentences, politely, and ask for the order number when it is missing.",
};
const question: Message = {
  role: "user",
  content:
    "Hello, I ordered two paperbacks last week and only one of them was in the parcel. What should I do now, and how long will it take?",
};
const filler =
  "The parcel arrived on Tuesday in good condition, with the invoice and one of the two books that I had ordered; the other one is still missing. ";
const turnChars = 2_000;

function paced(messages: readonly Message[], paceMs: number): readonly Message[] {
  if (paceMs === defaultPaceMs) return messages;
  const [first = system, ...rest] = messages;
  return [{ ...first, content: `${first.content} pace-${paceMs}-ms` }, ...rest];
}

/** A conversation with earlier turns, such that the body has exactly this size. */
function sized(
  bodyBytes: number | undefined,
  toBody: (messages: readonly Message[]) => object,
): object {
  const short = toBody([system, question]);
  if (bodyBytes === undefined) return short;
  const turns = Math.ceil((bodyBytes - JSON.stringify(short).length) / turnChars);
  const conversation = (chars: readonly number[]) => {
    const earlier = chars.map((length, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: filler.repeat(Math.ceil(length / filler.length)).slice(0, length),
    }));
    return toBody([system, ...earlier, question]);
  };
  const empty = JSON.stringify(conversation(Array.from({ length: turns }, () => 0))).length;
  const left = bodyBytes - empty;
  if (left < 0) throw new Error(`a chat request has at least ${empty} bytes`);
  const each = Math.floor(left / turns);
  return conversation(
    Array.from({ length: turns }, (_, at) => (at === 0 ? left - each * (turns - 1) : each)),
  );
}

export type HttpRequest = {
  /** After `/v1/`. */
  readonly path: string;
  readonly key: string;
  readonly headers?: readonly string[] | undefined;
  readonly body: object;
};

export function httpRequest({ path, key, headers = [], body }: HttpRequest): Buffer {
  const json = JSON.stringify(body);
  return Buffer.from(
    `POST /v1/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nAccept: */*\r\nUser-Agent: bench\r\n` +
      `${headers.map((line) => `${line}\r\n`).join("")}` +
      `Content-Length: ${json.length}\r\n\r\n${json}`,
    "latin1",
  );
}

const created = 1_780_000_000;
const usage = {
  prompt_tokens: 74,
  completion_tokens: 32,
  total_tokens: 106,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

export const chatReply = httpReply({
  id: "chatcmpl-upstream-0123456789",
  object: "chat.completion",
  created,
  model: upstreamModel,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: `I am sorry that a book was missing (${marker}). Please send me your order number, and the second one will leave our shop within two days.`,
        refusal: null,
      },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage,
  system_fingerprint: "fp_upstream",
});

export const refusalReply = Buffer.from(
  "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
  "latin1",
);

const contentEvent = event({ delta: { content: ` ${marker}` }, finish: null });

/** The head and the first content in one write: the first byte of a stream is at once of use. */
export const streamStart = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" +
    `Transfer-Encoding: chunked\r\n\r\n${chunk(event({ delta: { role: "assistant", content: ` ${marker}` }, finish: null }))}`,
  "latin1",
);
export const streamChunk = Buffer.from(chunk(contentEvent), "latin1");
export const streamEnd = Buffer.from(
  `${chunk(event({ delta: {}, finish: "stop" }))}${chunk(usageEvent())}${chunk("data: [DONE]\n\n")}0\r\n\r\n`,
  "latin1",
);

/** What every whole stream ends with, whatever the proxy put into one HTTP chunk. */
export const streamTail = "data: [DONE]\n\n\r\n0\r\n\r\n";

/** How a content event and the end of a stream are known, by dialect. */
export const streamMarks: Readonly<
  Record<LoadDialect, { readonly content: string; readonly end: string }>
> = {
  chat: { content: marker, end: streamTail },
  // The whole text stands in later events again.
  responses: { content: `"delta":" ${marker}"`, end: '"type":"response.completed"' },
  messages: { content: marker, end: '"type":"message_stop"' },
  completions: { content: marker, end: streamTail },
};

export function httpReply(body: object): Buffer {
  const json = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    "latin1",
  );
}

function event({
  delta,
  finish,
}: {
  readonly delta: object;
  readonly finish: string | null;
}): string {
  return sse({
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
}

function usageEvent(): string {
  return sse({ choices: [], usage });
}

function sse(fields: object): string {
  const head = { id: "chatcmpl-upstream-0123456789", object: "chat.completion.chunk", created };
  return `data: ${JSON.stringify({ ...head, model: upstreamModel, system_fingerprint: "fp_upstream", ...fields })}\n\n`;
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
