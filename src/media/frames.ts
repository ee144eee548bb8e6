/** Ends the reading of a file; `inspectVideo` and `inspectAudio` return its message as a value. */
export class UnreadableMedia extends Error {}

/** Six seconds at 60 frames per second have 360. */
export const maxFrames = 4_096;

export interface Frame {
  /** When the frame is shown, in the track's own units. */
  readonly time: number;
  readonly duration: number;
  /** A laced block of WebM holds several. */
  readonly frames?: number;
}

/**
 * The time that the stored frames of a track cover. A frame lasts until the next one is shown, so only
 * the duration of the last one counts.
 */
export class FrameSpan {
  #frames = 0;
  #start = Infinity;
  #latest = -Infinity;
  #latestDuration = 0;

  add({ time, duration, frames = 1 }: Frame): void {
    this.#frames += frames;
    if (this.#frames > maxFrames) throw new UnreadableMedia(`has more than ${maxFrames} frames`);
    this.#start = Math.min(this.#start, time);
    if (time < this.#latest) return;
    this.#latest = time;
    this.#latestDuration = duration;
  }

  seconds(unitsPerSecond: number): number {
    const seconds = (this.#latest + this.#latestDuration - this.#start) / unitsPerSecond;
    if (seconds > 0 && Number.isFinite(seconds)) return seconds;
    throw new UnreadableMedia("is truncated: its video track has no duration");
  }
}

/** The longest track counts, since an upstream may pick another than the first. */
export function longest(durationsS: readonly number[]): number {
  if (durationsS.length === 0) throw new UnreadableMedia("has no video track");
  return Math.max(...durationsS);
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
