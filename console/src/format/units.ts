import { formatCount } from "./figures.ts";

type Units = Readonly<Record<string, number>>;

/** What a call used: `1,234 in · 56 out`, `2 images`, `12 s of video`, `12 s of audio`. */
export function formatUnits(units: Units): string {
  const of = (...names: readonly string[]) =>
    names.reduce((sum, name) => sum + (units[name] ?? 0), 0);
  const input = of("input", "cached_input", "cache_write");
  const output = of("output", "audio_output");
  const images = of("image");
  const seconds = of("video_second");
  const heard = of("audio_second");
  const parts = [
    input > 0 && `${formatCount(input)} in`,
    output > 0 && `${formatCount(output)} out`,
    images > 0 && `${formatCount(images)} ${images === 1 ? "image" : "images"}`,
    seconds > 0 && `${formatCount(seconds)} s of video`,
    heard > 0 && `${formatCount(heard)} s of audio`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? "–" : parts.join(" · ");
}
