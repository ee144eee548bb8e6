import { type Clip, openClip, type Packet, videoRefusal } from "./clip.ts";
import { type DecodedFrame, type Decoder, openDecoder } from "./decoder.ts";
import { type FrameShape, shapesIn, shapesInBox } from "./frame-header.ts";
import { fromRgb, type Picture } from "./picture.ts";
import { type RawFrame, toRgb } from "./pixels.ts";
import { planFrames, type Run } from "./sampling.ts";

const frameCount = 8;
const maxSide = 4096;
// About fifteen seconds of decoding on two cores; a minute of 1080p from a single key frame.
const maxDecodedPixels = 4_000_000_000;

export interface VideoOptions {
  readonly video: Uint8Array;
  readonly signal: AbortSignal;
}

/** Pictures from over the whole clip, in the order shown. */
export async function readVideo(options: VideoOptions): Promise<readonly Picture[]> {
  const clip = await openClip(options);
  const maxDecoded = Math.floor(maxDecodedPixels / Math.max(1, clip.width * clip.height));
  const runs = planFrames({ packets: clip.times, count: frameCount, maxDecoded });
  if (!runs)
    throw videoRefusal("its key frames are too far apart; send a shorter or smaller video");
  const guard = new ShapeGuard(clip);
  const pictures: Picture[] = [];
  let index = 0;
  let reader: RunReader | undefined;
  try {
    for await (const packet of clip.packets) {
      const run = runs.find(({ first, last }) => first <= index && index <= last);
      if (run?.first === index) reader = new RunReader({ clip, run, guard });
      for (const frame of reader?.take(packet, index) ?? [])
        pictures.push(await toPicture(clip, frame));
      if (reader?.isDone) {
        reader.close();
        reader = undefined;
      }
      index++;
    }
  } finally {
    reader?.close();
  }
  return pictures;
}

function toPicture(clip: Clip, frame: RawFrame): Promise<Picture> {
  const rgb = toRgb(frame, clip.colors);
  if (!rgb) throw videoRefusal("its frames have an unknown pixel format");
  return fromRgb({ rgb, width: frame.width, height: frame.height, rotation: clip.rotation });
}

/** Looks at what the packets say of their frames, and keeps the work within bounds. */
class ShapeGuard {
  private readonly clip: Clip;
  private shape: FrameShape;
  private decodedPixels = 0;

  constructor(clip: Clip) {
    this.clip = clip;
    this.shape = { width: clip.width, height: clip.height, bitDepth: 8 };
    for (const shape of clip.box ? shapesInBox(clip.box) : []) this.admit(shape);
  }

  get bitDepth(): number {
    return this.shape.bitDepth;
  }

  check(packet: Uint8Array): void {
    const { codec, box } = this.clip;
    for (const shape of shapesIn({ codec, packet, box })) this.admit(shape);
    this.decodedPixels += this.shape.width * this.shape.height;
    // The plan counts nearly the same; more can only be a file that lies about its size.
    if (this.decodedPixels > 2 * maxDecodedPixels)
      throw videoRefusal("it takes too long to decode");
  }

  private admit({ width, height, bitDepth }: FrameShape): void {
    if (width > maxSide || height > maxSide)
      throw videoRefusal(
        `its frames are ${width}x${height}; the maximum is ${maxSide} pixels per side`,
      );
    this.shape = { width, height, bitDepth: Math.max(bitDepth, this.shape.bitDepth) };
  }
}

interface RunOptions {
  readonly clip: Clip;
  readonly run: Run;
  readonly guard: ShapeGuard;
}

/**
 * Decodes one run. Frames are told apart by counting: they come out in the order shown. A packet
 * that shows nothing shifts the count by one, which does not matter among neighbors.
 */
class RunReader {
  private readonly run: Run;
  private readonly guard: ShapeGuard;
  private readonly decoder: Decoder;
  private shown = 0;
  private taken = 0;
  private frames: RawFrame[] = [];
  private last: DecodedFrame | undefined;
  private problem: string | undefined;

  constructor({ clip, run, guard }: RunOptions) {
    this.run = run;
    this.guard = guard;
    this.decoder = openDecoder({
      codec: clip.codec,
      box: clip.box,
      onFrame: (frame) => this.show(frame),
      onError: (message) => {
        this.problem ??= message;
      },
    });
  }

  get isDone(): boolean {
    return this.taken >= this.run.wanted.length;
  }

  /** The frames wanted that came out with this packet. */
  take({ data, isKey }: Packet, index: number): readonly RawFrame[] {
    this.guard.check(data);
    this.decoder.decode(data, isKey);
    if (index === this.run.last && !this.isDone) this.drain();
    if (this.problem !== undefined) throw videoRefusal("one of its frames is damaged");
    const { frames } = this;
    this.frames = [];
    return frames;
  }

  close(): void {
    this.last?.close();
    this.last = undefined;
    this.decoder.close();
  }

  private drain(): void {
    this.decoder.flush();
    if (this.isDone) return;
    if (!this.last) throw videoRefusal("part of it has no frames");
    this.frames.push(this.copy(this.last));
    this.taken = this.run.wanted.length;
  }

  private show(frame: DecodedFrame): void {
    this.last?.close();
    this.last = frame;
    if (this.run.wanted[this.taken] === this.shown) {
      this.frames.push(this.copy(frame));
      this.taken++;
    }
    this.shown++;
  }

  private copy(frame: DecodedFrame): RawFrame {
    const data = Buffer.alloc(frame.allocationSize());
    frame.copyTo(data);
    return { data, width: frame.width, height: frame.height, bitDepth: this.guard.bitDepth };
  }
}
