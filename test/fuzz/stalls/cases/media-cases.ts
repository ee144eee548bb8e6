import { fixtureBytes } from "../../../fixtures/media/fixture.ts";
import { mp4, mp4OfDeepBoxes, mp4OfTinyBoxes, toBase64, webm } from "./media-bytes.ts";
import { chatRequest, fill, largestBytes, mediaRequest, type StallCase } from "./stall-case.ts";
import { vectorsReply } from "./upstream-bytes.ts";

/** Images and videos that are dear to look into. */
const image = (type: string, bytes: Uint8Array) => `data:image/${type};base64,${toBase64(bytes)}`;
const video = (bytes: Uint8Array) => ({ video: { bytesBase64Encoded: toBase64(bytes) } });
const mostVideoBytes = 307_200;

const oneImage = (name: string, toUri: () => string): StallCase => ({
  name: `image-${name}`,
  attacks: "look at an image (src/media/image.ts, data-uri.ts)",
  request: () => mediaRequest(toUri()),
});
const oneVideo = (name: string, toBytes: () => Uint8Array): StallCase => ({
  name: `video-${name}`,
  attacks: "look at a video (src/media)",
  request: () => mediaRequest(video(toBytes())),
});

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

export const mediaCases: readonly StallCase[] = [
  oneImage("png-of-huge-dimensions", () => image("png", hugePng())),
  oneImage("jpeg-of-many-segments-23mb", () =>
    image("jpeg", Buffer.concat([jpegStart, Buffer.alloc(23_000_000, segment)])),
  ),
  oneImage("jpeg-of-fill-bytes-23mb", () =>
    image("jpeg", Buffer.concat([jpegStart, Buffer.alloc(23_000_000, 0xff)])),
  ),
  oneImage("base64-31mb", () => `data:image/png;base64,${base64Of(largestBytes)}`),
  oneImage(
    "base64-31mb-with-junk-at-its-end",
    () => `data:image/png;base64,${base64Of(largestBytes)}!`,
  ),
  oneImage("no-comma-31mb", () => `data:image/png${fill(";a=b", largestBytes)}`),
  oneImage("many-parameters", () => `data:image/png${";a=b".repeat(60)};base64,QUJD`),
  oneImage("padding-31mb", () => `data:image/png;base64,QUJD${"=".repeat(largestBytes)}`),
  ...["application/pdf", "text/plain"].map(
    (type): StallCase => ({
      name: `file-of-31mb-${type.replace("/", "-")}`,
      attacks: "measuring and writing of a file in a chat (src/call/chat-size.ts)",
      request: () =>
        chatRequest([
          { type: "file", file: { file_data: `data:${type};base64,${base64Of(largestBytes)}` } },
        ]),
    }),
  ),
  {
    name: "image-8-of-3mb",
    attacks: "look at images, whole path of a large body",
    request: () =>
      mediaRequest(
        Array.from({ length: 8 }, () =>
          image("png", Buffer.concat([fixtureBytes("tiny.png"), Buffer.alloc(2_800_000, 7)])),
        ),
      ),
    reply: () => vectorsReply({ count: 8, dimensions: 1_408, encoding: "float" }),
  },
  {
    name: "image-31mb-in-a-chat",
    attacks: "whole path of a large body",
    request: () =>
      chatRequest([
        {
          type: "image_url",
          image_url: { url: `data:image/png;base64,${base64Of(largestBytes)}` },
        },
      ]),
  },
  oneVideo("webm-of-4000-frames", () => webm({ clusters: 1, framesPerCluster: 4_000 })),
  oneVideo("webm-of-4000-clusters", () => webm({ clusters: 4_000, framesPerCluster: 1 })),
  oneVideo("webm-of-20000-frames", () => webm({ clusters: 1, framesPerCluster: 20_000 })),
  oneVideo("webm-of-10000-clusters", () => webm({ clusters: 10_000, framesPerCluster: 1 })),
  oneVideo("webm-of-8-tracks", () => webm({ clusters: 60, framesPerCluster: 400, tracks: 8 })),
  oneVideo("mp4-of-4000-frames", () => mp4(4_000)),
  oneVideo("mp4-of-6000-frames", () => mp4(6_000)),
  oneVideo("mp4-of-tiny-boxes", () => mp4OfTinyBoxes(mostVideoBytes)),
  oneVideo("mp4-of-deep-boxes", () => mp4OfDeepBoxes(mostVideoBytes)),
  oneVideo("webm-of-tiny-elements", () =>
    Buffer.concat([
      Buffer.from("1a45dfa31004aff0", "hex"),
      Buffer.alloc(mostVideoBytes - 8, Buffer.from("ec80", "hex")),
    ]),
  ),
  {
    name: "video-31mb-of-base64",
    attacks: "size of a video, before it is decoded",
    request: () => mediaRequest({ video: { bytesBase64Encoded: base64Of(largestBytes) } }),
  },
  {
    name: "video-20-at-once",
    attacks: "several looks at videos in one turn",
    request: () => mediaRequest(video(webm({ clusters: 1, framesPerCluster: 4_000 }))),
    times: 20,
    atOnce: 20,
  },
];
