import { readWavHeader } from "../../base/wav.ts";
import { UnreadableMedia, viewOf } from "../frames.ts";
import { checkRate, type Reading } from "./reading.ts";

const maxChannels = 8;
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
  checkRate(sampleRate);
  if (channels < 1 || channels > maxChannels)
    throw new UnreadableMedia(`must have 1 to ${maxChannels} channels`);
  if (![8, 16, 24, 32, 64].includes(bitsPerSample) || (format === "float" && bitsPerSample < 32))
    throw new UnreadableMedia("is a WAV whose samples are not 8, 16, 24, 32 or 64 bits long");
  if (!header.isConsistent)
    throw new UnreadableMedia(
      "is a damaged WAV: the bytes per sample in its header do not match the bits per sample",
    );
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
    // "data", "wavl", "RIFF" and "fmt "
    if ([0x64617461, 0x7761766c, 0x52494646, 0x666d7420].includes(name)) throw hidden();
    const sizeBytes = view.getUint32(at + 4, true);
    at += 8 + sizeBytes + (sizeBytes % 2);
  }
}

function hidden(): UnreadableMedia {
  return new UnreadableMedia("is a damaged WAV: it has more data after its audio");
}
