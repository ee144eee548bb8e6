import { fixtureBytes } from "../../../fixtures/media/fixture.ts";
import { mp4, mp4OfDeepBoxes, mp4OfTinyBoxes, toBase64, webm } from "./media-bytes.ts";
import {
  casesOf,
  chatRequest,
  fill,
  largestBytes,
  mediaRequest,
  renamed,
  type StallCase,
} from "./stall-case.ts";
import { vectorsReply } from "./upstream-bytes.ts";

/** Images and videos that are dear to look into. */
const image = (type: string, bytes: Uint8Array) => `data:image/${type};base64,${toBase64(bytes)}`;
const video = (bytes: Uint8Array) => ({ video: { bytesBase64Encoded: toBase64(bytes) } });
const mostVideoBytes = 307_200;

/** A PNG that claims 2³¹ − 1 pixels a side. */
function hugePng(): Uint8Array {
  const bytes = fixtureBytes("tiny.png");
  new DataView(bytes.buffer).setUint32(16, 0x7fffffff);
  new DataView(bytes.buffer).setUint32(20, 0x7fffffff);
  return bytes;
}

const jpegStart = Buffer.from("ffd8", "hex");
const segment = Buffer.from("ffe00002", "hex");
const base64Of = (sizeBytes: number) => fill("QUJD", sizeBytes);

const dataUri = (type: string, content: string) => `data:${type};base64,${content}`;
const large = "whole path of a large body";

const images: Readonly<Record<string, () => string>> = {
  "png-of-huge-dimensions": () => image("png", hugePng()),
  "jpeg-of-many-segments-23mb": () =>
    image("jpeg", Buffer.concat([jpegStart, Buffer.alloc(23_000_000, segment)])),
  "jpeg-of-fill-bytes-23mb": () =>
    image("jpeg", Buffer.concat([jpegStart, Buffer.alloc(23_000_000, 0xff)])),
  "base64-31mb": () => dataUri("image/png", base64Of(largestBytes)),
  "base64-31mb-with-junk-at-its-end": () => dataUri("image/png", `${base64Of(largestBytes)}!`),
  "no-comma-31mb": () => `data:image/png${fill(";a=b", largestBytes)}`,
  "many-parameters": () => dataUri(`image/png${";a=b".repeat(60)}`, "QUJD"),
  "padding-31mb": () => dataUri("image/png", `QUJD${"=".repeat(largestBytes)}`),
};
const videos: Readonly<Record<string, () => Uint8Array>> = {
  "webm-of-4000-frames": () => webm({ clusters: 1, framesPerCluster: 4_000 }),
  "webm-of-4000-clusters": () => webm({ clusters: 4_000, framesPerCluster: 1 }),
  "webm-of-20000-frames": () => webm({ clusters: 1, framesPerCluster: 20_000 }),
  "webm-of-10000-clusters": () => webm({ clusters: 10_000, framesPerCluster: 1 }),
  "webm-of-8-tracks": () => webm({ clusters: 60, framesPerCluster: 400, tracks: 8 }),
  "mp4-of-4000-frames": () => mp4(4_000),
  "mp4-of-6000-frames": () => mp4(6_000),
  "mp4-of-tiny-boxes": () => mp4OfTinyBoxes(mostVideoBytes),
  "mp4-of-deep-boxes": () => mp4OfDeepBoxes(mostVideoBytes),
  "webm-of-tiny-elements": () =>
    Buffer.concat([
      Buffer.from("1a45dfa31004aff0", "hex"),
      Buffer.alloc(mostVideoBytes - 8, Buffer.from("ec80", "hex")),
    ]),
};
const fileOf = (type: string) => () =>
  chatRequest([{ type: "file", file: { file_data: dataUri(type, base64Of(largestBytes)) } }]);
const largePng = () =>
  image("png", Buffer.concat([fixtureBytes("tiny.png"), Buffer.alloc(2_800_000, 7)]));

export const mediaCases: readonly StallCase[] = [
  ...casesOf(
    "look at an image (src/media/image.ts, data-uri.ts)",
    renamed("image-", images, (toUri) => () => mediaRequest(toUri())),
  ),
  ...casesOf("measuring and writing of a file in a chat (src/call/chat-size.ts)", {
    "file-of-31mb-application-pdf": fileOf("application/pdf"),
    "file-of-31mb-text-plain": fileOf("text/plain"),
  }),
  ...casesOf(
    `look at images, ${large}`,
    { "image-8-of-3mb": () => mediaRequest(Array.from({ length: 8 }, largePng)) },
    { reply: () => vectorsReply({ count: 8, dimensions: 1_408, encoding: "float" }) },
  ),
  ...casesOf(large, {
    "image-31mb-in-a-chat": () => {
      const url = dataUri("image/png", base64Of(largestBytes));
      return chatRequest([{ type: "image_url", image_url: { url } }]);
    },
  }),
  ...casesOf(
    "look at a video (src/media)",
    renamed("video-", videos, (toBytes) => () => mediaRequest(video(toBytes()))),
  ),
  ...casesOf("size of a video, before it is decoded", {
    "video-31mb-of-base64": () =>
      mediaRequest({ video: { bytesBase64Encoded: base64Of(largestBytes) } }),
  }),
  ...casesOf(
    "several looks at videos in one turn",
    {
      "video-20-at-once": () => mediaRequest(video(webm({ clusters: 1, framesPerCluster: 4_000 }))),
    },
    { times: 20, atOnce: 20 },
  ),
];
