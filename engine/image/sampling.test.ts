import { expect, test } from "bun:test";
import { type PacketTime, planFrames } from "./sampling.ts";

/** A clip of one second a frame, with a key frame every `keyEvery` frames. */
function clip(length: number, keyEvery: number): readonly PacketTime[] {
  return Array.from({ length }, (_, at) => ({
    startS: at,
    durationS: 1,
    isKey: at % keyEvery === 0,
  }));
}

test("takes the middles of equal parts", () => {
  const plan = planFrames({ packets: clip(80, 80), count: 8, maxDecoded: 1000 });
  expect(plan).toEqual([{ first: 0, last: 79, wanted: [5, 15, 25, 35, 45, 55, 65, 75] }]);
});

test("decodes only from the key frames that lead to them", () => {
  const plan = planFrames({ packets: clip(100, 10), count: 2, maxDecoded: 1000 });
  expect(plan).toEqual([
    { first: 20, last: 29, wanted: [5] },
    { first: 70, last: 79, wanted: [5] },
  ]);
});

test("counts frames in the order shown, not in the order decoded", () => {
  // I P B B: shown as I B B P.
  const packets = [0, 3, 1, 2].map((startS, at) => ({ startS, durationS: 1, isKey: at === 0 }));
  expect(planFrames({ packets, count: 4, maxDecoded: 9 })).toEqual([
    { first: 0, last: 3, wanted: [0, 1, 2, 3] },
  ]);
});

test("a clip of one frame gives that frame once", () => {
  expect(planFrames({ packets: clip(1, 1), count: 8, maxDecoded: 9 })).toEqual([
    { first: 0, last: 0, wanted: [0] },
  ]);
});

test("parts are equal in time, also when frames come at uneven times", () => {
  const packets = [0, 1, 2, 3, 4, 90].map((startS) => ({ startS, durationS: 10, isKey: true }));
  const plan = planFrames({ packets, count: 2, maxDecoded: 9 });
  expect(plan?.map(({ first }) => first)).toEqual([4]);
});

test("takes key frames where the way to the middles is too long", () => {
  const plan = planFrames({ packets: clip(100, 10), count: 2, maxDecoded: 4 });
  expect(plan).toEqual([
    { first: 0, last: 9, wanted: [0] },
    { first: 50, last: 59, wanted: [0] },
  ]);
});

test("gives up when the way is too long and a part has no key frame", () => {
  expect(planFrames({ packets: clip(100, 100), count: 2, maxDecoded: 4 })).toBeUndefined();
});
