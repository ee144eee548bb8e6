import { loadBinding } from "../image/decoder.ts";
import { mp3FrameAt } from "./mp3-frame.ts";
import { type AudioFormat, audioRefusal, changesMidway, type Sound } from "./sound.ts";

/** Turns packets into samples of one channel. */
export interface PacketDecoder {
  decode(packet: Uint8Array): readonly Sound[];
  end(): readonly Sound[];
  close(): void;
}

export function openPacketDecoder(format: AudioFormat): PacketDecoder {
  const { codec, rate, channels } = format;
  const read = pcmReaders[codec];
  if (read !== undefined)
    return {
      decode: (packet) => [{ samples: mixed(read(packet), channels), rate }],
      end: () => [],
      close() {},
    };
  if (!Object.hasOwn(checks, codec))
    throw audioRefusal(`its codec, ${codec}, is not supported. Use PCM, MP3, FLAC, Opus or Vorbis`);
  return new NativeDecoder(format, codec as Codec);
}

type Codec = keyof typeof checks;

/**
 * FFmpeg's decoders, by a binding that prepares its output for the first frame and writes past its
 * end when a later frame has fewer channels or another kind of samples. So nothing reaches it that
 * could: what changes its form midway is refused here, by what its packets say. Packets of AAC do
 * not say it in a place that can be read; there the first frame is one of ours, with one channel,
 * which no later frame can have fewer of. Of two channels the first is heard then.
 */
class NativeDecoder implements PacketDecoder {
  readonly #native;
  readonly #check: (packet: Uint8Array) => string | undefined;
  readonly #isAac: boolean;
  #form: string | undefined;
  #sounds: Sound[] = [];
  #channels: number | undefined;
  #packets = 0;
  #failures = 0;

  constructor({ rate, channels, description }: AudioFormat, codec: Codec) {
    this.#check = checks[codec];
    this.#isAac = codec === "aac";
    const { AudioDecoderNative } = loadBinding("compressed audio files", "file");
    this.#native = new AudioDecoderNative(
      (samples, _format, own, frames, count) => this.#take({ samples, own, frames, count }),
      () => {
        this.#failures++;
      },
    );
    const own = this.#isAac ? monoAac(description) : description;
    const extradata = own && Buffer.from(own);
    try {
      this.#native.configure({
        codec,
        sampleRate: rate,
        channels,
        ...(extradata && { extradata }),
      });
    } catch {
      throw audioRefusal("its codec cannot be opened");
    }
    if (this.#isAac) this.#prime();
  }

  decode(packet: Uint8Array): readonly Sound[] {
    if (packet.length === 0) return [];
    const form = this.#check(packet);
    if (form === undefined) throw audioRefusal("one of its frames is damaged");
    this.#form ??= form;
    if (form !== this.#form) throw changesMidway();
    this.#packets++;
    this.#native.decode(Buffer.from(packet), true, 0, 0);
    // The first frames of a cut may lean on what is gone.
    if (this.#failures > maxFailures) throw tooDamaged();
    return this.#taken();
  }

  end(): readonly Sound[] {
    this.#native.flush(() => undefined);
    if (this.#failures > this.#packets / 2) throw tooDamaged();
    return this.#taken();
  }

  close(): void {
    this.#native.close();
  }

  #prime(): void {
    this.#native.decode(Buffer.from(silentAac), true, 0, 0);
    if (this.#channels !== 1) throw audioRefusal("its AAC cannot be decoded");
    this.#sounds = [];
  }

  #taken(): readonly Sound[] {
    const sounds = this.#sounds;
    this.#sounds = [];
    return sounds;
  }

  #take({ samples, own, frames, count }: NativeFrame): void {
    this.#channels ??= count;
    // Where the output was prepared for one channel, that is what is there.
    const mono = this.#isAac ? samples.slice(0, frames) : mixed(samples, count);
    this.#sounds.push({ samples: mono, rate: own });
  }
}

interface NativeFrame {
  readonly samples: Float32Array;
  readonly own: number;
  readonly frames: number;
  readonly count: number;
}

const maxFailures = 100;

const tooDamaged = () => audioRefusal("too many of its frames are damaged");

/** What a packet says of its channels and samples; undefined where it is no whole frame. */
const checks = {
  mp3: mp3Form,
  flac: flacForm,
  // The header of the file alone says how many channels there are.
  opus: () => "opus",
  // A header among the packets would change it.
  vorbis: (packet: Uint8Array) => (((packet[0] ?? 1) & 1) === 0 ? "vorbis" : undefined),
  aac: () => "aac",
} as const;

/** Layer III, one frame and nothing behind it. */
function mp3Form(packet: Uint8Array): string | undefined {
  const frame = mp3FrameAt(packet, 0);
  const isWhole = frame?.layer === 3 && packet.length <= frame.sizeBytes;
  return isWhole ? frame.form : undefined;
}

/** A frame does not say where it ends: whatever may be a header in it counts. */
function flacForm(packet: Uint8Array): string | undefined {
  let form: string | undefined;
  const view = Buffer.from(packet.buffer, packet.byteOffset, packet.length);
  // The head of another file changes what its frames leave open.
  if (view.includes("fLaC")) return undefined;
  for (let at = 0; at !== -1 && at + 6 < view.length; at = view.indexOf(0xff, at + 1)) {
    const own = flacFormAt(view, at);
    if (own === undefined) {
      if (at === 0) return undefined;
      continue;
    }
    form ??= own;
    if (own !== form) return `${form}, then ${own}`;
  }
  return form;
}

function flacFormAt(view: Buffer, at: number): string | undefined {
  const byte = (offset: number) => view[at + offset] ?? 0;
  if (byte(0) !== 0xff || (byte(1) & 0xfe) !== 0xf8 || (byte(3) & 1) !== 0) return undefined;
  const ones = Math.clz32(~(byte(4) << 24));
  const numberBytes = ones === 0 ? 1 : ones;
  const sizeCode = byte(2) >> 4;
  const rateCode = byte(2) & 15;
  const end =
    4 +
    numberBytes +
    (sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0) +
    (rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0);
  let crc = 0;
  for (let offset = 0; offset < end; offset++) {
    crc ^= byte(offset);
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) === 0 ? crc << 1 : ((crc << 1) ^ 7) & 0xff;
  }
  if (crc !== byte(end)) return undefined;
  const assignment = byte(3) >> 4;
  const channels = assignment < 8 ? assignment + 1 : 2;
  return `${channels} ${(byte(3) >> 1) & 7}`;
}

/** One channel of silence: no spectrum at all, and the end of the frame. */
const silentAac = [0x00, 0x00, 0x00, 0x07];

/** AAC-LC of one or two channels; other kinds have frames of other forms. */
function monoAac(description: Uint8Array | undefined): Uint8Array {
  const [first = 0, second = 0] = description ?? [];
  const channels = (second >> 3) & 15;
  const isPlain = first >> 3 === 2 && (((first & 7) << 1) | (second >> 7)) !== 15;
  if (!isPlain || (channels !== 1 && channels !== 2))
    throw audioRefusal("only AAC-LC with one or two channels is supported");
  // Announced as one channel: the decoder notices by itself where there are two.
  return Uint8Array.of(first, (second & 0b1000_0111) | 0b1000);
}

const pcmReaders: Readonly<Record<string, (packet: Uint8Array) => Float32Array>> = {
  "pcm-u8": (packet) => Float32Array.from(packet, (value) => (value - 128) / 128),
  "pcm-s16": (packet) => read(packet, 2, (view, at) => view.getInt16(at, true) / 2 ** 15),
  "pcm-s24": (packet) =>
    read(
      packet,
      3,
      (view, at) => (view.getInt8(at + 2) * 65_536 + view.getUint16(at, true)) / 2 ** 23,
    ),
  "pcm-s32": (packet) => read(packet, 4, (view, at) => view.getInt32(at, true) / 2 ** 31),
  "pcm-f32": (packet) => read(packet, 4, (view, at) => view.getFloat32(at, true)),
  "pcm-f64": (packet) => read(packet, 8, (view, at) => view.getFloat64(at, true)),
};

function read(
  packet: Uint8Array,
  sizeBytes: number,
  valueAt: (view: DataView, at: number) => number,
): Float32Array {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  return Float32Array.from({ length: Math.floor(packet.length / sizeBytes) }, (_, index) => {
    const value = valueAt(view, index * sizeBytes);
    return Number.isFinite(value) ? Math.max(-1, Math.min(1, value)) : 0;
  });
}

/** The mean of the channels, which stand in turn. */
function mixed(samples: Float32Array, channels: number): Float32Array {
  if (channels === 1) return samples.slice();
  return Float32Array.from({ length: Math.floor(samples.length / channels) }, (_, index) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += samples[index * channels + channel] ?? 0;
    return sum / channels;
  });
}
