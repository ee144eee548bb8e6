import { readWavHeader } from "../../base/wav.ts";
import { UnreadableMedia, viewOf } from "../frames.ts";
import { checkRate, type Reading } from "./reading.ts";

const maxChannels = 8;
/** Names and dates. More could be audio that some decoder plays and we do not count. */
const maxTrailerBytes = 1024 * 1024;

/** Real files have up to about ten. */
const maxChunks = 1_024;

/** Chunks that describe the samples. Recorders and editors write them; none holds sound. */
const knownChunks: ReadonlySet<string> = new Set([
  ..."fact LIST bext iXML axml cue  plst smpl inst PEAK cart chna umid levl link mext".split(" "),
  ..."JUNK junk FLLR PAD id3 ID3 DISP acid strc afsp minf elm1 regn ovwf SAUR tlst _PMX XMP".split(
    " ",
  ),
]);

/**
 * Plain samples: their number of bytes is their duration. The size field counts only as far as
 * there are bytes, because recorders leave it at 0 or at its maximum when they stream. Around the
 * samples are chunks that are known, and nothing else.
 */
export function* wavDurationS(bytes: Uint8Array): Reading {
  yield;
  const header = readWavHeader(bytes);
  if (!header.ok) throw new UnreadableMedia(header.problem);
  const { sampleRate, channels, bitsPerSample, format, dataOffset } = header;
  if (format === "other")
    throw new UnreadableMedia("is a WAV with a codec that is not supported; use PCM");
  checkRate(sampleRate);
  if (channels < 1 || channels > maxChannels)
    throw new UnreadableMedia(`must have 1 to ${maxChannels} channels`);
  if (![8, 16, 24, 32, 64].includes(bitsPerSample) || (format === "float" && bitsPerSample < 32))
    throw new UnreadableMedia("is a WAV whose samples are not 8, 16, 24, 32 or 64 bits long");
  if (!header.isConsistent)
    throw new UnreadableMedia(
      "is a damaged WAV: the bytes per sample in its header do not match the bits per sample",
    );
  const view = viewOf(bytes);
  checkChunks(view, { start: 12, end: dataOffset - 8 });
  const left = bytes.length - dataOffset;
  const claimed = header.dataBytes ?? 0;
  const sizeBytes = claimed === 0 ? left : Math.min(claimed, left);
  checkTrailer(view, dataOffset + sizeBytes);
  return sizeBytes / ((sampleRate * channels * bitsPerSample) / 8);
}

function checkTrailer(view: DataView, start: number): void {
  const end = view.byteLength;
  if (end - start > maxTrailerBytes) throw hidden();
  if (isZero(view, { start, end })) return;
  // Some writers leave out the byte that makes chunks begin at even offsets.
  const isPadded = start % 2 === 1 && view.getUint8(start) === 0;
  checkChunks(view, { start: isPadded ? start + 1 : start, end });
  for (const first of [start, start + 1])
    for (const isEven of [true, false]) checkSkipping(view, { start: first, isEven });
}

/** A decoder may go on with a second list of samples, or search chunks that it does not know. */
function checkChunks(view: DataView, { start, end }: Span): void {
  let at = start;
  for (let chunks = 0; at + 8 <= end; chunks++) {
    if (chunks === maxChunks) throw hidden();
    const name = nameAt(view, at);
    const sizeBytes = view.getUint32(at + 4, true);
    if (name !== "fmt " && !knownChunks.has(name.trimEnd())) throw hidden();
    if (name === "fmt " && start !== firstChunk) throw hidden();
    at += 8 + sizeBytes;
    if (at < end && at % 2 === 1 && view.getUint8(at) === 0) at += 1;
  }
  if (at < end && !isZero(view, { start: at, end })) throw hidden();
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const firstChunk = 12;
/** What a decoder that has played the samples may go on with. */
const soundChunks: readonly string[] = ["data", "wavl", "RIFF", "fmt "];

/** Decoders differ on which chunks are followed by a byte that makes the next one begin evenly. */
function checkSkipping(
  view: DataView,
  { start, isEven }: { readonly start: number; readonly isEven: boolean },
): void {
  let at = start;
  for (let chunks = 0; at + 8 <= view.byteLength; chunks++) {
    if (chunks === maxChunks || soundChunks.includes(nameAt(view, at))) throw hidden();
    const sizeBytes = view.getUint32(at + 4, true);
    at += 8 + sizeBytes + (isEven ? sizeBytes % 2 : 0);
  }
}

const nameAt = (view: DataView, at: number) =>
  String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));

function isZero(view: DataView, { start, end }: Span): boolean {
  for (let at = start; at < end; at++) if (view.getUint8(at) !== 0) return false;
  return true;
}

function hidden(): UnreadableMedia {
  return new UnreadableMedia(
    "is a damaged WAV: it has more data around its audio than known chunks",
  );
}
