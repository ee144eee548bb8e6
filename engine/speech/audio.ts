/** What is done to a piece of speech between the model and the caller: trim, level, limit, fade. */

export const sampleRate = 24_000;

const frame = sampleRate / 100;
/** Quieter than this, relative to the loudest frame, is the silence the model puts at both ends. */
const silenceRatio = 0.01;
const leadMs = 30;
const tailMs = 80;
const fadeMs = 8;

/** Peaks stay below this; the curve bends from the knee on, so that no wave is cut flat. */
const ceiling = 0.97;
const knee = 0.75;

export function isSound(samples: Float32Array): boolean {
  return samples.every((sample) => Number.isFinite(sample));
}

/** Without the silence around the speech, faded at both ends, so that pieces join without a click. */
export function trim(samples: Float32Array): Float32Array {
  const levels = frameLevels(samples);
  const threshold = Math.max(...levels, 0) * silenceRatio;
  const first = levels.findIndex((level) => level > threshold);
  const last = levels.findLastIndex((level) => level > threshold);
  if (first < 0) return new Float32Array(0);
  const start = Math.max(0, first * frame - (leadMs * sampleRate) / 1000);
  const end = Math.min(samples.length, (last + 1) * frame + (tailMs * sampleRate) / 1000);
  return fade(samples.slice(start, end));
}

function frameLevels(samples: Float32Array): number[] {
  const levels: number[] = [];
  for (let start = 0; start < samples.length; start += frame)
    levels.push(rms(samples.subarray(start, start + frame)));
  return levels;
}

function fade(samples: Float32Array): Float32Array {
  const length = Math.min(Math.floor((fadeMs * sampleRate) / 1000), Math.floor(samples.length / 2));
  for (let index = 0; index < length; index += 1) {
    const gain = 0.5 - 0.5 * Math.cos((Math.PI * index) / length);
    const end = samples.length - 1 - index;
    samples[index] = (samples[index] ?? 0) * gain;
    samples[end] = (samples[end] ?? 0) * gain;
  }
  return samples;
}

/** 16-bit samples after `gain`, limited softly, followed by a pause. */
export function toInt16({
  samples,
  gain,
  pauseMs,
}: {
  readonly samples: Float32Array;
  readonly gain: number;
  readonly pauseMs: number;
}): Int16Array {
  const out = new Int16Array(samples.length + Math.round((pauseMs * sampleRate) / 1000));
  samples.forEach((sample, index) => {
    out[index] = Math.round(limit(sample * gain) * 32_767);
  });
  return out;
}

function limit(value: number): number {
  const size = Math.abs(value);
  if (size <= knee) return value;
  const room = ceiling - knee;
  return Math.sign(value) * (knee + room * Math.tanh((size - knee) / room));
}

export function rms(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
