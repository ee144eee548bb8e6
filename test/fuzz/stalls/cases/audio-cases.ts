import { oggOfOpenHeaders, webmOfEmptyLaces } from "../../../fixtures/media/audio-bytes.ts";
import { type StallCase, transcriptionRequest } from "./stall-case.ts";

const oneFile = (name: string, toBytes: () => Uint8Array): StallCase => ({
  name: `audio-${name}`,
  attacks: "measure audio, before any hold (src/media/audio)",
  request: () => transcriptionRequest(toBytes()),
});

const mebibyte = 2 ** 20;

/** Audio that is dear to measure. */
export const audioCases: readonly StallCase[] = [
  oneFile("webm-of-empty-laces-1mb", () => webmOfEmptyLaces(mebibyte)),
  oneFile("webm-of-empty-laces-24mb", () => webmOfEmptyLaces(24 * mebibyte)),
  oneFile("ogg-of-64-open-headers", () => oggOfOpenHeaders(64)),
  oneFile("mp3-of-sync-bytes-24mb", () => {
    const bytes = new Uint8Array(24 * mebibyte).fill(0xff);
    // Two frames of MPEG 1, layer III, 32 kbit/s, 48 kHz: 96 bytes each.
    for (const at of [0, 96]) bytes.set([0xff, 0xfb, 0x14, 0xc0], at);
    return bytes;
  }),
];
