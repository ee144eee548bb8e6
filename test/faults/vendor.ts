/**
 * The upstream of these runs: the fake vendor, with a number of its own in the usage of every
 * reply. A receipt carries that number, so that each can be traced to the one upstream call that
 * it was written for.
 */

import { httpReply, type Recording } from "../fake/http/reply.ts";
import { chatJson, usageOf } from "../fake/openai/chat-json.ts";
import { chatStream, openaiEvents } from "../fake/openai/chat-stream.ts";
import { embeddingsReply } from "../fake/openai/embedding-replies.ts";
import { inPieces, pausedAfter, type Reply } from "../fake/script.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import type { OuterStep } from "./kill/steps.ts";

/** So many bytes of audio are one token. */
const bytesPerAudioToken = 1_920;
export const outputTokens = 7;

export interface UpstreamCall {
  /** Of the caller's prompt: which of their calls it was made for. */
  readonly marker: string;
  readonly request: RecordedRequest;
  /** Bytes of the reply that must have gone out before anything can be charged for it. */
  readonly neededBytes: number;
}

export interface Moment {
  readonly step: OuterStep;
  /** At which of the upstream calls, from 1. */
  readonly pass: number;
  /** Called once, when it has come. */
  readonly reached: () => void;
  /** Resolves when the process is dead. */
  readonly died: Promise<unknown>;
}

export class Vendor {
  readonly #upstream: FakeUpstream;
  #calls = new Map<string, UpstreamCall>();
  #serial = 0;
  #speechSerial = 0;
  #moment: Moment | undefined;
  #passes = 0;
  /** The call that is held back in mid-stream. */
  #heldMarker: string | undefined;

  private constructor(upstream: FakeUpstream) {
    this.#upstream = upstream;
    upstream.replyWith((request) => this.#reply(request));
  }

  static async start(): Promise<Vendor> {
    return new Vendor(await startFakeUpstream());
  }

  get baseUrl(): string {
    return this.#upstream.baseUrl;
  }

  /** By what stands in the receipt: `chat 12`. */
  get calls(): ReadonlyMap<string, UpstreamCall> {
    return this.#calls;
  }

  /** Begins a round; the numbers of chats and embeddings go on. */
  begin(moment: Moment | undefined): void {
    this.#upstream.reset();
    this.#upstream.replyWith((request) => this.#reply(request));
    this.#calls = new Map();
    this.#speechSerial = 0;
    this.#moment = moment;
    this.#passes = 0;
    this.#heldMarker = undefined;
  }

  /** The caller has read something of its stream. */
  sawText(marker: string): void {
    if (marker === this.#heldMarker) this.#moment?.reached();
  }

  stop(): Promise<void> {
    return this.#upstream.stop();
  }

  #reply(request: RecordedRequest): Reply {
    const marker = /call-[\w-]+/.exec(request.body)?.[0] ?? "";
    const isStream = request.body.includes('"stream":true');
    const recording = this.#record({ request, marker, isStream });
    const moment = this.#moment;
    if (moment?.step === "before-first-byte" && this.#isPass(moment)) {
      moment.reached();
      return [{ until: moment.died }];
    }
    if (moment?.step === "after-upstream-end" && this.#isPass(moment))
      void request.closed.then(moment.reached);
    if (!isStream) return recording;
    if (moment?.step === "mid-stream" && this.#isPass(moment)) {
      this.#heldMarker = marker;
      return pausedAfter({ recording, parts: 3, until: moment.died });
    }
    const cuts: number[] = [];
    let at = recording.head.length;
    for (const part of recording.parts) {
      cuts.push(at);
      at += part.length;
    }
    return inPieces(recording, cuts);
  }

  #isPass({ pass }: Moment): boolean {
    this.#passes++;
    return this.#passes === pass;
  }

  #record(options: {
    readonly request: RecordedRequest;
    readonly marker: string;
    readonly isStream: boolean;
  }): Recording {
    const { request, marker, isStream } = options;
    const { name, recording } = request.path.endsWith("/audio/speech")
      ? this.#speech()
      : this.#counted(request.path.endsWith("/embeddings"), isStream);
    const neededBytes = recording.bytes.length - recording.end.length;
    this.#calls.set(name, { marker, request, neededBytes });
    return recording;
  }

  #counted(isEmbedding: boolean, isStream: boolean) {
    this.#serial++;
    const prompt = this.#serial;
    if (isEmbedding) {
      const usage = { prompt_tokens: prompt, total_tokens: prompt };
      const recording = embeddingsReply({ vectors: [[0.5, -0.25]], usage });
      return { name: `embeddings ${prompt}`, recording };
    }
    const usage = usageOf({ prompt, completion: outputTokens });
    const pieces = ["one ", "two ", "three ", "four ", "five"];
    const recording = isStream
      ? chatStream({ events: openaiEvents({ pieces, usage }) })
      : chatJson({ usage });
    return { name: `chat ${prompt}`, recording };
  }

  #speech() {
    this.#speechSerial++;
    const audio = Buffer.alloc(this.#speechSerial * bytesPerAudioToken);
    const recording = httpReply({
      headers: { "content-type": "audio/pcm" },
      body: [audio.subarray(0, bytesPerAudioToken), audio.subarray(bytesPerAudioToken)],
      framing: "chunked",
    });
    return { name: `speech ${this.#speechSerial}`, recording };
  }
}

export const manifestFor = (baseUrl: string) => `
providers:
  fake: { kind: openai, base_url: "${baseUrl}", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  chat: { endpoint: chat, max_output_tokens: 1000, price: { input: "0.31", output: "2.53" }, routes: [{ provider: fake, model: upstream-chat }] }
  embed: { endpoint: embeddings, input: text, price: { input: "0.07" }, routes: [{ provider: fake, model: upstream-embed }] }
  speech: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: upstream-tts, voices: same }] }
`;
