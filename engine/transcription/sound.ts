import { EngineError } from "../contract.ts";

/** Samples of one channel. */
export interface Sound {
  readonly samples: Float32Array;
  readonly rate: number;
}

export interface AudioFormat {
  readonly codec: string;
  readonly channels: number;
  readonly rate: number;
  readonly description: Uint8Array | undefined;
}

/** The error for audio that cannot be used, with the reason. */
export function audioRefusal(reason: string): EngineError {
  return new EngineError({ message: `file cannot be decoded: ${reason}.`, param: "file" });
}

export const changesMidway = () =>
  audioRefusal("it changes its channels or its samples midway, which is not supported");
