import { EncodedPacketSink, Input, type InputVideoTrack, MP4, WEBM } from "mediabunny";
import { packetsOf, ReadBudget, reading as readingFile, toSource } from "../container.ts";
import { EngineError } from "../contract.ts";
import type { VideoCodec } from "./frame-header.ts";
import { hasEndlessTables, withoutFragmentIndex } from "./mp4-guard.ts";
import type { Colors } from "./pixels.ts";
import type { PacketTime } from "./sampling.ts";

export interface Packet {
  readonly data: Uint8Array;
  readonly isKey: boolean;
}

/** The picture track of a file, still encoded. */
export interface Clip {
  readonly codec: VideoCodec;
  readonly width: number;
  readonly height: number;
  /** How far to turn the frames clockwise. */
  readonly rotation: number;
  readonly colors: Colors;
  /** The `avcC` box of H.264. */
  readonly box: Uint8Array | undefined;
  /** In the order of decoding, as are the packets. */
  readonly times: readonly PacketTime[];
  readonly packets: AsyncIterable<Packet>;
}

export interface ClipOptions {
  readonly video: Uint8Array;
  readonly signal: AbortSignal;
}

// An hour at 60 frames a second, nearly.
const maxFrames = 200_000;
const codecs: readonly string[] = ["avc", "vp8", "vp9"] satisfies readonly VideoCodec[];

export async function openClip({ video, signal }: ClipOptions): Promise<Clip> {
  if (hasEndlessTables({ video, maxFrames })) throw tooManyFrames();
  const reads = new ReadBudget();
  const input = new Input({
    formats: [MP4, WEBM],
    source: toSource(withoutFragmentIndex(video), reads),
  });
  const track = await reading(() => input.getPrimaryVideoTrack());
  if (!track) throw videoRefusal("it has no video track");
  const codec = await reading(() => track.getCodec());
  if (!isKnownCodec(codec))
    throw videoRefusal(`its codec is ${codec ?? "unknown"}; only H.264, VP8 and VP9 are supported`);
  const sink = new EncodedPacketSink(track);
  const times: PacketTime[] = [];
  for await (const packet of packetsOf(sink, {
    options: { metadataOnly: true },
    signal,
    reads,
    damaged,
  })) {
    if (times.length === maxFrames) throw tooManyFrames();
    times.push({
      startS: packet.timestamp,
      durationS: packet.duration,
      isKey: packet.type === "key",
    });
  }
  if (times.length === 0) throw videoRefusal("it has no frames, or the file is truncated");
  return { codec, ...(await reading(() => describe(track))), times, packets: whole() };

  // A file that was cut off still lists all of its frames.
  async function* whole(): AsyncGenerator<Packet> {
    let count = 0;
    for await (const { data, type } of packetsOf(sink, {
      options: {},
      signal,
      reads,
      damaged,
    })) {
      yield { data, isKey: type === "key" };
      count++;
    }
    if (count < times.length)
      throw videoRefusal(`it is truncated after ${count} of ${times.length} frames`);
  }
}

/** The error for a video that cannot be used, with the reason. */
export function videoRefusal(reason: string): EngineError {
  return new EngineError({
    message: `input cannot be decoded as a video: ${reason}.`,
    param: "input",
  });
}

function tooManyFrames(): EngineError {
  return videoRefusal(`it lists more than ${maxFrames} frames`);
}

function isKnownCodec(codec: string | null): codec is VideoCodec {
  return codec !== null && codecs.includes(codec);
}

async function describe(
  track: InputVideoTrack,
): Promise<Pick<Clip, "width" | "height" | "rotation" | "colors" | "box">> {
  const config = await track.getDecoderConfig();
  const { matrix, fullRange } = await track.getColorSpace();
  const { description } = config ?? {};
  return {
    width: await track.getCodedWidth(),
    height: await track.getCodedHeight(),
    rotation: await track.getRotation(),
    colors: { matrix: matrix ?? undefined, isFullRange: fullRange ?? false },
    box: description && toBytes(description),
  };
}

function toBytes(source: AllowSharedBufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** The container's reader throws whatever it stumbles over. */
const damaged = () => videoRefusal("it is not an MP4 or WebM file, or it is damaged");

const reading = <Result>(read: () => Promise<Result>) => readingFile(read, damaged);
