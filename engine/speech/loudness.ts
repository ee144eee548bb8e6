/** Integrated loudness as ITU-R BS.1770 defines it, for one channel, in LUFS. */
import { sampleRate } from "./audio.ts";

interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

const blockSamples = 0.4 * sampleRate;
const stepSamples = 0.1 * sampleRate;
const absoluteGate = -70;
const relativeGate = -10;

/** What every piece of `pro` is brought to: the level that podcasts in mono aim at. */
export const targetLufs = -19;
/** A piece is not raised or lowered by more than this: a whisper stays one. */
const largestGainDb = 15;

/** The factor that brings the samples to the target. */
export function gainToTarget(samples: Float32Array): number {
  const measured = loudness(samples);
  if (!Number.isFinite(measured)) return 1;
  const wanted = Math.min(largestGainDb, Math.max(-largestGainDb, targetLufs - measured));
  return 10 ** (wanted / 20);
}

/** Minus infinity for silence. */
export function loudness(samples: Float32Array): number {
  const weighted = filter(filter(samples, shelf()), highPass());
  const powers = blockPowers(weighted);
  const heard = powers.filter((power) => toLufs(power) > absoluteGate);
  const threshold = toLufs(mean(heard)) + relativeGate;
  return toLufs(mean(heard.filter((power) => toLufs(power) > threshold)));
}

function blockPowers(samples: Float32Array): number[] {
  const powers: number[] = [];
  // Speech shorter than a block counts as one block.
  const last = Math.max(0, samples.length - blockSamples);
  for (let start = 0; start <= last; start += stepSamples) {
    let sum = 0;
    const block = samples.subarray(start, start + blockSamples);
    for (const sample of block) sum += sample * sample;
    powers.push(block.length === 0 ? 0 : sum / block.length);
  }
  return powers;
}

function toLufs(power: number): number {
  return -0.691 + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The head's effect: +4 dB above about 1.7 kHz. The standard lists 48 kHz; this is the same curve here. */
function shelf(): Biquad {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const q = 0.7071752369554196;
  const norm = 1 + k / q + k * k;
  return {
    b: [
      (high + (band * k) / q + k * k) / norm,
      (2 * (k * k - high)) / norm,
      (high - (band * k) / q + k * k) / norm,
    ],
    a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm],
  };
}

/** The ear's deafness to rumble below about 40 Hz. */
function highPass(): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const q = 0.5003270373238773;
  const norm = 1 + k / q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm] };
}

function filter(samples: Float32Array, { b, a }: Biquad): Float32Array {
  const out = new Float32Array(samples.length);
  let s1 = 0;
  let s2 = 0;
  samples.forEach((sample, index) => {
    const value = b[0] * sample + s1;
    s1 = b[1] * sample - a[0] * value + s2;
    s2 = b[2] * sample - a[1] * value;
    out[index] = value;
  });
  return out;
}
