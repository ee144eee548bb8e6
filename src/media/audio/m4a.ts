import { UnreadableMedia } from "../frames.ts";
import { all, type Box, BoxReader, damaged, longerThanBox, only, required } from "../mp4-boxes.ts";
import { checkPlaces } from "./m4a-places.ts";
import { type Reading, Steps, stepsPerTurn, tooDense } from "./reading.ts";

/**
 * MP4 with AAC: frames × samples per frame ÷ the rate of the decoder's own description. The times in
 * the tables are claims and are not read; neither is the edit list, which may hide frames that an
 * upstream decodes. A decoder plays the frames that the tables list, so these are counted: in `stsz`
 * of each audio track and in `trun` of each fragment. The longest track counts.
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
  const steps = new Steps(bytes.length);
  for (const fragment of all(top, "moof"))
    for (const part of all(boxes.boxesIn(fragment), "traf")) {
      steps.add(1);
      if (steps.endsTurn()) yield;
      addFragment(boxes, { part, tracks });
    }
  // A frame has at least one byte: more frames than bytes are a claim.
  if (tracks.some(({ frames }) => frames > bytes.length))
    throw damaged("it lists more frames than it has bytes");
  if (others === 0) checkDensity(top, tracks);
  return Math.max(...tracks.map(({ frames, format }) => (frames * format.samples) / format.rate));
}

/** What may stand in the file itself. */
const topNames: ReadonlySet<string> = new Set(
  "ftyp styp moov moof mdat free skip wide udta meta uuid sidx ssix mfra pdin emsg prft".split(" "),
);

/** Of a frame and each of its channels. */
const maxAacBytes = 768;
/** Beside frames, writers leave space for what they do not know yet. */
const maxSpareBytes = 65_536;

/** Sound that no table lists is sound that we do not count. */
function checkDensity(top: readonly Box[], tracks: readonly Track[]): void {
  const stored = all(top, "mdat").reduce((sum, box) => sum + box.end - box.contentStart, 0);
  const most = tracks.reduce((sum, { frames, format }) => sum + frames * format.maxFrameBytes, 0);
  if (stored > most + maxSpareBytes) throw tooDense();
}

const maxTracks = 8;

interface Track {
  readonly id: number;
  readonly format: AacFormat;
  frames: number;
}

interface AacFormat {
  readonly rate: number;
  /** Per frame. */
  readonly samples: number;
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
  const frames = sizes === undefined ? 0 : countFrames(boxes, sizes);
  // Some decoders play as many frames as have a size, others as many as have a time.
  if (frames !== (times === undefined ? 0 : countTimes(boxes, times)))
    throw damaged("its tables do not agree on the number of its frames");
  return {
    id: boxes.uint32(header, boxes.isVersion1(header) ? 20 : 12),
    format: readFormat(file, required(tables, "stsd")),
    frames,
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

/** All frames of AAC last equally long, so there are one or two runs of them. */
function countTimes(boxes: BoxReader, times: Box): number {
  const runs = boxes.uint32(times, 4);
  if (times.contentStart + 8 + runs * 8 > times.end) throw longerThanBox(times);
  if (runs > stepsPerTurn) throw damaged("it has too many runs of frames");
  let frames = 0;
  for (let run = 0; run < runs; run++) frames += boxes.uint32(times, 8 + run * 8);
  return frames;
}

function countFrames(boxes: BoxReader, sizes: Box): number {
  const sharedBytes = boxes.uint32(sizes, 4);
  const count = boxes.uint32(sizes, 8);
  if (sharedBytes === 0 && sizes.contentStart + 12 + count * 4 > sizes.end)
    throw longerThanBox(sizes);
  if (count * sharedBytes > boxes.fileEnd)
    throw new UnreadableMedia("is truncated: the bytes of a frame are missing");
  return count;
}

function addFragment(
  boxes: BoxReader,
  { part, tracks }: { readonly part: Box; readonly tracks: readonly Track[] },
): void {
  const inside = boxes.boxesIn(part);
  const header = required(inside, "tfhd");
  const track = tracks.find(({ id }) => id === boxes.uint32(header, 4));
  if (track === undefined) return;
  for (const run of all(inside, "trun")) {
    track.frames += boxes.uint32(run, 4);
    if (track.frames > boxes.fileEnd) throw damaged("it lists more frames than it has bytes");
  }
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
  const enter = (tag: number): void => {
    if (byte(at) !== tag) throw damaged("its esds box is invalid");
    at += 1;
    for (let bytes = 1; byte(at) >= 0x80; bytes++, at++)
      if (bytes === 4) throw damaged("its esds box is invalid");
    at += 1;
  };
  enter(3);
  const flags = byte(at + 2);
  at += 3 + ((flags & 0x80) === 0 ? 0 : 2) + ((flags & 0x20) === 0 ? 0 : 2);
  if ((flags & 0x40) !== 0) throw damaged("its esds box refers to another file");
  enter(4);
  if (!aacTypes.includes(byte(at))) throw unsupported();
  at += 13;
  enter(5);
  return toFormat((offset) => byte(at + offset));
}

const rates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];

const minRate = 7_350;
const maxRate = 96_000;

/** Five bits of type, four of rate, four of channels, and for most types one of the frame's length. */
function toFormat(byte: (offset: number) => number): AacFormat {
  const type = byte(0) >> 3;
  const index = ((byte(0) & 7) << 1) | (byte(1) >> 7);
  // A rate of its own follows in 24 bits.
  const own = () => ((byte(1) & 127) << 17) | (byte(2) << 9) | (byte(3) << 1) | (byte(4) >> 7);
  const rate = index === 15 ? own() : rates[index];
  if (rate === undefined || ![1, 2, 3, 4, 5, 29].includes(type)) throw unsupported();
  if (rate < minRate || rate > maxRate)
    throw new UnreadableMedia(`must have ${minRate} to ${maxRate} samples per second`);
  const isShort = type <= 4 && (byte(index === 15 ? 4 : 1) & 4) !== 0;
  const channels = (byte(index === 15 ? 4 : 1) >> 3) & 15;
  // 7 stands for eight channels, and 0 for a description of its own.
  const most = channels === 0 || channels > 6 ? 8 : Math.max(2, channels);
  return { rate, samples: isShort ? 960 : 1024, maxFrameBytes: most * maxAacBytes };
}

function unsupported(): UnreadableMedia {
  return new UnreadableMedia("is an MP4 whose audio is not AAC, which is not supported");
}
