import { UnreadableMedia } from "../frames.ts";
import { all, type Box, BoxReader, damaged, only, required } from "../mp4-boxes.ts";
import { AacBlocks } from "./aac-block.ts";
import {
  countPackets,
  countTimes,
  fragmentPackets,
  type Packet,
  sharedSizes,
  tablePackets,
} from "./m4a-packets.ts";
import { checkPlaces } from "./m4a-places.ts";
import { type Reading, Steps, tooDense } from "./reading.ts";

/**
 * MP4 with AAC: frames × samples per frame ÷ the rate of the decoder's own description. The times in
 * the tables are claims and are not read; neither is the edit list, which may hide frames that an
 * upstream decodes. A decoder plays the packets that the tables list, so these are counted: in
 * `stsz` of each audio track and in `trun` of each fragment. Each must be one frame. The longest
 * track counts.
 */
export function* m4aDurationS(bytes: Uint8Array): Reading {
  const boxes = new BoxReader(bytes);
  const top = boxes.boxesAt({ position: 0, end: boxes.fileEnd });
  const movie = only(top, "moov");
  if (movie === undefined) throw new UnreadableMedia("is truncated: it has no moov box");
  checkPlaces(bytes, { parent: "", position: 0, end: boxes.fileEnd });
  if (top.some(({ name }) => !topNames.has(name))) throw damaged("it has a box that is not known");
  yield;
  const tracks: Track[] = [];
  let others = 0;
  for (const box of all(boxes.boxesIn(movie), "trak")) {
    const track = readTrack({ bytes, boxes }, box);
    if (track === undefined) {
      others += 1;
      continue;
    }
    tracks.push(track);
    if (tracks.length > maxTracks) throw damaged(`it has more than ${maxTracks} audio tracks`);
    yield;
  }
  if (tracks.length === 0) throw new UnreadableMedia("has no audio track");
  const packets = new Packets(bytes);
  for (const track of tracks) yield* packets.check(track, tablePackets(boxes, track.tables));
  const sizes = sharedSizes(boxes, movie);
  for (const box of all(top, "moof")) {
    const parts = all(boxes.boxesIn(box), "traf");
    for (const part of parts) {
      const id = boxes.uint32(required(boxes.boxesIn(part), "tfhd"), 4);
      const track = tracks.find((one) => one.id === id);
      if (track === undefined) continue;
      const isOnlyPart = parts.length === 1;
      const fragment = { box, part, isOnlyPart, sharedBytes: sizes.get(id) ?? 0 };
      yield* packets.check(track, fragmentPackets(boxes, fragment));
    }
  }
  if (others === 0) checkDensity(top, packets.bytes);
  return Math.max(...tracks.map(({ frames, format }) => (frames * frameSamples) / format.rate));
}

/** What may stand in the file itself. */
const topNames: ReadonlySet<string> = new Set(
  "ftyp styp moov moof mdat free skip wide udta meta uuid sidx ssix mfra pdin emsg prft".split(" "),
);

/** Of a frame and each of its channels: 768 by the standard, of which FFmpeg writes up to 808. */
const maxChannelBytes = 1024;
/** Beside frames, writers leave space for what they do not know yet. */
const maxSpareBytes = 65_536;
/** Codewords of one bit are the most work that a byte can hold. */
const scansPerByte = 8;

/** Sound that no table lists is sound that we do not count. */
function checkDensity(top: readonly Box[], listedBytes: number): void {
  const stored = all(top, "mdat").reduce((sum, box) => sum + box.end - box.contentStart, 0);
  if (stored > listedBytes + maxSpareBytes) throw tooDense();
}

/** Counts the packets of all tracks, each of which is read once. */
class Packets {
  readonly #file: Uint8Array;
  readonly #steps: Steps;
  bytes = 0;

  constructor(file: Uint8Array) {
    this.#file = file;
    this.#steps = new Steps(file.length);
  }

  *check(track: Track, packets: Iterable<Packet>): Generator<undefined, void, unknown> {
    for (const { start, end } of packets) {
      if (start < 0 || end > this.#file.length)
        throw new UnreadableMedia("is truncated: the bytes of a frame are missing");
      this.bytes += end - start;
      // Frames that share bytes would make reading them take longer than the file is long.
      if (this.bytes > this.#file.length) throw damaged("its frames share bytes");
      if (end - start > track.format.maxFrameBytes) throw tooDense();
      track.blocks.check({ start, end });
      track.frames += 1;
      this.#steps.scan((end - start) * scansPerByte);
      if (this.#steps.endsTurn()) yield;
    }
  }
}

const maxTracks = 8;

interface Track {
  readonly id: number;
  readonly format: AacFormat;
  readonly tables: readonly Box[];
  readonly blocks: AacBlocks;
  /** That were read so far. */
  frames: number;
}

/** Per channel. Frames of 960, which radio uses, are not supported. */
const frameSamples = 1024;

interface AacFormat {
  readonly rate: number;
  readonly rateIndex: number;
  readonly maxFrameBytes: number;
}

interface File {
  readonly bytes: Uint8Array;
  readonly boxes: BoxReader;
}

function readTrack(file: File, track: Box): Track | undefined {
  const { boxes } = file;
  const inTrack = boxes.boxesIn(track);
  const media = only(inTrack, "mdia");
  const inMedia = media === undefined ? [] : boxes.boxesIn(media);
  const handler = only(inMedia, "hdlr");
  const kind = handler === undefined ? "" : boxes.nameAt(handler, 8);
  if (kind === "vide") return undefined;
  if (kind !== "soun") {
    checkSilent(boxes, inMedia);
    return undefined;
  }
  const header = required(inTrack, "tkhd");
  const tables = boxes.boxesIn(required(boxes.boxesIn(required(inMedia, "minf")), "stbl"));
  if (only(tables, "stz2") !== undefined) throw damaged("its frame sizes have an unusual form");
  const sizes = only(tables, "stsz");
  const times = only(tables, "stts");
  // Some decoders play as many frames as have a size, others as many as have a time.
  const sized = sizes === undefined ? 0 : countPackets(boxes, sizes);
  if (sized !== (times === undefined ? 0 : countTimes(boxes, times)))
    throw damaged("its tables do not agree on the number of its frames");
  const format = readFormat(file, required(tables, "stsd"));
  return {
    id: boxes.uint32(header, boxes.isVersion1(header) ? 20 : 12),
    format,
    tables,
    blocks: new AacBlocks(file.bytes, format.rateIndex),
    frames: 0,
  };
}

/** Some decoders play a track for its codec, whatever kind it says that it is. */
const audioNames: ReadonlySet<string> = new Set(
  "mp4a enca alac Opus fLaC .mp3 ac-3 ec-3 samr sawb lpcm sowt twos raw in24 in32 fl32 fl64 ulaw alaw".split(
    " ",
  ),
);

/** Texts, chapters and time codes are no sound. */
function checkSilent(boxes: BoxReader, inMedia: readonly Box[]): void {
  for (const information of all(inMedia, "minf"))
    for (const table of all(boxes.boxesIn(information), "stbl"))
      for (const { contentStart, end } of all(boxes.boxesIn(table), "stsd"))
        for (const { name } of boxes.looseBoxesAt({ position: contentStart + 8, end }))
          if (audioNames.has(name.trimEnd())) throw damaged("one of its tracks hides its sound");
}

/** `stsd` holds one `mp4a`, that an `esds`, and that the configuration of the decoder. */
function readFormat({ bytes, boxes }: File, descriptions: Box): AacFormat {
  // Of its fields, version 1 changes the length.
  if (boxes.isVersion1(descriptions)) throw unsupported();
  const [entry, second] = boxes.boxesAt({
    position: descriptions.contentStart + 8,
    end: descriptions.end,
  });
  if (entry === undefined || second !== undefined)
    throw damaged("its audio track must have one description");
  if (entry.name !== "mp4a") throw unsupported();
  // Behind the fields of a sound description, of which QuickTime has three versions.
  const version = boxes.uint32(entry, 8) >>> 16;
  const fieldBytes = [28, 44, 64][version];
  if (fieldBytes === undefined) throw unsupported();
  const place = { position: entry.contentStart + fieldBytes, end: entry.end };
  checkPlaces(bytes, { parent: "mp4a", ...place });
  const inside = boxes.boxesAt(place);
  return readConfiguration(boxes, required(inside, "esds"));
}

/** MPEG-2 AAC and MPEG-4 AAC. */
const aacTypes: readonly number[] = [0x40, 0x66, 0x67, 0x68];

/** Descriptors are a tag, a length in groups of seven bits, and their content. */
function readConfiguration(boxes: BoxReader, box: Box): AacFormat {
  const byte = (offset: number) => boxes.uint8(box, offset);
  let at = 4;
  /** Goes to the content and returns its length, of which no descriptor here has 128 bytes. */
  const enter = (tag: number): number => {
    if (byte(at) !== tag) throw damaged("its esds box is invalid");
    at += 1;
    for (let bytes = 1; byte(at) >= 0x80; bytes++, at++)
      if (bytes === 4) throw damaged("its esds box is invalid");
    at += 1;
    return byte(at - 1);
  };
  enter(3);
  const flags = byte(at + 2);
  at += 3 + ((flags & 0x80) === 0 ? 0 : 2) + ((flags & 0x20) === 0 ? 0 : 2);
  if ((flags & 0x40) !== 0) throw damaged("its esds box refers to another file");
  enter(4);
  if (!aacTypes.includes(byte(at))) throw unsupported();
  at += 13;
  // Decoders read zeros behind its end.
  const length = enter(5);
  return toFormat((offset) => (offset < length ? byte(at + offset) : 0));
}

const rates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];

const lowComplexity = 2;
/** HE-AAC and its second version: the core is AAC-LC, of half the rate and half the samples. */
const extensions: readonly number[] = [5, 29];

/** Five bits of type, four of rate and four of channels; for HE-AAC, four and five more; then a flag. */
function toFormat(byte: (offset: number) => number): AacFormat {
  const head = (byte(0) << 16) | (byte(1) << 8) | byte(2);
  const type = head >> 19;
  const rateIndex = (head >> 15) & 15;
  const channels = (head >> 11) & 15;
  const isExtended = extensions.includes(type);
  if ((isExtended ? (head >> 2) & 31 : type) !== lowComplexity) throw unsupported();
  // A rate of 24 bits of its own.
  if (isExtended && ((head >> 7) & 15) === 15) throw unsupported();
  const rate = rates[rateIndex];
  if (rate === undefined)
    throw new UnreadableMedia(`must have one of AAC's rates: ${rates.join(", ")}`);
  const isShort = ((head >> (isExtended ? 1 : 10)) & 1) === 1;
  if (isShort) throw unsupported();
  // 7 stands for eight channels, and 0 for a description of its own.
  const most = channels === 0 || channels > 6 ? 8 : Math.max(2, channels);
  return { rate, rateIndex, maxFrameBytes: most * maxChannelBytes };
}

function unsupported(): UnreadableMedia {
  return new UnreadableMedia(
    "is an MP4 whose audio is neither AAC-LC nor HE-AAC in frames of 1,024 samples, so it is not supported",
  );
}
