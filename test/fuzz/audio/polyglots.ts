/** Files that hold another file wherever their format leaves room for one. */
import { box, element, join, oggPage, withChecksums } from "../../fixtures/media/audio-bytes.ts";

export interface Polyglot {
  readonly place: string;
  readonly bytes: Uint8Array;
}

type Place = (outer: Uint8Array, inner: Uint8Array) => Uint8Array;

const le32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const text = (words: string) => Buffer.from(words, "latin1");
const chunk = (name: string, content: Uint8Array) =>
  join(text(name), le32(content.length), content, new Uint8Array(content.length % 2));

/** Sizes of ID3 have seven bits in each byte. */
const id3 = (content: Uint8Array) =>
  join(
    text("ID3\u0004\0\0"),
    Uint8Array.from([21, 14, 7, 0].map((shift) => (content.length >> shift) & 127)),
    content,
  );

/** The content with a header of MPEG audio over it at each frame: layer II, 384 kbit/s, 48 kHz. */
function inMpegFrames(inner: Uint8Array, at: number): Uint8Array {
  const bytes = new Uint8Array(1152 * Math.ceil((inner.length + at) / 1152));
  bytes.set(inner, at);
  for (let frame = 0; frame < bytes.length; frame += 1152) bytes.set([0xff, 0xfd, 0xe4, 0], frame);
  return bytes;
}

/** The content between headers, which push it apart. */
function betweenMpegHeaders(inner: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < inner.length; at += 1148) {
    const frame = new Uint8Array(1152);
    frame.set([0xff, 0xfd, 0xe4, 0]);
    frame.set(inner.subarray(at, at + 1148), 4);
    pieces.push(frame);
  }
  return join(...pieces);
}

const ape = (content: Uint8Array) => {
  const mark = (flags: number) =>
    join(
      text("APETAGEX"),
      le32(2000),
      le32(content.length + 32),
      le32(1),
      le32(flags),
      le32(0),
      le32(0),
    );
  return join(mark(0xa0000000), content, mark(0x80000000));
};

function flacBlock(type: number): Place {
  return (outer, inner) => {
    const first = outer.slice(0, 42);
    const isLast = (first[4] ?? 0) & 0x80;
    first[4] = 0;
    const size = inner.length;
    const head = Uint8Array.from([type | isLast, size >> 16, size >> 8, size]);
    return join(first, head, inner, outer.subarray(42));
  };
}

const audioData = (wav: Uint8Array) => Buffer.from(wav).indexOf("data");

/** Behind the first pages, as packets of their own on pages that are right in all else. */
function oggPages(flags: number): Place {
  return (outer, inner) => {
    const serial = Buffer.from(outer).readUInt32LE(14);
    const pages: Uint8Array[] = [];
    for (let at = 0; at < inner.length; at += 60_000)
      pages.push(oggPage({ body: inner.subarray(at, at + 60_000), flags, serial }));
    return join(outer, ...pages);
  };
}

/** Where the comments end, which stand in the second page of small files. */
const inComments: Place = (outer, inner) => {
  const second = Buffer.from(outer).indexOf("OggS", 4);
  const third = Buffer.from(outer).indexOf("OggS", second + 4);
  const serial = Buffer.from(outer).readUInt32LE(14);
  const marks = [text("OpusTags"), text("\u0003vorbis")];
  const mark = marks.find((one) => Buffer.from(outer.subarray(second, third)).includes(one));
  const body = join(mark ?? marks[0] ?? inner, inner.subarray(0, 64_000));
  return join(outer.subarray(0, second), oggPage({ body, serial }), outer.subarray(third));
};

const inSegment =
  (id: string): Place =>
  (outer, inner) => {
    const tracks = Buffer.from(outer).indexOf(Buffer.from("1f43b675", "hex"));
    const grown = join(outer.subarray(0, tracks), element(id, inner), outer.subarray(tracks));
    // The segment's size becomes unknown.
    const segment = Buffer.from(grown).indexOf(Buffer.from("18538067", "hex"));
    grown.set([1, 255, 255, 255, 255, 255, 255, 255], segment + 4);
    return grown;
  };

const inEbmlHeader: Place = (outer, inner) => {
  const segment = Buffer.from(outer).indexOf(Buffer.from("18538067", "hex"));
  const fields = join(element("4282", text("webm")), element("ec", inner));
  return join(element("1a45dfa3", fields), outer.subarray(segment));
};

const places: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  wav: {
    "in front": (outer, inner) => join(id3(inner), outer),
    "a list in front": (outer, inner) =>
      join(outer.subarray(0, 12), chunk("LIST", inner), outer.subarray(12)),
    "an unknown chunk": (outer, inner) =>
      join(outer.subarray(0, 36), chunk("xtra", inner), outer.subarray(36)),
    "a list behind": (outer, inner) => join(outer, chunk("LIST", inner)),
    samples: (outer, inner) => {
      const data = audioData(outer);
      return join(outer.subarray(0, data + 4), le32(inner.length), inner);
    },
    "samples, later": (outer, inner) => join(withStreamingSize(outer), inner),
  },
  mp3: {
    "the tag": (outer, inner) => join(id3(inner), outer),
    "a long tag": (outer, inner) => join(id3(join(inner, new Uint8Array(1_100_000))), outer),
    "a second tag": (outer, inner) => join(id3(new Uint8Array(4)), id3(inner), outer),
    "in front": (outer, inner) => join(inner, outer),
    "its start in front": (outer, inner) => join(inner.subarray(0, 64), outer, inner),
    "an APE tag": (outer, inner) => join(outer, ape(inner)),
    "frames, from byte 4": (_, inner) => inMpegFrames(inner, 4),
    "frames, from byte 200": (_, inner) => inMpegFrames(inner, 200),
    "frames, from byte 8": (_, inner) => inMpegFrames(inner, 8),
    "few frames, from byte 4": (_, inner) => inMpegFrames(inner.subarray(0, 6_000), 4),
    "few frames without its start": (_, inner) => inMpegFrames(inner.subarray(64, 6_000), 4),
    "between headers": (_, inner) => betweenMpegHeaders(inner),
    "between headers, behind frames": (outer, inner) => join(outer, betweenMpegHeaders(inner)),
    "behind zeros": (outer, inner) => join(new Uint8Array(100), outer, new Uint8Array(5000), inner),
  },
  flac: {
    "in front": (outer, inner) => join(id3(inner), outer),
    padding: flacBlock(1),
    application: flacBlock(2),
    comments: flacBlock(4),
    picture: flacBlock(6),
    "an unknown block": flacBlock(9),
    "blocks of 8 samples": (outer, inner) => {
      const bytes = flacBlock(2)(outer, inner);
      bytes.set([0, 8], 8);
      return bytes;
    },
  },
  ogg: {
    comments: inComments,
    "in front": (outer, inner) => join(id3(inner), outer),
    packets: oggPages(0),
    "a page that goes on": oggPages(1),
    "a page of unknown flags": (outer, inner) => {
      const page = outer.slice();
      page[5] = 0x0a;
      return join(withChecksums(page), inner);
    },
  },
  m4a: {
    "free space": (outer, inner) => join(outer, box("free", inner)),
    "free space in front": (outer, inner) =>
      join(outer.subarray(0, 32), box("free", inner), outer.subarray(32)),
    tags: (outer, inner) => join(outer, box("udta", box("free", inner))),
    "a private box": (outer, inner) => join(outer, box("uuid", inner)),
    "an unknown box": (outer, inner) => join(outer, box("xtra", inner)),
    "more sound": (outer, inner) => join(outer, box("mdat", inner)),
    "in front": (outer, inner) => join(id3(inner), outer),
  },
  webm: {
    "empty space": inSegment("ec"),
    tags: inSegment("1254c367"),
    cues: inSegment("1c53bb6b"),
    attachments: inSegment("1941a469"),
    "an unknown element": inSegment("4444"),
    "the header": inEbmlHeader,
    "a packet": (outer, inner) =>
      join(outer, element("1f43b675", element("a3", Uint8Array.from([0x81, 0, 0, 0x80]), inner))),
  },
};

function withStreamingSize(wav: Uint8Array): Uint8Array {
  const bytes = wav.slice();
  bytes.set([255, 255, 255, 255], audioData(wav) + 4);
  return bytes;
}

const kinds: Readonly<Record<string, string>> = { "3gp": "m4a", mp4: "m4a" };

/** All places of one file for another one. */
export function polyglotsOf(name: string, outer: Uint8Array, inner: Uint8Array): Polyglot[] {
  const extension = name.split(".").at(-1) ?? "";
  const behind: Place = (own, other) => join(own, other);
  const own = { ...places[kinds[extension] ?? extension], behind };
  return Object.entries(own).map(([place, make]) => ({ place, bytes: make(outer, inner) }));
}
