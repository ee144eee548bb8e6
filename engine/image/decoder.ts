import { createRequire } from "node:module";
import { EngineError } from "../contract.ts";
import type { VideoCodec } from "./frame-header.ts";

/** A frame that the decoder owns: closed as soon as it has been copied. */
export interface DecodedFrame {
  readonly width: number;
  readonly height: number;
  allocationSize(): number;
  copyTo(target: Buffer): void;
  close(): void;
}

export interface DecoderOptions {
  readonly codec: VideoCodec;
  readonly box: Uint8Array | undefined;
  readonly onFrame: (frame: DecodedFrame) => void;
  readonly onError: (message: string) => void;
}

/** Frames come out in the order shown, while `decode` or `flush` is running. */
export interface Decoder {
  decode(packet: Uint8Array, isKey: boolean): void;
  flush(): void;
  close(): void;
}

interface NativeDecoder {
  configure(config: { readonly codec: string; readonly extradata?: Buffer }): void;
  decode(data: Buffer, isKey: boolean, timestamp: number, duration: number): void;
  flush(done: () => void): void;
  close(): void;
}

/** Calls back with samples of all channels in turn; how many there are of each, and the channels. */
export type OnSamples = (
  samples: Float32Array,
  format: string,
  rate: number,
  frames: number,
  channels: number,
) => void;

export interface NativeAudioDecoder {
  configure(config: {
    readonly codec: string;
    readonly sampleRate: number;
    readonly channels: number;
    readonly extradata?: Buffer;
  }): void;
  decode(data: Buffer, isKey: boolean, timestamp: number, duration: number): void;
  flush(done: () => void): void;
  close(): void;
}

interface Binding {
  readonly AudioDecoderNative: new (
    onSamples: OnSamples,
    onError: (message: string) => void,
  ) => NativeAudioDecoder;
  readonly VideoDecoderNative: new (
    onFrame: (frame: DecodedFrame) => void,
    onError: (message: string) => void,
  ) => NativeDecoder;
}

const nativeNames: Readonly<Record<VideoCodec, string>> = { avc: "h264", vp8: "vp8", vp9: "vp9" };

/**
 * FFmpeg's decoders (LGPL, built without GPL parts) from a package of their own, which can be
 * replaced. The binding is used as it is: the JavaScript around it would rather load an FFmpeg of
 * the system, of which nobody knows what is in it, and its background decoder breaks on bad packets.
 */
export function openDecoder({ codec, box, onFrame, onError }: DecoderOptions): Decoder {
  const native = new (loadBinding().VideoDecoderNative)(onFrame, onError);
  try {
    native.configure({ codec: nativeNames[codec], ...(box && { extradata: Buffer.from(box) }) });
  } catch (error) {
    onError(String(error));
  }
  return {
    decode: (packet, isKey) => native.decode(Buffer.from(packet), isKey, 0, 0),
    flush: () => native.flush(() => undefined),
    close: () => native.close(),
  };
}

let loaded: Binding | undefined;

export function loadBinding(what = "videos", param = "input"): Binding {
  const machine = `${process.platform}-${process.arch}`;
  try {
    loaded ??= createRequire(import.meta.url)(`@node-webcodecs/static-${machine}`) as Binding;
    return loaded;
  } catch {
    const message = `${what} are not supported on this machine: no decoder for ${machine}`;
    throw new EngineError({ status: 501, code: "unsupported", message, param });
  }
}
