import { ApiError } from "../../../base/errors.ts";
import { isSpeech, readWavHeader } from "../../../base/wav.ts";
import type { SpeakStream } from "../../../call/speak.ts";

export interface Pcm {
  /** The first samples; never empty. */
  readonly first: Uint8Array;
  readonly lengthBytes: number | undefined;
  readonly rest: SpeakStream;
}

const maxHeaderBytes = 64 * 1024;

/** How files begin that are no bare samples. */
const fileStarts = {
  wav: "RIFF",
  "big-endian wav": "RIFX",
  "64-bit wav": "RF64",
  ogg: "OggS",
  flac: "fLaC",
  mp3: "ID3",
  webm: "\x1aE\xdf\xa3",
} as const;
const kinds = Object.keys(fileStarts) as readonly (keyof typeof fileStarts)[];
/** So many bytes of plain letters are a text, an error in most cases, and no sound. */
const textBytes = 16;

/**
 * Waits for the first sound. Upstreams are asked for bare PCM; some send a WAV all the same, whose
 * header is taken off here, if it holds what the contract promises. Other files are no sound.
 */
export async function openPcm(given: SpeakStream, provider: string): Promise<Pcm> {
  const stream = wholeSamples(given);
  let start = await readMore(stream, new Uint8Array());
  if (start.length === 0) throw broken(`${provider} sent no audio`, stream);
  while (
    (start.length < 4 && fileKind(start) !== undefined) ||
    (start.length < textBytes && isText(start))
  ) {
    const more = await readMore(stream, start);
    if (more.length === start.length) break;
    start = more;
  }
  if (isText(start.subarray(0, textBytes)))
    throw broken(`${provider} sent text instead of audio`, stream);
  const kind = start.length < 4 ? undefined : fileKind(start);
  if (kind === undefined) return { first: start, lengthBytes: stream.lengthBytes, rest: stream };
  if (kind !== "wav") throw broken(`${provider} sent ${kind} instead of PCM`, stream);
  return withoutHeader({ stream, start, provider });
}

/** Half a sample waits for its other half; at the very end it is left out. */
function wholeSamples(stream: SpeakStream): SpeakStream {
  let half: Uint8Array | undefined;
  return {
    lengthBytes: stream.lengthBytes === undefined ? undefined : toEven(stream.lengthBytes),
    async read() {
      for (;;) {
        const bytes = await stream.read();
        if (bytes === undefined) return undefined;
        const joined = half === undefined ? bytes : Buffer.concat([half, bytes]);
        const wholeBytes = toEven(joined.length);
        half = joined.length > wholeBytes ? joined.slice(wholeBytes) : undefined;
        if (wholeBytes > 0) return joined.subarray(0, wholeBytes);
      }
    },
    cancel: () => stream.cancel(),
    usage: () => stream.usage?.(),
  };
}

const toEven = (sizeBytes: number) => sizeBytes - (sizeBytes % 2);

async function withoutHeader(options: {
  stream: SpeakStream;
  start: Uint8Array;
  provider: string;
}): Promise<Pcm> {
  const { stream, provider } = options;
  let { start } = options;
  for (;;) {
    const header = readWavHeader(start);
    if (header.ok) {
      const { sampleRate, channels, bitsPerSample, format, dataOffset, dataBytes } = header;
      if (!isSpeech(header))
        throw broken(
          `${provider} sent ${format} ${sampleRate} Hz, ${channels} channels, ${bitsPerSample} bits`,
          stream,
        );
      const lengthBytes = believable(dataBytes);
      const rest = samplesOf({ stream, start: start.subarray(dataOffset), lengthBytes });
      const first = await readMore(rest, new Uint8Array());
      if (first.length === 0) throw broken(`${provider} sent a WAV file without audio`, stream);
      return { first, lengthBytes, rest };
    }
    const more =
      header.needsMoreBytes && start.length < maxHeaderBytes
        ? await readMore(stream, start)
        : start;
    if (more.length === start.length)
      throw broken(`${provider} sent an invalid WAV file: ${header.problem}`, stream);
    start = more;
  }
}

/** Writers that stream put 0, or the largest number they know, where the length is not known yet. */
function believable(dataBytes: number | undefined): number | undefined {
  const isKnown = dataBytes !== undefined && dataBytes > 0 && dataBytes < 0x7fff_0000;
  return isKnown ? toEven(dataBytes) : undefined;
}

/** The samples alone: chunks that follow them would be heard as noise. */
function samplesOf(options: {
  readonly stream: SpeakStream;
  readonly start: Uint8Array;
  readonly lengthBytes: number | undefined;
}): SpeakStream {
  const { stream, start, lengthBytes } = options;
  let pending: Uint8Array | undefined = start.length > 0 ? start : undefined;
  let leftBytes = lengthBytes ?? Number.POSITIVE_INFINITY;
  return {
    lengthBytes,
    async read() {
      // What was promised is here: an upstream that keeps the line open is not waited for.
      if (leftBytes === 0) {
        stream.cancel();
        return undefined;
      }
      const bytes = pending ?? (await stream.read());
      pending = undefined;
      if (bytes === undefined) return undefined;
      const samples = bytes.subarray(0, leftBytes);
      leftBytes -= samples.length;
      if (samples.length > 0 || bytes.length === 0) return samples;
      stream.cancel();
      return undefined;
    },
    cancel: () => stream.cancel(),
    usage: () => stream.usage?.(),
  };
}

const isText = (bytes: Uint8Array) => bytes.every((byte) => byte >= 0x20 && byte < 0x7f);

/** The kind of file that this is the beginning of, or may become. */
function fileKind(bytes: Uint8Array): keyof typeof fileStarts | undefined {
  return kinds.find((kind) => {
    const start = fileStarts[kind];
    const shared = Math.min(start.length, bytes.length);
    for (let at = 0; at < shared; at++) if (start.charCodeAt(at) !== bytes[at]) return false;
    return true;
  });
}

async function readMore(stream: SpeakStream, before: Uint8Array): Promise<Uint8Array> {
  for (;;) {
    const bytes = await stream.read();
    if (bytes === undefined) return before;
    if (bytes.length > 0) return before.length === 0 ? bytes : Buffer.concat([before, bytes]);
  }
}

function broken(detail: string, stream: SpeakStream): ApiError {
  stream.cancel();
  return new ApiError({
    code: "upstream_error",
    message: "The model failed to respond. Try again.",
    detail,
    upstream: { reason: "failed" },
  });
}
