import { isSpeech, readWavHeader } from "../../base/wav.ts";
import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import type { SpeakCall, SpeakStream, SpeakUsage, VoiceMap } from "../../call/speak.ts";
import { upstreamError } from "../kit/failure.ts";
import { shortWord, toFinishReason } from "./chat/finish-reason.ts";
import { partsOf } from "./chat/from-candidates.ts";
import { ReplyReader, type ReplyReaderOptions } from "./chat/reply-reader.ts";
import { throwTold } from "./told-failure.ts";
import { fromSpeechUsage } from "./usage.ts";
import { objectsOf } from "./wire.ts";

export function toSpeechBody({ text, voice }: SpeakCall, voices: VoiceMap | undefined): JsonObject {
  const voiceName = voices === undefined || voices === "same" ? voice : voices[voice];
  return {
    contents: [{ role: "user", parts: [{ text }] }],
    generationConfig: {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
    },
  };
}

/** Some models send minutes of audio as one event. */
const maxEventChars = 96 * 1024 * 1024;
const maxReplyBytes = 64 * 1024 * 1024;

/**
 * Audio as it arrives, each event a piece of it. An audio body has no place for an error: one that
 * does not come to its proper end fails.
 */
export class GeminiSpeech implements SpeakStream {
  readonly lengthBytes = undefined;
  readonly #provider: string;
  readonly #replies: ReplyReader;
  #pieces: Uint8Array[] = [];
  #mimeType: string | undefined;
  #usage: SpeakUsage | undefined;
  #finish: string | undefined;
  #hasSpoken = false;
  #isEnded = false;
  #failure: unknown;

  constructor(options: ReplyReaderOptions) {
    this.#provider = options.provider;
    this.#replies = new ReplyReader({ ...options, maxEventChars, maxReplyBytes });
  }

  async read(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && this.#failure === undefined && !this.#isEnded) {
      try {
        if (!(await this.#replies.pull(this.#take))) this.#end();
      } catch (cause) {
        this.#failure = this.#replies.toFailure(cause);
      }
    }
    const piece = this.#pieces.shift();
    if (piece !== undefined || this.#failure === undefined) return piece;
    this.cancel();
    throw this.#failure;
  }

  usage(): SpeakUsage | undefined {
    return this.#usage;
  }

  cancel(): void {
    this.#isEnded = true;
    this.#pieces = [];
    this.#replies.cancel();
  }

  readonly #take = (reply: JsonObject) => {
    throwTold(reply, this.#provider);
    // It tells of the whole each time.
    this.#usage = fromSpeechUsage(reply["usageMetadata"]) ?? this.#usage;
    const [candidate] = objectsOf(reply["candidates"]);
    if (candidate === undefined) return;
    for (const { inlineData } of partsOf(candidate))
      if (isJsonObject(inlineData)) this.#takeAudio(inlineData);
    const finish = candidate["finishReason"];
    if (typeof finish === "string") this.#finish = finish;
  };

  #takeAudio({ mimeType, data }: JsonObject): void {
    const type = typeof mimeType === "string" ? mimeType : "";
    if (type !== this.#mimeType && !isPcm(type))
      throw this.#broken(`${type.slice(0, 80) || "an unknown type"} instead of 24 kHz PCM`);
    this.#mimeType = type;
    const sent = typeof data === "string" ? fromBase64(data) : undefined;
    if (sent === undefined) throw this.#broken("audio that is not valid base64");
    // Newer models answer with a whole file where they are not asked for a stream.
    const bytes = this.#hasSpoken ? sent : samplesOf(sent);
    if (bytes === undefined) throw this.#broken("a file that is not 24 kHz PCM");
    if (bytes.length === 0) return;
    this.#hasSpoken = true;
    this.#pieces.push(bytes);
  }

  #end(): void {
    this.#isEnded = true;
    if (this.#replies.isCancelled) return;
    if (this.#finish === undefined) {
      this.#replies.throwStray();
      throw this.#broken("audio without a finish reason");
    }
    const saying = { hasWords: this.#hasSpoken, hasCalls: false, hasMedia: false };
    const reason = toFinishReason(this.#finish, { saying, provider: this.#provider });
    if (reason === "stop" && this.#hasSpoken) return;
    if (reason === "content_filter" && !this.#hasSpoken)
      throw upstreamError("content_filtered", {
        detail: `${this.#provider} refused to speak (${shortWord(this.#finish)})`,
        reason: "refused",
      });
    const what = this.#hasSpoken ? "audio" : "no audio";
    throw this.#broken(`${what}, and ended with ${shortWord(this.#finish)}`);
  }

  #broken(what: string) {
    return upstreamError("upstream_error", { detail: `${this.#provider} sent ${what}` });
  }
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

/** `audio/L16;codec=pcm;rate=24000`: other rates and channels would be heard as noise. */
function isPcm(type: string): boolean {
  const [kind = "", ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((word) => word.trim());
  if (!/^audio\/(x-)?(l16|pcm|wav)$/.test(kind)) return false;
  return parameters.every((parameter) => {
    const [name = "", value = ""] = parameter.split("=");
    return (expected.get(name) ?? value) === value;
  });
}

const expected: ReadonlyMap<string, string> = new Map([
  ["rate", "24000"],
  ["channels", "1"],
  ["codec", "pcm"],
]);

/** Bare samples as they are; those of a WAV, unless it holds something else than the contract does. */
function samplesOf(bytes: Uint8Array): Uint8Array | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString("latin1") !== "RIFF") return bytes;
  const header = readWavHeader(bytes);
  if (!header.ok || !isSpeech(header)) return undefined;
  // A file that was written as a stream has no size, or one beyond its end.
  const { dataOffset, dataBytes = bytes.length } = header;
  return bytes.subarray(dataOffset, dataOffset + dataBytes);
}
