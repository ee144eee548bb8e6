const labels: Readonly<Record<string, string>> = {
  input: "Input",
  cached_input: "Cached input",
  cache_write: "Cache write",
  output: "Output",
  audio_output: "Audio",
  image: "Image",
  video_second: "Video",
  audio_second: "Audio input",
};

/** What a class of a price is called: `cached_input` is `Cached input`. */
export const priceLabel = (name: string) => labels[name] ?? name;

/** What a price of a class is for. */
export function priceUnit(name: string): string {
  if (name === "image") return "per image";
  if (name === "video_second" || name === "audio_second") return "per second";
  return "per 1M tokens";
}
