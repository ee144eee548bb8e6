const pcm = 1;
const chunkHead = 8;
const formatBytes = 16;
/** Names and dates stand before the samples; a file with more is not one of speech. */
const maxHeaderBytes = 65_536;

export const isWavFile = (bytes: Uint8Array): boolean => nameAt(bytes, 0) === "RIFF";

/** The samples of a whole file; undefined unless they are 24 kHz, mono, 16-bit PCM. */
export function wavSamples(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = Math.min(view.byteLength, maxHeaderBytes);
  let isOurs = false;
  let at = 12;
  while (at + chunkHead <= end) {
    const name = nameAt(bytes, at);
    const size = view.getUint32(at + 4, true);
    const start = at + chunkHead;
    // A file that was written as a stream has a size beyond its end.
    if (name === "data") return isOurs ? bytes.subarray(start, start + size) : undefined;
    if (name === "fmt ") isOurs = start + formatBytes <= end && isSpeech(view, start);
    // Chunks begin at even offsets.
    at = start + size + (size % 2);
  }
  return undefined;
}

function isSpeech(view: DataView, at: number): boolean {
  return (
    view.getUint16(at, true) === pcm &&
    view.getUint16(at + 2, true) === 1 &&
    view.getUint32(at + 4, true) === 24_000 &&
    view.getUint16(at + 14, true) === 16
  );
}

function nameAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
