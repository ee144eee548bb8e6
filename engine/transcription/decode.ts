import {
  EncodedPacketSink,
  FLAC,
  Input,
  type InputAudioTrack,
  MP3,
  MP4,
  OGG,
  WAVE,
  WEBM,
} from "mediabunny";
import { packetsOf, ReadBudget, reading, toSource } from "../container.ts";
import { hasEndlessTables, withoutFragmentIndex } from "../image/mp4-guard.ts";
import { melRate } from "./log-mel.ts";
import { openPacketDecoder } from "./packet-decoder.ts";
import { Resampler } from "./resample.ts";
import { type AudioFormat, audioRefusal, type Sound } from "./sound.ts";
import { toWholeFile } from "./whole-file.ts";

export interface DecodeOptions {
  readonly audio: Uint8Array;
  readonly signal: AbortSignal;
}

/** Nine hours of AAC. */
const maxFrames = 1_500_000;
const maxChannels = 8;
const minRate = 4_000;
const maxRate = 192_000;

/** The sound of a file as 16 kHz samples of one channel, piece by piece. */
export async function* decodeAudio({ audio, signal }: DecodeOptions): AsyncGenerator<Float32Array> {
  if (hasEndlessTables({ video: audio, maxFrames })) throw audioRefusal("it lists too many frames");
  const whole = toWholeFile(audio);
  const reads = new ReadBudget();
  const input = new Input({
    formats: [WAVE, MP3, FLAC, OGG, MP4, WEBM],
    source: toSource(withoutFragmentIndex(whole), reads),
  });
  const track = await reading(() => input.getPrimaryAudioTrack(), damaged);
  if (!track) throw audioRefusal("it has no audio track");
  const format = await reading(() => describe(track), damaged);
  const { channels, rate } = format;
  if (channels < 1 || channels > maxChannels || rate < minRate || rate > maxRate)
    throw audioRefusal(`it has ${channels} channels and ${rate} samples per second`);
  const decoder = openPacketDecoder(format);
  let resampler: { readonly rate: number; readonly own: Resampler } | undefined;
  const toRate = ({ samples, rate: own }: Sound) => {
    if (own < minRate || own > maxRate) throw audioRefusal(`it has ${own} samples per second`);
    if (resampler?.rate !== own) resampler = { rate: own, own: new Resampler(own, melRate) };
    return resampler.own.push(samples);
  };
  try {
    const sink = new EncodedPacketSink(track);
    for await (const packet of packetsOf(sink, { options: {}, signal, reads, damaged }))
      for (const sound of decoder.decode(packet.data)) yield toRate(sound);
    for (const sound of decoder.end()) yield toRate(sound);
    if (resampler !== undefined) yield resampler.own.end();
  } finally {
    decoder.close();
  }
}

async function describe(track: InputAudioTrack): Promise<AudioFormat> {
  const config = await track.getDecoderConfig();
  const { description } = config ?? {};
  return {
    codec: (await track.getCodec()) ?? "unknown",
    channels: await track.getNumberOfChannels(),
    rate: await track.getSampleRate(),
    description: description && toBytes(description),
  };
}

function toBytes(source: AllowSharedBufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

const damaged = () => audioRefusal("it is damaged");
