import { formatBytes, formatMs } from "../../../format/figures.ts";
import { toDataUri } from "../shrink-image.ts";

export const mostVideoBytes = 307_200;
export const mostVideoSeconds = 6;
const patienceMs = 10_000;

export interface Video {
  readonly name: string;
  readonly base64: string;
  /** For the page to show; to be given back with URL.revokeObjectURL. */
  readonly url: string;
}

/** A video that the gateway will take. Rejects with words to show. */
export async function readVideo(file: File): Promise<Video> {
  if (file.type !== "video/mp4" && file.type !== "video/webm")
    throw new Error(`${file.name} must be an MP4 or WebM video.`);
  if (file.size > mostVideoBytes)
    throw new Error(`${file.name} is ${formatBytes(file.size)}. Videos can be up to 300 kB.`);
  const url = URL.createObjectURL(file);
  try {
    const seconds = await durationOf(url);
    if (seconds !== undefined && seconds > mostVideoSeconds)
      throw new Error(
        `${file.name} is ${formatMs(seconds * 1_000)} long. Videos can be up to ${mostVideoSeconds} seconds long.`,
      );
    const uri = await toDataUri(file);
    return { name: file.name, base64: uri.slice(uri.indexOf(",") + 1), url };
  } catch (error) {
    URL.revokeObjectURL(url);
    throw error;
  }
}

/** Undefined where the browser cannot tell; then the gateway says whether it is too long. */
function durationOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const video = document.createElement("video");
    video.preload = "metadata";
    video.addEventListener("loadedmetadata", () =>
      resolve(Number.isFinite(video.duration) ? video.duration : undefined),
    );
    video.addEventListener("error", () => resolve(undefined));
    setTimeout(() => resolve(undefined), patienceMs);
    video.src = url;
  });
}
