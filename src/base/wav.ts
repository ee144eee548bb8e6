/** What all speech is sent as: 24 kHz, mono, 16-bit PCM. */
const sampleRateHz = 24_000;
const channels = 1;
const bitsPerSample = 16;

export const wavHeaderBytes = 44;
/** In a size field: the length is not known yet. Players then read to the end of the stream. */
const unknownSize = 0xffff_ffff;

const formatPcm = 1;
const formatFloat = 3;
const formatExtensible = 0xfffe;
/** The tail of every subtype GUID that stands for a plain format code, as bytes in file order. */
const subtypeTail = [0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113];

/** Chunks before the samples are names and dates; more is an abuse of whoever buffers them. */
const maxDataOffsetBytes = 65_536;

export type WavFormat = "pcm" | "float" | "other";

export interface WavHeader {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
  readonly format: WavFormat;
  /**
   * Whether the bytes of a sample follow from its bits. Where they do not, decoders disagree on how
   * many samples there are. The bytes per second do not count: no decoder goes by them.
   */
  readonly isConsistent: boolean;
  readonly dataOffset: number;
  /** undefined in the streaming form, whose length is not known up front. */
  readonly dataBytes: number | undefined;
}

export type WavHeaderReading =
  | ({ readonly ok: true } & WavHeader)
  /** `needsMoreBytes`: right so far, ask again with a longer prefix of the stream. */
  | { readonly ok: false; readonly needsMoreBytes: boolean; readonly problem: string };

/** The header in front of our own speech; without `dataBytes` in the streaming form. */
export function wavHeader(options: { readonly dataBytes?: number } = {}): Uint8Array<ArrayBuffer> {
  const dataSize = fieldFor(options.dataBytes);
  const frameBytes = (channels * bitsPerSample) / 8;
  const view = new DataView(new ArrayBuffer(wavHeaderBytes));
  writeName(view, { offset: 0, name: "RIFF" });
  view.setUint32(4, dataSize === unknownSize ? unknownSize : wavHeaderBytes - 8 + dataSize, true);
  writeName(view, { offset: 8, name: "WAVE" });
  writeName(view, { offset: 12, name: "fmt " });
  view.setUint32(16, 16, true);
  view.setUint16(20, formatPcm, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, bitsPerSample, true);
  writeName(view, { offset: 36, name: "data" });
  view.setUint32(40, dataSize, true);
  return new Uint8Array(view.buffer);
}

/** Reads the header at the front of a wav file or of the part of it that has arrived. */
export function readWavHeader(bytes: Uint8Array): WavHeaderReading {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!agrees(view, { offset: 0, name: "RIFF" }) || !agrees(view, { offset: 8, name: "WAVE" }))
    return refused("is not a RIFF WAVE file");
  let position = 12;
  let format: Omit<WavHeader, "dataOffset" | "dataBytes"> | undefined;
  while (position + 8 <= view.byteLength) {
    const sizeBytes = view.getUint32(position + 4, true);
    const contentAt = position + 8;
    if (nameAt(view, position) === "data") {
      return format === undefined
        ? refused("has its data chunk before its fmt chunk")
        : { ok: true, ...format, dataOffset: contentAt, dataBytes: knownSize(sizeBytes) };
    }
    // Chunks begin at even offsets.
    position = contentAt + sizeBytes + (sizeBytes % 2);
    if (position > maxDataOffsetBytes)
      return refused(`has no samples within its first ${maxDataOffsetBytes} bytes`);
    if (nameAt(view, contentAt - 8) === "fmt " && position <= view.byteLength) {
      if (sizeBytes < 16) return refused("has a fmt chunk that is too short");
      // Some decoders take the first, others the last.
      if (format !== undefined) return refused("has two fmt chunks");
      format = readFormat(new DataView(view.buffer, view.byteOffset + contentAt, sizeBytes));
    }
  }
  return { ok: false, needsMoreBytes: true, problem: "is truncated: its wav header is incomplete" };
}

/** Whether the samples are what all speech is sent as. */
export function isSpeech(header: WavHeader): boolean {
  return (
    header.format === "pcm" &&
    header.sampleRate === sampleRateHz &&
    header.channels === channels &&
    header.bitsPerSample === bitsPerSample
  );
}

function readFormat(chunk: DataView): Omit<WavHeader, "dataOffset" | "dataBytes"> {
  const channelCount = chunk.getUint16(2, true);
  const bits = chunk.getUint16(14, true);
  const isExtensible = chunk.getUint16(0, true) === formatExtensible;
  const validBits = isExtensible && chunk.byteLength >= 20 ? chunk.getUint16(18, true) : bits;
  return {
    sampleRate: chunk.getUint32(4, true),
    channels: channelCount,
    bitsPerSample: bits,
    format: formatName(formatCode(chunk)),
    isConsistent: validBits === bits && chunk.getUint16(12, true) * 8 === channelCount * bits,
  };
}

/** The code itself, or the one that the subtype of WAVE_FORMAT_EXTENSIBLE stands for. */
function formatCode(chunk: DataView): number | undefined {
  const code = chunk.getUint16(0, true);
  if (code !== formatExtensible) return code;
  const isPlain =
    chunk.byteLength >= 40 &&
    subtypeTail.every((byte, index) => chunk.getUint8(26 + index) === byte);
  return isPlain ? chunk.getUint16(24, true) : undefined;
}

function formatName(code: number | undefined): WavFormat {
  if (code === formatPcm) return "pcm";
  return code === formatFloat ? "float" : "other";
}

/** A length that 32 bits cannot hold is as good as unknown. */
function fieldFor(dataBytes: number | undefined): number {
  const fits = dataBytes !== undefined && dataBytes <= unknownSize - wavHeaderBytes;
  return fits ? dataBytes : unknownSize;
}

function knownSize(sizeBytes: number): number | undefined {
  return sizeBytes === unknownSize ? undefined : sizeBytes;
}

function refused(problem: string): WavHeaderReading {
  return { ok: false, needsMoreBytes: false, problem };
}

interface NamePlace {
  readonly offset: number;
  readonly name: string;
}

/** Whether the name is there, or may still come to be there when the rest arrives. */
function agrees(view: DataView, expected: NamePlace): boolean {
  return expected.name.startsWith(nameAt(view, expected.offset));
}

function nameAt(view: DataView, offset: number): string {
  let name = "";
  for (let at = offset; at < Math.min(offset + 4, view.byteLength); at += 1) {
    name += String.fromCharCode(view.getUint8(at));
  }
  return name;
}

function writeName(view: DataView, place: NamePlace): void {
  for (let index = 0; index < place.name.length; index += 1) {
    view.setUint8(place.offset + index, place.name.charCodeAt(index));
  }
}
