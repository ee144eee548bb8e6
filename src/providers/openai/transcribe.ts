import { ApiError } from "../../base/errors.ts";
import { SseReader } from "../../base/network/sse.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import type {
  AudioType,
  TranscribeCall,
  Transcript,
  TranscriptPart,
  TranscriptSegment,
  TranscriptStream,
  TranscriptWord,
} from "../../call/transcribe.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import { upstreamError } from "../kit/failure.ts";
import { toNetworkError } from "../kit/http.ts";
import { PacketReader } from "../kit/packets.ts";
import { readJson, type UpstreamReply } from "../kit/reply.ts";
import { type Form, toForm } from "./form.ts";
import { throwTold } from "./told-failure.ts";

type Sending = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial">;
export type SendForm = (path: string, form: Form, sending: Sending) => Promise<UpstreamReply>;

const path = "/audio/transcriptions";

export function createTranscribe(
  provider: string,
  send: SendForm,
): Required<Pick<Provider, "transcribe" | "streamTranscript">> {
  return {
    async transcribe(options) {
      const { call, target, signal } = options;
      const reply = await send(path, toTranscribeForm(call, target.model), options).catch(
        call.detail === "text" ? undefined : withHint,
      );
      const json = await readJson(reply, { provider, signal });
      return fromTranscript(json, { provider, call });
    },
    async streamTranscript(options) {
      const { call, target, signal } = options;
      const form = toTranscribeForm(call, target.model, [["stream", "true"]]);
      const reply = await send(path, form, options);
      const type = (reply.headers.get("content-type") ?? "").toLowerCase();
      if (type.startsWith("text/event-stream"))
        return new OpenAiTranscriptStream({ provider, reply, signal });
      // Models that do not stream ignore the wish.
      const json = await readJson(reply, { provider, signal });
      return wholeAsStream(fromTranscript(json, { provider, call }));
    },
  };
}

const contentTypes: Readonly<Record<AudioType, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  webm: "audio/webm",
};

/** The richest form that the caller needs: formats with times are written by us, from segments. */
function toTranscribeForm(
  call: TranscribeCall,
  model: string,
  further: readonly (readonly [string, string])[] = [],
): Form {
  const { audio, language, prompt, temperature, detail } = call;
  const fields: (readonly [string, string])[] = [
    ["model", model],
    ["response_format", detail === "text" ? "json" : "verbose_json"],
  ];
  if (language !== undefined) fields.push(["language", language]);
  if (prompt !== undefined) fields.push(["prompt", prompt]);
  if (temperature !== undefined) fields.push(["temperature", String(temperature)]);
  // Segments are the default. Not every server knows the field.
  if (detail === "words")
    for (const each of ["word", "segment"]) fields.push(["timestamp_granularities[]", each]);
  const { bytes, type } = audio;
  const file = { name: `audio.${type}`, contentType: contentTypes[type], bytes };
  return toForm([...fields, ...further], file);
}

/** Whether the format or the audio was refused, only the upstream knows. */
function withHint(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== "upstream_rejected") throw error;
  throw new ApiError({
    code: "upstream_rejected",
    message:
      "The model rejected this request. Check the file. If the model does not support timestamps, use response_format json or text.",
    detail: error.detail,
    upstream: error.upstream,
    cause: error,
  });
}

function fromTranscript(
  json: unknown,
  { provider, call }: { readonly provider: string; readonly call: TranscribeCall },
): Transcript {
  if (!isJsonObject(json)) throw broken(`${provider} sent no transcript`);
  throwTold(json, provider);
  const { text, language, segments, words } = json;
  if (typeof text !== "string") throw broken(`${provider} sent a transcript without text`);
  const transcript: Transcript = {
    text,
    ...(typeof language === "string" ? { language } : {}),
    ...(Array.isArray(segments) ? { segments: segments.flatMap(fromSegment) } : {}),
    ...(Array.isArray(words) ? { words: words.flatMap(fromWord) } : {}),
  };
  const { detail } = call;
  const lacks =
    (detail !== "text" && transcript.segments === undefined) ||
    (detail === "words" && transcript.words === undefined);
  if (!lacks || text.trim() === "") return transcript;
  throw new ApiError({
    code: "invalid_request",
    param: detail === "words" ? "timestamp_granularities" : "response_format",
    message:
      detail === "words"
        ? "timestamp_granularities: this model does not report the times of words. Use segment."
        : "response_format must be json or text. This model does not report timestamps.",
  });
}

const detailNames = ["seek", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"];

function fromSegment(value: Json): readonly TranscriptSegment[] {
  if (!isJsonObject(value)) return [];
  const { start, end, text, tokens } = value;
  if (!isTime(start) || !isTime(end) || typeof text !== "string") return [];
  const details: Record<string, number | readonly number[]> = {};
  for (const name of detailNames) {
    const detail = value[name];
    if (typeof detail === "number") details[name] = detail;
  }
  if (Array.isArray(tokens) && tokens.every((token) => typeof token === "number"))
    details["tokens"] = tokens;
  return [{ startS: start, endS: Math.max(start, end), text, details }];
}

function fromWord(value: Json): readonly TranscriptWord[] {
  if (!isJsonObject(value)) return [];
  const { start, end, word } = value;
  if (!isTime(start) || !isTime(end) || typeof word !== "string") return [];
  return [{ startS: start, endS: Math.max(start, end), word }];
}

const isTime = (value: Json | undefined): value is number =>
  typeof value === "number" && value >= 0 && value < 1e6;

function wholeAsStream({ text }: Transcript): TranscriptStream {
  let left: readonly TranscriptPart[] | undefined = [
    ...(text === "" ? [] : [{ type: "text-delta", text } as const]),
    { type: "done", text },
  ];
  return {
    async read() {
      const now = left;
      left = undefined;
      return now;
    },
    cancel() {},
  };
}

interface StreamOptions {
  readonly provider: string;
  readonly reply: UpstreamReply;
  readonly signal: Signal;
}

/** An hour of speech has some ten thousand words. */
const maxTextChars = 4 * 1024 * 1024;

/** OpenAI's events, and the chunks of vLLM, which look like those of a chat. */
class OpenAiTranscriptStream implements TranscriptStream {
  readonly #options: StreamOptions;
  readonly #packets: PacketReader;
  readonly #sse = new SseReader();
  #text = "";
  #isDone = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#packets = new PacketReader(options.reply);
  }

  async read(): Promise<readonly TranscriptPart[] | undefined> {
    if (this.#isDone) return undefined;
    const { provider, signal } = this.#options;
    const parts: TranscriptPart[] = [];
    try {
      const piece = await this.#packets.next();
      const events =
        piece === undefined
          ? this.#sse.end()
          : this.#sse.push(piece.packet, piece.start, piece.end);
      for (const event of events) if (event !== "") this.#take(event, parts);
      if (piece === undefined && !this.#isDone) throw broken(`${provider} ended its stream early`);
    } catch (cause) {
      this.cancel();
      throw toNetworkError({ provider, signal, cause });
    }
    return parts;
  }

  cancel(): void {
    this.#packets.cancel();
  }

  #take(event: string, parts: TranscriptPart[]): void {
    if (this.#isDone) return;
    if (event.trim() === "[DONE]") return this.#end(this.#text, parts);
    const json = this.#parse(event);
    throwTold(json, this.#options.provider);
    const { type, delta, text } = json;
    if (type === "transcript.text.done")
      return this.#end(typeof text === "string" ? text : this.#text, parts);
    const piece = type === "transcript.text.delta" ? delta : chunkText(json);
    if (typeof piece !== "string" || piece === "") return;
    this.#text += piece;
    this.#check(this.#text);
    parts.push({ type: "text-delta", text: piece });
  }

  #check(text: string): void {
    if (text.length > maxTextChars)
      throw broken(`${this.#options.provider} sent an endless transcript`);
  }

  #end(text: string, parts: TranscriptPart[]): void {
    this.#check(text);
    this.#isDone = true;
    parts.push({ type: "done", text });
    this.cancel();
  }

  #parse(event: string): JsonObject {
    try {
      const json: unknown = JSON.parse(event);
      if (isJsonObject(json)) return json;
    } catch {
      // Told below.
    }
    throw broken(`${this.#options.provider} sent an event that is not JSON`);
  }
}

function chunkText({ choices }: JsonObject): Json | undefined {
  const [choice] = Array.isArray(choices) ? choices : [];
  const delta = isJsonObject(choice) ? choice["delta"] : undefined;
  return isJsonObject(delta) ? delta["content"] : undefined;
}

const broken = (detail: string) => upstreamError("upstream_error", { detail });
