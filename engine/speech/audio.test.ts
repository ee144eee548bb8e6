import { describe, expect, test } from "bun:test";
import { isSound, rms, sampleRate, toInt16, trim } from "./audio.ts";
import { gainToTarget, loudness, targetLufs } from "./loudness.ts";

const tone = (seconds: number, { hertz = 440, level = 0.5 } = {}): Float32Array =>
  Float32Array.from(
    { length: seconds * sampleRate },
    (_, index) => level * Math.sin((2 * Math.PI * hertz * index) / sampleRate),
  );

describe("a piece of sound", () => {
  test("with NaN or infinity in it is none", () => {
    expect(isSound(Float32Array.of(0, 1))).toBe(true);
    expect(isSound(Float32Array.of(0, Number.NaN))).toBe(false);
    expect(isSound(Float32Array.of(Number.NEGATIVE_INFINITY))).toBe(false);
  });

  test("loses the silence around it and starts and ends at zero", () => {
    const padded = new Float32Array(3 * sampleRate);
    padded.set(tone(1), sampleRate);
    const trimmed = trim(padded);
    expect(trimmed.length / sampleRate).toBeGreaterThan(1);
    expect(trimmed.length / sampleRate).toBeLessThan(1.2);
    expect(trimmed[0]).toBe(0);
    expect(trimmed.at(-1)).toBe(0);
    expect(rms(trimmed)).toBeGreaterThan(0.3);
  });

  test("that begins and ends loudly is faded in and out over eight milliseconds", () => {
    const trimmed = trim(new Float32Array(sampleRate).fill(0.5));
    const fade = 0.008 * sampleRate;
    for (const ramp of [trimmed.slice(0, fade + 1), trimmed.slice(-fade - 1).toReversed()]) {
      expect(ramp[0]).toBe(0);
      expect(ramp[fade / 2]).toBeCloseTo(0.25, 3);
      expect(ramp[fade]).toBe(0.5);
      expect([...ramp]).toEqual([...ramp].toSorted((a, b) => a - b));
    }
  });

  test("joins the next without a click", () => {
    const joined = [0.5, -0.5, 0.5].flatMap((level) => [
      ...toInt16({ samples: trim(new Float32Array(4800).fill(level)), gain: 1, pauseMs: 0 }),
    ]);
    const steps = [0, ...joined, 0].map((sample, at, all) => Math.abs(sample - (all[at - 1] ?? 0)));
    expect(joined.length).toBe(3 * 4800);
    expect(Math.max(...steps)).toBeLessThan(0.005 * 32_768);
  });

  test("that is silent is empty", () => {
    expect(trim(new Float32Array(sampleRate)).length).toBe(0);
    expect(trim(new Float32Array(0)).length).toBe(0);
  });

  test("is limited softly: loud waves stay below the ceiling, quiet ones as they are", () => {
    const loud = toInt16({ samples: tone(0.1, { level: 4 }), gain: 1, pauseMs: 0 });
    expect(Math.max(...loud)).toBeLessThan(32_000);
    const quiet = toInt16({ samples: Float32Array.of(0.25, -0.25), gain: 1, pauseMs: 0 });
    expect([...quiet]).toEqual([8192, -8192]);
  });

  test("is followed by its pause", () => {
    const out = toInt16({ samples: tone(1), gain: 1, pauseMs: 250 });
    expect(out.length).toBe(1.25 * sampleRate);
    expect(out.subarray(sampleRate).every((sample) => sample === 0)).toBe(true);
  });
});

describe("loudness", () => {
  test("of a full 997 Hz tone is -3 LUFS, as the standard says", () => {
    expect(loudness(tone(3, { hertz: 997, level: 1 }))).toBeCloseTo(-3.01, 1);
  });

  test("falls with the level and not with silence around the sound", () => {
    const padded = new Float32Array(6 * sampleRate);
    padded.set(tone(3, { hertz: 997, level: 0.1 }), sampleRate);
    expect(loudness(padded)).toBeCloseTo(-23.01, 0);
  });

  test("comes to the target by the gain", () => {
    const quiet = tone(2, { hertz: 997, level: 0.05 });
    const gain = gainToTarget(quiet);
    expect(loudness(quiet.map((sample) => sample * gain))).toBeCloseTo(targetLufs, 1);
  });

  test("changes by fifteen decibels at most, and silence stays as it is", () => {
    const gainOf = (level: number) => gainToTarget(tone(1, { hertz: 997, level }));
    expect(20 * Math.log10(gainOf(0.001))).toBeCloseTo(15, 5);
    expect(20 * Math.log10(gainOf(1))).toBeCloseTo(-15, 5);
    expect(gainOf(0.0001)).toBe(1);
    expect(gainOf(0)).toBe(1);
  });
});
