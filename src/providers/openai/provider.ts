import { ApiError } from "../../base/errors.ts";
import { type ChatCall, type ChatPart, type ChatStream, isJsonObject } from "../../call/chat.ts";
import {
  type EmbedCall,
  type EmbedInput,
  type EmbedResult,
  lengthOf,
  type Vector,
} from "../../call/embed.ts";
import { type SpeakStream, speakOptions } from "../../call/speak.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { upstreamError } from "../kit/failure.ts";
import {
  baseHeaders,
  maxReplyBytes,
  readJson,
  send as sendTo,
  toBody,
  toNetworkError,
} from "../kit/http.ts";
import { fromOpenAiReply, isPlace, toParts } from "./chat-reply.ts";
import { OpenAiChatStream } from "./chat-stream.ts";
import { fromOpenAiModels } from "./models.ts";
import { toMessages, toOptions } from "./to-messages.ts";
import { fromOpenAiUsage } from "./usage.ts";

export interface OpenAiOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly dialer: Dialer;
  readonly quirks?: OpenAiQuirks | undefined;
  /** May be given addresses of callers to fetch. */
  readonly takesUrls?: boolean;
  /** A unix socket that the server listens on. */
  readonly socket?: string;
  /** Our own engine, whose words reach the caller as they stand. */
  readonly isOwn?: boolean;
}

/** How a server differs from the most common form. */
export interface OpenAiQuirks {
  /** The vendor's newer models refuse the old name; most other servers know only that one. */
  readonly capName: "max_tokens" | "max_completion_tokens";
  /** Knows `store` and `metadata`; some others refuse what they do not know. */
  readonly keepsReplies: boolean;
  /** Where the key goes, if not into a bearer token. */
  readonly keyHeader?: string;
  /** Takes back what it, or another vendor, said beside an answer; strict servers refuse it. */
  readonly takesDetails?: boolean;
}

const plainQuirks: OpenAiQuirks = { capName: "max_tokens", keepsReplies: false };

type Sending = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial">;
type Send = (path: string, body: string, sending: Sending) => Promise<Response>;

/** Any server that speaks the chat-completions format. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { name, baseUrl, apiKey, socket, isOwn = false, dialer } = options;
  const pin = dialer.pin(baseUrl);
  const { capName, keepsReplies, keyHeader, takesDetails = false } = options.quirks ?? plainQuirks;
  const sending = { takesDetails, takesUrls: options.takesUrls ?? false };
  const headers = new Headers({ ...baseHeaders(pin), ...keyHeaders(keyHeader, apiKey) });
  const base = new URL(baseUrl).pathname.replace(/\/+$/, "");
  const send: Send = (path, body, { signal, onAccepted, onDial }) => {
    // Spelled out: copying properties costs a microsecond.
    return sendTo({
      provider: name,
      pin,
      path: base + path,
      headers,
      body,
      signal,
      socket,
      isOwn,
      onAccepted,
      onDial,
    });
  };
  /** Text put together piece by piece: a copy of the options costs more than all the rest. */
  const chatBody = ({ call, target }: ProviderCall<ChatCall>, further: string) => {
    const { messages, maxOutputTokens: cap, options } = call;
    const rest = toBody(toOptions(options, { cap, keepsReplies }));
    const tail = rest === "{}" ? "}" : `,${rest.slice(1)}`;
    const capped = cap === undefined ? "" : `,"${capName}":${cap}`;
    const head = `{"model":${JSON.stringify(target.model)},"messages":${toBody(toMessages(messages, sending))}`;
    return head + capped + further + tail;
  };

  return {
    name,
    async chat(options) {
      const response = await send("/chat/completions", chatBody(options, ""), options);
      return fromOpenAiReply(
        await readJson(response, { provider: name, signal: options.signal }),
        name,
      );
    },
    async streamChat(options) {
      const { signal } = options;
      const body = chatBody(options, ',"stream":true,"stream_options":{"include_usage":true}');
      const response = await send("/chat/completions", body, options);
      const type = (response.headers.get("content-type") ?? "").toLowerCase();
      if (type.startsWith("text/event-stream") && response.body !== null)
        return new OpenAiChatStream({ provider: name, body: response.body, signal });
      return wholeAsStream(
        toParts(fromOpenAiReply(await readJson(response, { provider: name, signal }), name)),
      );
    },
    embed: createEmbed(name, send),
    async speak(options) {
      const { call, target, signal } = options;
      const voice =
        target.voices === undefined || target.voices === "same"
          ? call.voice
          : target.voices[call.voice];
      const { text: input, speed, instructions } = call;
      const speech = { model: target.model, input, voice, response_format: "pcm" };
      // What is undefined is not written.
      const body = toBody({ ...speech, speed, instructions });
      const response = await send("/audio/speech", body, options);
      return fromSpeechReply({ response, provider: name, signal });
    },
    // The embedded voices know neither.
    ...(isOwn ? {} : { speakOptions }),
    async listModels(signal) {
      const path = `${base}/models`;
      const response = await sendTo({ provider: name, pin, path, headers, signal, socket, isOwn });
      return fromOpenAiModels(await readJson(response, { provider: name, signal }), name);
    },
  } satisfies Provider;
}

/** 8,192 numbers as text, each on a line of its own: twice as long as those of any vendor. */
const bytesPerVector = 8_192 * 32;
const bytesAroundVectors = 64 * 1024;

/** How a server is asked for vectors. */
interface EmbedWay {
  readonly encoding: EmbedCall["encoding"];
  /** Whether their length is named. */
  readonly isSized: boolean;
}

/**
 * Some servers refuse base64, which most SDKs ask for by default, and some models have one length and
 * refuse to be told any. What nobody asked for by name is left away then, and from then on.
 */
function createEmbed(name: string, send: Send): NonNullable<Provider["embed"]> {
  // What went well once is hardly doubted again: what is refused from then on is the input.
  const encodings = new Map<string, EmbedCall["encoding"]>();
  const sizes = new Map<string, boolean>();
  return async (options) => {
    const { call, target, signal } = options;
    const ask = async ({ encoding, isSized }: EmbedWay) => {
      const dimensions = isSized ? call.dimensions : undefined;
      const body = toBody(toEmbedBody({ ...call, encoding, dimensions }, target.model));
      const expected = inputCount(call.input);
      const reply = await readJson(await send("/embeddings", body, options), {
        provider: name,
        signal,
        maxBytes: Math.min(maxReplyBytes, bytesAroundVectors + expected * bytesPerVector),
      });
      return fromEmbedReply(reply, { expected, encoding: call.encoding, provider: name });
    };
    let refusal: unknown;
    const { model } = target;
    for (const way of waysFor(call, encodings.get(model), sizes.get(model))) {
      try {
        const result = await ask(way);
        if (call.encoding === "base64") encodings.set(model, way.encoding);
        if (call.isUsualLength === true) sizes.set(model, way.isSized);
        return result;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "upstream_rejected") throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  };
}

function waysFor(
  call: EmbedCall,
  known: EmbedCall["encoding"] | undefined,
  knownSize: boolean | undefined,
): readonly EmbedWay[] {
  const encodings: readonly EmbedCall["encoding"][] =
    call.encoding === "float" || known === "float" ? ["float"] : ["base64", "float"];
  const mayBeUnsized = call.isUsualLength === true && call.dimensions !== undefined;
  const sizes = !mayBeUnsized ? [true] : knownSize === undefined ? [true, false] : [knownSize];
  return sizes.flatMap((isSized) => encodings.map((encoding) => ({ encoding, isSized })));
}

function keyHeaders(name: string | undefined, apiKey: string | undefined) {
  if (apiKey === undefined) return {};
  return name === undefined ? { authorization: `Bearer ${apiKey}` } : { [name]: apiKey };
}

function wholeAsStream(parts: readonly ChatPart[]): ChatStream {
  let left: readonly ChatPart[] | undefined = parts;
  return {
    async read() {
      const now = left;
      left = undefined;
      return now;
    },
    cancel() {},
  };
}

function toEmbedBody({ input, dimensions, encoding }: EmbedCall, model: string) {
  const shape = dimensions === undefined ? {} : { dimensions };
  return { model, input: toEmbedInput(input), encoding_format: encoding, ...shape };
}

function toEmbedInput(input: EmbedInput): unknown {
  switch (input.kind) {
    case "texts":
      return input.texts;
    case "tokens":
      return input.tokens;
    case "images":
      return input.dataUris;
    case "video":
      return { video: { bytesBase64Encoded: input.base64 } };
    default:
      return input satisfies never;
  }
}

function inputCount(input: EmbedInput): number {
  switch (input.kind) {
    case "texts":
      return input.texts.length;
    case "tokens":
      return input.tokens.length;
    case "images":
      return input.dataUris.length;
    case "video":
      return 1;
    default:
      return input satisfies never;
  }
}

/** One vector an input, put in the order of the input; anything else is a broken reply. */
function fromEmbedReply(
  reply: unknown,
  {
    expected,
    encoding,
    provider,
  }: { expected: number; encoding: EmbedCall["encoding"]; provider: string },
): EmbedResult {
  const rows = isJsonObject(reply) && Array.isArray(reply["data"]) ? reply["data"] : [];
  const vectors: Vector[] = [];
  for (const [position, row] of rows.slice(0, expected).entries()) {
    if (!isJsonObject(row)) continue;
    const vector: unknown = row["embedding"];
    const index = typeof row["index"] === "number" ? row["index"] : position;
    if (isPlace(index) && index < expected && isVector(vector, encoding)) vectors[index] = vector;
  }
  const filled = Object.keys(vectors).length;
  const lengths = new Set(vectors.map(lengthOf));
  if (
    rows.length !== expected ||
    filled !== expected ||
    vectors.length !== expected ||
    lengths.size > 1
  )
    throw upstreamError("upstream_error", {
      detail: `${provider} sent ${filled} whole vectors of ${rows.length}, in ${lengths.size} lengths; ${expected} were asked for`,
    });
  return { vectors, usage: isJsonObject(reply) ? fromOpenAiUsage(reply["usage"], 0) : undefined };
}

/** A number that float32 can hold, too: it may have to go out as one. */
const isFloat = (value: unknown) => typeof value === "number" && Math.abs(value) <= 3.4028235e38;

/** Numbers, or base64 of whole float32s: anything else would reach the caller as a wrong vector. */
function isVector(value: unknown, encoding: EmbedCall["encoding"]): value is Vector {
  if (typeof value !== "string")
    return Array.isArray(value) && value.length > 0 && value.every(isFloat);
  const digits = value.replace(/={1,2}$/, "");
  const sizeBytes = Math.floor((digits.length * 3) / 4);
  if (sizeBytes === 0 || sizeBytes % 4 !== 0 || /[^A-Za-z0-9+/]/.test(digits)) return false;
  // JSON has no word for what is no number; where it stays base64, it is the caller's to read.
  if (encoding === "base64") return true;
  const bytes = Buffer.from(value, "base64");
  for (let at = 0; at < sizeBytes; at += 4)
    if (!Number.isFinite(bytes.readFloatLE(at))) return false;
  return true;
}

/**
 * Bare PCM of 24 kHz and one channel was asked for; a WAV can be unpacked. A server that says it
 * sends anything else is believed: it would be heard as noise.
 */
function mayBePcm(type: string): boolean {
  const [kind = "", ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((word) => word.trim());
  if (
    !/^(audio\/(x-|vnd\.)?(pcm|l16|raw|wav|wave)|(application|binary)\/octet-stream|)$/.test(kind)
  )
    return false;
  return parameters.every((parameter) => {
    const [name = "", value = ""] = parameter.replaceAll('"', "").split("=");
    const expected = pcmParameters[name];
    return expected === undefined || expected.includes(value);
  });
}

const pcmParameters: Readonly<Record<string, readonly string[]>> = {
  rate: ["24000"],
  channels: ["1"],
  bits: ["16"],
  encoding: ["pcm", "linear16", "signed-integer", "s16le"],
};

function fromSpeechReply({
  response,
  provider,
  signal,
}: {
  response: Response;
  provider: string;
  signal: AbortSignal;
}): SpeakStream {
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !mayBePcm(type)) {
    response.body?.cancel().catch(() => {});
    throw upstreamError("upstream_error", {
      detail: `${provider} sent ${type || "nothing"} where audio was asked for`,
    });
  }
  const reader = response.body.getReader();
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return {
    // The length of a compressed body says nothing about the audio's.
    lengthBytes:
      Number.isSafeInteger(length) && response.headers.get("content-encoding") === null
        ? length
        : undefined,
    async read() {
      try {
        const { value } = await reader.read();
        return value;
      } catch (cause) {
        throw toNetworkError({ provider, signal, cause });
      }
    },
    cancel: () => void reader.cancel().catch(() => {}),
  };
}
