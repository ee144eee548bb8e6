import { readWavHeader } from "../../base/wav.ts";
import { UnreadableMedia, viewOf } from "../frames.ts";
import type { Reading } from "./reading.ts";

const maxChannels = 8;
const maxRate = 384_000;
const minRate = 4_000;
/** Names and dates. More could be audio that some decoder plays and we do not count. */
const maxTrailerBytes = 1024 * 1024;

/**
 * Plain samples: their number of bytes is their duration. The size field counts only as far as
 * there are bytes, because recorders leave it at 0 or at its maximum when they stream.
 */
export function* wavDurationS(bytes: Uint8Array): Reading {
  yield;
  const header = readWavHeader(bytes);
  if (!header.ok) throw new UnreadableMedia(header.problem);
  const { sampleRate, channels, bitsPerSample, format, dataOffset } = header;
  if (format === "other")
    throw new UnreadableMedia("is a WAV with a codec that is not supported; use PCM");
  if (channels < 1 || channels > maxChannels || sampleRate < minRate || sampleRate > maxRate)
    throw new UnreadableMedia(
      `must have 1 to ${maxChannels} channels and ${minRate} to ${maxRate} samples per second`,
    );
  if (![8, 16, 24, 32, 64].includes(bitsPerSample))
    throw new UnreadableMedia("is a WAV whose samples are not 8, 16, 24, 32 or 64 bits long");
  const left = bytes.length - dataOffset;
  const claimed = header.dataBytes ?? 0;
  const sizeBytes = claimed === 0 ? left : Math.min(claimed, left);
  if (left - sizeBytes > maxTrailerBytes) throw hidden();
  checkTrailer(viewOf(bytes), dataOffset + sizeBytes);
  return sizeBytes / ((sampleRate * channels * bitsPerSample) / 8);
}

/** A decoder may go on with a second list of samples. */
function checkTrailer(view: DataView, start: number): void {
  for (let at = start + (start % 2); at + 8 <= view.byteLength; ) {
    const name = view.getUint32(at);
    // "data", "wavl" and "RIFF"
    if (name === 0x64617461 || name === 0x7761766c || name === 0x52494646) throw hidden();
    const sizeBytes = view.getUint32(at + 4, true);
    at += 8 + sizeBytes + (sizeBytes % 2);
  }
}

function hidden(): UnreadableMedia {
  return new UnreadableMedia("is a damaged WAV: it has more data after its audio");
}
