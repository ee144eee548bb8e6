/** Answers of `/audio/speech`: 24 kHz, 16 bit, mono, as OpenAI sends it. */

import { type Framing, httpReply, jsonReply, type Recording } from "../http/reply.ts";

const SAMPLE_RATE_HZ = 24_000;

interface SpeechOptions {
  readonly seconds?: number;
  /** Odd unless told, so that samples are split between parts. */
  readonly partBytes?: number;
  readonly framing?: Framing;
}

/** A 440 Hz tone: s16le without a header. */
export function tone(seconds: number): Buffer {
  const samples = Math.round(seconds * SAMPLE_RATE_HZ);
  const bytes = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) {
    const level = Math.sin((2 * Math.PI * 440 * at) / SAMPLE_RATE_HZ);
    bytes.writeInt16LE(Math.round(level * 12_000), at * 2);
  }
  return bytes;
}

export const speechReplies = {
  pcmChunked: (options: SpeechOptions = {}) => audioReply({ ...options, framing: "chunked" }),
  pcmWithLength: (options: SpeechOptions = {}) => audioReply({ ...options, framing: "length" }),
  pcmUntilClose: (options: SpeechOptions = {}) => audioReply({ ...options, framing: "close" }),
  /** Some compatible servers ignore `response_format`. */
  wavInsteadOfPcm: (options: SpeechOptions = {}) =>
    audioReply({ ...options, type: "audio/wav", before: wavHeader(tone(options.seconds ?? 0.5)) }),
  /** An odd number of bytes: the last sample is half a one. */
  oddLength: () => audioReply({ trimBytes: 1 }),
  jsonErrorWith200: () =>
    jsonReply({
      body: { error: { message: "voice synthesis failed", type: "server_error", code: null } },
    }),
} as const;

interface AudioOptions extends SpeechOptions {
  readonly type?: string;
  readonly before?: Buffer;
  readonly trimBytes?: number;
}

function audioReply(options: AudioOptions): Recording {
  const { seconds = 0.5, partBytes = 4_801, type = "audio/pcm", framing = "chunked" } = options;
  const pcm = tone(seconds);
  const kept = pcm.subarray(0, pcm.length - (options.trimBytes ?? 0));
  const audio = Buffer.concat([options.before ?? Buffer.alloc(0), kept]);
  const body: Buffer[] = [];
  for (let at = 0; at < audio.length; at += partBytes) {
    body.push(audio.subarray(at, at + partBytes));
  }
  return httpReply({ headers: { "content-type": type }, body, framing });
}

function wavHeader(pcm: Buffer): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE_HZ, 24);
  header.writeUInt32LE(SAMPLE_RATE_HZ * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(pcm.length, 40);
  return header;
}
