const sampleRate = 24_000;
const headerBytes = 44;
const dataStart = 40;

/** What a browser can play: bare samples get a header, and a streamed file its real length. */
export function toPlayable(bytes: Uint8Array, type: string): Blob {
  if (type === "audio/pcm")
    return new Blob([wavHeader(bytes.length), new Uint8Array(bytes)], { type: "audio/wav" });
  const copy = new Uint8Array(bytes);
  const view = new DataView(copy.buffer);
  // Where the length was not known before the first byte, the header has all ones for it.
  if (copy.length > headerBytes && view.getUint32(dataStart, true) === 0xff_ff_ff_ff) {
    view.setUint32(4, copy.length - 8, true);
    view.setUint32(dataStart, copy.length - headerBytes, true);
  }
  return new Blob([copy], { type: "audio/wav" });
}

/** 24 kHz, mono, 16-bit. */
function wavHeader(sizeBytes: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(headerBytes));
  const words = (at: number, text: string) => {
    for (const [index, letter] of [...text].entries())
      view.setUint8(at + index, letter.charCodeAt(0));
  };
  words(0, "RIFF");
  view.setUint32(4, sizeBytes + headerBytes - 8, true);
  words(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  words(36, "data");
  view.setUint32(dataStart, sizeBytes, true);
  return view.buffer;
}
