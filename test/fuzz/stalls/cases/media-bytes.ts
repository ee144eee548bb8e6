import { box, element } from "../../../fixtures/media/audio-bytes.ts";

/** Small writers of videos, for files that no encoder would make. */

export const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

export interface WebmOptions {
  readonly clusters: number;
  readonly framesPerCluster: number;
  readonly tracks?: number;
}

/** A WebM whose frames have one byte each and last a millisecond. */
export function webm({ clusters, framesPerCluster, tracks = 1 }: WebmOptions): Buffer {
  const header = element("1a45dfa3", element("4282", Buffer.from("webm")));
  const info = element("1549a966", element("2ad7b1", Buffer.from("0f4240", "hex")));
  const entries = Array.from({ length: tracks }, (_, at) =>
    element(
      "ae",
      element("d7", Buffer.from([at + 1])),
      element("83", Buffer.from([1])),
      element("86", Buffer.from("V_VP8")),
      element("e0", element("b0", Buffer.from([16])), element("ba", Buffer.from([16]))),
    ),
  );
  const cluster = (at: number) => {
    const blocks = Array.from({ length: framesPerCluster }, (_, frame) => {
      const track = 0x81 + (frame % tracks);
      return element("a3", Buffer.from([track, frame >> 8, frame & 0xff, 0x80, 0]));
    });
    const time = Buffer.alloc(4);
    time.writeUInt32BE(at * framesPerCluster);
    return element("1f43b675", element("e7", time), ...blocks);
  };
  return Buffer.concat([
    header,
    element(
      "18538067",
      info,
      element("1654ae6b", ...entries),
      ...Array.from({ length: clusters }, (_, at) => cluster(at)),
    ),
  ]);
}

const numbers = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, at * 4);
  return bytes;
};

const fileType = box("ftyp", Buffer.from("isom"), numbers(0), Buffer.from("isommp42"));

/** An MP4 with this many frames of one byte, each with entries of its own in every table. */
export function mp4(frames: number): Buffer {
  const each = (make: (at: number) => readonly number[]) =>
    numbers(...Array.from({ length: frames }, (_, at) => make(at)).flat());
  const picture = Buffer.alloc(78);
  picture.writeUInt16BE(1, 6);
  picture.writeUInt16BE(16, 24);
  picture.writeUInt16BE(16, 26);
  const table = (name: string, entry: (at: number) => readonly number[]) =>
    box(name, numbers(0, frames), each(entry));
  const tables = (dataStart: number) => [
    box(
      "stsd",
      numbers(0, 1),
      box("avc1", picture, box("avcC", Buffer.from("0142001effe00000", "hex"))),
    ),
    table("stts", (at) => [1, 1 + (at % 2)]),
    table("ctts", (at) => [1, at % 3]),
    table("stss", (at) => [at + 1]),
    table("stsc", (at) => [at + 1, 1, 1]),
    box("stsz", numbers(0, 0, frames, ...Array<number>(frames).fill(1))),
    table("stco", (at) => [dataStart + at]),
  ];
  const movie = (dataStart: number) =>
    box(
      "moov",
      box("mvhd", numbers(0, 0, 0, 1_000, frames * 2), Buffer.alloc(80)),
      box(
        "trak",
        box("tkhd", numbers(7, 0, 0, 1, 0, frames * 2), Buffer.alloc(60)),
        box(
          "mdia",
          box("mdhd", numbers(0, 0, 0, 1_000, frames * 2, 0)),
          box("hdlr", numbers(0, 0), Buffer.from("vide"), Buffer.alloc(13)),
          box("minf", box("vmhd", numbers(1, 0, 0)), box("stbl", ...tables(dataStart))),
        ),
      ),
    );
  const dataStart = fileType.length + movie(0).length + 8;
  return Buffer.concat([fileType, movie(dataStart), box("mdat", Buffer.alloc(frames))]);
}

/** As many boxes as fit, side by side. */
export function mp4OfTinyBoxes(sizeBytes: number): Buffer {
  const free = box("free");
  const count = Math.floor((sizeBytes - fileType.length) / free.length);
  return Buffer.concat([fileType, ...Array<Uint8Array>(count).fill(free)]);
}

/** As many boxes as fit, each inside the one before. */
export function mp4OfDeepBoxes(sizeBytes: number): Buffer {
  const levels = Math.floor((sizeBytes - fileType.length) / 8);
  const bytes = Buffer.alloc(levels * 8);
  const names = ["moov", "trak", "mdia", "minf", "stbl"];
  for (let at = 0; at < levels; at++) {
    bytes.writeUInt32BE(bytes.length - at * 8, at * 8);
    bytes.write(names[Math.min(at, 4)] ?? "stbl", at * 8 + 4, "latin1");
  }
  return Buffer.concat([fileType, bytes]);
}
