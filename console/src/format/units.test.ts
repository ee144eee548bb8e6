import { expect, test } from "bun:test";
import { formatUnits } from "./units.ts";

test.each([
  [{ input: 1_200, cached_input: 30, cache_write: 4, output: 56 }, "1,234 in · 56 out"],
  [{ input: 7, audio_output: 900 }, "7 in · 900 out"],
  [{ image: 1 }, "1 image"],
  [{ image: 2, video_second: 12 }, "2 images · 12 s of video"],
  [{}, "–"],
])("the units %j are said as %s", (units, words) => {
  expect(formatUnits(units)).toBe(words);
});
