/** One worst case: a request that fits the limits, what it attacks, and what the upstream answers. */

export interface StallCase {
  /** Lower-case words joined by hyphens, for `--case`. */
  readonly name: string;
  /** The code or the resource that it tries to keep busy. */
  readonly attacks: string;
  /** Made when the case runs: many bodies are as large as a body may be. */
  readonly request: () => StallRequest;
  /** What the upstream sends, byte for byte. Default: a short good reply. */
  readonly reply?: () => readonly Uint8Array[];
  /** How often the request is sent. Default: once. */
  readonly times?: number;
  /** How many of them are in flight at the same time. Default: 1. */
  readonly atOnce?: number;
}

export interface StallRequest {
  /** Default: the gateway. */
  readonly to?: "gateway" | "platform";
  /** Default: POST with a body, GET without. */
  readonly method?: string;
  /** `:account` stands for the id of the account that the key belongs to. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly delivery?: Delivery;
  /** The key of the gateway, the operator's token on the platform. Default: true. */
  readonly isSignedIn?: boolean;
}

/**
 * length: with its length, in one piece. chunked: without a length, in chunks of 64 KiB.
 * bytes: every byte a chunk of its own. slow: in 200 pieces, 5 ms apart.
 * held: all but the last byte; after a second the caller disconnects.
 */
export type Delivery = "length" | "chunked" | "bytes" | "slow" | "held";

const chat = "/v1/chat/completions";
const embeddings = "/v1/embeddings";
const speech = "/v1/audio/speech";

/** The largest body is 32 MiB: this leaves room for what stands around the text. */
export const largestBytes = 31_000_000;

const mebibyte = 2 ** 20;
const mostHeadCharacters = 16_000;

/** What is too large is refused before any work: such a case would measure nothing. */
export function sizeProblem({ to, path, body, headers = {} }: StallRequest): string | undefined {
  const most = (to === "platform" ? 2 : 32) * mebibyte;
  if ((body?.length ?? 0) > most) return `the body is larger than ${most} bytes`;
  const head = path.length + Object.entries(headers).flat().join("").length;
  return head > mostHeadCharacters ? `the head is larger than ${mostHeadCharacters}` : undefined;
}

/** The text again and again, up to this size in UTF-8. */
export function fill(unit: string, sizeBytes: number): string {
  return unit.repeat(Math.max(1, Math.floor(sizeBytes / Buffer.byteLength(unit))));
}

/** JSON: a list of the same entry, fields with names of their own, and lists within lists. */
export const list = (unit: string, count: number) => Array<string>(count).fill(unit).join(",");
export const keys = (count: number, toKey: (at: number) => string | number = (at) => `k${at}`) =>
  Array.from({ length: count }, (_, at) => `"${toKey(at)}":1`).join(",");
export const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

type Making = StallCase["request"];
type Sending = Omit<StallCase, "name" | "attacks" | "request">;

/** Cases that attack the same, by name, and how all of them are sent and answered. */
export function casesOf(
  attacks: string,
  requests: Readonly<Record<string, Making>>,
  sending: Sending = {},
): readonly StallCase[] {
  return Object.entries(requests).map(([name, request]) => ({
    name,
    attacks,
    request,
    ...sending,
  }));
}

/** The same names in front of which stands another, with what is made of each value. */
export const renamed = <From, To>(
  prefix: string,
  from: Readonly<Record<string, From>>,
  make: (value: From) => To,
): Readonly<Record<string, To>> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [prefix + name, make(value)]));

/** The same request with replies that attack the same, by name. */
export function repliesTo(
  request: Making,
  attacks: string,
  replies: Readonly<Record<string, NonNullable<StallCase["reply"]>>>,
): readonly StallCase[] {
  return Object.entries(replies).map(([name, reply]) => ({ name, attacks, request, reply }));
}

type Fields = Readonly<Record<string, unknown>>;

/** A chat whose one message has this content, with further fields. */
export const chatRequest = (content: unknown, more: Fields = {}): StallRequest =>
  jsonRequest(chat, { model: "svc-3-flash", messages: [{ role: "user", content }], ...more });

/** A chat with a raw piece of JSON behind its fields, such as `"tools":[…]`. */
export const rawChat = (raw: string): StallRequest => ({
  path: chat,
  body: Buffer.from(
    `{"model":"svc-3-flash","messages":[{"role":"user","content":"Hi"}]${raw === "" ? "" : `,${raw}`}}`,
  ),
});

export const embeddingRequest = (input: unknown, more: Fields = {}): StallRequest =>
  jsonRequest(embeddings, { model: "svc-embedding-2", input, ...more });

export const mediaRequest = (input: unknown): StallRequest =>
  jsonRequest(embeddings, { model: "multimodal-embedding-1", input });

export const speechRequest = (input: string): StallRequest =>
  jsonRequest(speech, { model: "svc-2.5-flash-tts", input, voice: "Kore" });

export const transcriptionModel = "svc-transcribe-2";

/** A form of the model and the file. */
export function transcriptionRequest(file: Uint8Array): StallRequest {
  const boundary = "stall-case";
  const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
  return {
    path: "/v1/audio/transcriptions",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([
      Buffer.from(`${part('name="model"')}${transcriptionModel}\r\n`),
      Buffer.from(part('name="file"; filename="audio"')),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

export const platformRequest = (path: string, body?: string): StallRequest => ({
  to: "platform",
  path,
  ...(body === undefined ? {} : { body: Buffer.from(body) }),
});

function jsonRequest(path: string, body: Fields): StallRequest {
  return { path, body: Buffer.from(JSON.stringify(body)) };
}
