import { FrameSpan, longest, maxFrames, UnreadableMedia } from "./frames.ts";
import { all, type Box, BoxReader, damaged, longerThanBox, only, required } from "./mp4-boxes.ts";

/**
 * How long an MP4 lasts, from the tables that time its frames: `stbl` of each video track, and `trun`
 * of each fragment. Edit lists are left out, since an upstream may decode the frames that they hide.
 *
 * One linear pass. No count is believed before it fits its box, and no table may list more frames than
 * a short video has. A cut file shows in three ways: a box reaches past the end of the file, there is
 * no `moov`, or the bytes of a frame are not there.
 */
const maxVideoTracks = 4;

interface Track {
  readonly id: number;
  readonly unitsPerSecond: number;
  readonly span: FrameSpan;
  /** When the next fragment begins, unless it says so itself. */
  decodeTime: number;
}

/** What `trex` and `tfhd` say of frames that have no fields of their own. */
interface FrameDefaults {
  readonly duration: number | undefined;
  readonly sizeBytes: number | undefined;
}

export function mp4DurationS(bytes: Uint8Array): number {
  return new Mp4(bytes).durationS();
}

class Mp4 {
  readonly #boxes: BoxReader;
  readonly #tracks: Track[] = [];
  readonly #defaults = new Map<number, FrameDefaults>();

  constructor(bytes: Uint8Array) {
    this.#boxes = new BoxReader(bytes);
  }

  durationS(): number {
    const boxes = this.#boxes.boxesAt({ position: 0, end: this.#boxes.fileEnd });
    const movie = only(boxes, "moov");
    if (movie === undefined) throw new UnreadableMedia("is truncated: it has no moov box");
    const inMovie = this.#boxes.boxesIn(movie);
    for (const track of all(inMovie, "trak")) this.#readTrack(track);
    const extension = only(inMovie, "mvex");
    for (const box of extension === undefined ? [] : all(this.#boxes.boxesIn(extension), "trex"))
      this.#readDefaults(box);
    for (const fragment of all(boxes, "moof")) this.#readFragment(fragment);
    return longest(this.#tracks.map(({ span, unitsPerSecond }) => span.seconds(unitsPerSecond)));
  }

  #readTrack(track: Box): void {
    const inTrack = this.#boxes.boxesIn(track);
    const media = only(inTrack, "mdia");
    const inMedia = media === undefined ? [] : this.#boxes.boxesIn(media);
    const handler = only(inMedia, "hdlr");
    if (handler === undefined || this.#boxes.nameAt(handler, 8) !== "vide") return;
    if (this.#tracks.length === maxVideoTracks)
      throw damaged(`it has more than ${maxVideoTracks} video tracks`);
    const header = required(inTrack, "tkhd");
    const times = required(inMedia, "mdhd");
    const read: Track = {
      id: this.#boxes.uint32(header, this.#boxes.isVersion1(header) ? 20 : 12),
      unitsPerSecond: this.#boxes.uint32(times, this.#boxes.isVersion1(times) ? 20 : 12),
      span: new FrameSpan(),
      decodeTime: 0,
    };
    this.#tracks.push(read);
    const tables = this.#boxes.boxesIn(
      required(this.#boxes.boxesIn(required(inMedia, "minf")), "stbl"),
    );
    this.#readTables(read, tables);
  }

  #readTables(track: Track, tables: readonly Box[]): void {
    this.#checkDescriptions(required(tables, "stsd"));
    const durations = this.#runs(required(tables, "stts"));
    const shifts = this.#runs(only(tables, "ctts"));
    const places = this.#places(tables);
    const count = durations.reduce((sum, run) => sum + run.count, 0);
    if (count !== places.length) throw damaged("its tables list different numbers of frames");
    const shiftOf = cursor(shifts);
    const durationOf = cursor(durations);
    for (const place of places) {
      this.#checkPresent(place);
      const duration = durationOf() >>> 0;
      track.span.add({ time: track.decodeTime + shiftOf(), duration });
      track.decodeTime += duration;
    }
  }

  /** What follows a table must not pass for descriptions that are missing. */
  #checkDescriptions(box: Box): void {
    const count = this.#boxes.countOf(box, { entryBytes: 8 });
    const descriptions = this.#boxes.boxesAt({ position: box.contentStart + 8, end: box.end });
    if (descriptions.length !== count) throw longerThanBox(box);
  }

  /** The table of `stts` and of `ctts`: how many frames share a value. */
  #runs(box: Box | undefined): readonly Run[] {
    if (box === undefined) return [];
    const runs = Array.from(
      { length: this.#boxes.countOf(box, { entryBytes: 8 }) },
      (_, entry) => ({
        count: this.#boxes.uint32(box, 8 + entry * 8),
        value: this.#boxes.int32(box, 12 + entry * 8),
      }),
    );
    if (runs.reduce((sum, { count }) => sum + count, 0) > maxFrames) throw tooManyFrames();
    return runs;
  }

  /** Where the bytes of each frame are: chunk after chunk, frame after frame. */
  #places(tables: readonly Box[]): readonly Place[] {
    const sizes = this.#sizes(only(tables, "stsz"));
    const chunkRuns = this.#chunkRuns(only(tables, "stsc"));
    const offsets = this.#chunkOffsets(tables);
    const places: Place[] = [];
    let run = -1;
    for (const [chunk, offset] of offsets.entries()) {
      while ((chunkRuns[run + 1]?.firstChunk ?? Infinity) <= chunk + 1) run += 1;
      let start = offset;
      const inChunk = chunkRuns[run]?.framesPerChunk ?? 0;
      for (let frame = 0; frame < inChunk && places.length < sizes.length; frame += 1) {
        const sizeBytes = sizes[places.length] ?? 0;
        places.push({ start, sizeBytes });
        start += sizeBytes;
      }
    }
    if (places.length < sizes.length) throw damaged("its chunks do not contain all of its frames");
    return places;
  }

  #sizes(box: Box | undefined): readonly number[] {
    if (box === undefined) return [];
    const sharedSize = this.#boxes.uint32(box, 4);
    const count = this.#boxes.uint32(box, 8);
    if (count > maxFrames) throw tooManyFrames();
    if (sharedSize === 0 && box.contentStart + 12 + count * 4 > box.end) throw longerThanBox(box);
    return Array.from({ length: count }, (_, entry) =>
      sharedSize === 0 ? this.#boxes.uint32(box, 12 + entry * 4) : sharedSize,
    );
  }

  #chunkRuns(box: Box | undefined): readonly ChunkRun[] {
    if (box === undefined) return [];
    const runs = Array.from(
      { length: this.#boxes.countOf(box, { entryBytes: 12 }) },
      (_, entry) => ({
        firstChunk: this.#boxes.uint32(box, 8 + entry * 12),
        framesPerChunk: this.#boxes.uint32(box, 12 + entry * 12),
      }),
    );
    if (runs.some(({ framesPerChunk }) => framesPerChunk > maxFrames)) throw tooManyFrames();
    return runs;
  }

  #chunkOffsets(tables: readonly Box[]): readonly number[] {
    const short = only(tables, "stco");
    const long = only(tables, "co64");
    const box = short ?? long;
    if (box === undefined) return [];
    if (short !== undefined && long !== undefined) throw damaged("it has both stco and co64");
    const entryBytes = box === short ? 4 : 8;
    return Array.from({ length: this.#boxes.countOf(box, { entryBytes }) }, (_, entry) =>
      box === short
        ? this.#boxes.uint32(box, 8 + entry * 4)
        : this.#boxes.uint64(box, 8 + entry * 8),
    );
  }

  #readDefaults(box: Box): void {
    const id = this.#boxes.uint32(box, 4);
    this.#defaults.set(id, {
      duration: this.#boxes.uint32(box, 12),
      sizeBytes: this.#boxes.uint32(box, 16),
    });
  }

  #readFragment(fragment: Box): void {
    let dataEnd = fragment.start;
    for (const part of all(this.#boxes.boxesIn(fragment), "traf")) {
      const boxes = this.#boxes.boxesIn(part);
      const header = required(boxes, "tfhd");
      const track = this.#tracks.find(({ id }) => id === this.#boxes.uint32(header, 4));
      if (track === undefined) continue;
      const { base, defaults } = this.#fragmentHeader(header, { fragment, dataEnd });
      const start = only(boxes, "tfdt");
      if (start !== undefined)
        track.decodeTime = this.#boxes.isVersion1(start)
          ? this.#boxes.uint64(start, 4)
          : this.#boxes.uint32(start, 4);
      dataEnd = base;
      for (const run of all(boxes, "trun"))
        dataEnd = this.#readRun(run, { track, defaults, base, dataEnd });
    }
  }

  #fragmentHeader(
    header: Box,
    around: { readonly fragment: Box; readonly dataEnd: number },
  ): { readonly base: number; readonly defaults: FrameDefaults } {
    const flags = this.#boxes.uint32(header, 0);
    const shared = this.#defaults.get(this.#boxes.uint32(header, 4));
    const hasBase = (flags & 0x01) !== 0;
    const ofFragment = (flags & 0x02_00_00) === 0 ? around.dataEnd : around.fragment.start;
    let at = hasBase ? 16 : 8;
    const next = (flag: number): number | undefined => {
      if ((flags & flag) === 0) return undefined;
      at += 4;
      return this.#boxes.uint32(header, at - 4);
    };
    next(0x02); // the sample description
    const duration = next(0x08) ?? shared?.duration;
    const sizeBytes = next(0x10) ?? shared?.sizeBytes;
    const isEmpty = (flags & 0x01_00_00) !== 0;
    return {
      base: hasBase ? this.#boxes.uint64(header, 8) : ofFragment,
      defaults: { duration: isEmpty ? 0 : duration, sizeBytes },
    };
  }

  /** Returns the end of its bytes, where the next run begins unless it says otherwise. */
  #readRun(run: Box, inside: RunInside): number {
    const { track, defaults } = inside;
    const flags = this.#boxes.uint32(run, 0);
    const count = this.#boxes.uint32(run, 4);
    // Without fields of its own a run claims four billion frames in sixteen bytes.
    if (count > maxFrames) throw tooManyFrames();
    let at = 8;
    const next = (flag: number): number | undefined => {
      if ((flags & flag) === 0) return undefined;
      at += 4;
      return this.#boxes.int32(run, at - 4);
    };
    const offset = next(0x01);
    next(0x04); // the flags of its first frame
    let start = offset === undefined ? inside.dataEnd : inside.base + offset;
    for (let frame = 0; frame < count; frame += 1) {
      const duration = next(0x1_00) ?? defaults.duration;
      const sizeBytes = next(0x2_00) ?? defaults.sizeBytes;
      next(0x4_00); // its flags
      const shift = next(0x8_00) ?? 0;
      if (duration === undefined || sizeBytes === undefined)
        throw damaged("one of its frames has no duration or no size");
      this.#checkPresent({ start, sizeBytes: sizeBytes >>> 0 });
      const time = track.decodeTime + (this.#boxes.isVersion1(run) ? shift : shift >>> 0);
      track.span.add({ time, duration: duration >>> 0 });
      track.decodeTime += duration >>> 0;
      start += sizeBytes >>> 0;
    }
    return start;
  }

  #checkPresent({ start, sizeBytes }: Place): void {
    if (start < 0 || start + sizeBytes > this.#boxes.fileEnd)
      throw new UnreadableMedia("is truncated: the bytes of a frame are missing");
  }
}

interface Place {
  readonly start: number;
  readonly sizeBytes: number;
}

interface Run {
  readonly count: number;
  readonly value: number;
}

interface ChunkRun {
  readonly firstChunk: number;
  readonly framesPerChunk: number;
}

interface RunInside {
  readonly track: Track;
  readonly defaults: FrameDefaults;
  readonly base: number;
  readonly dataEnd: number;
}

/** Gives the value of one frame after the other; 0 after the last. */
function cursor(runs: readonly Run[]): () => number {
  let run = 0;
  let used = 0;
  return () => {
    while (used === (runs[run]?.count ?? Infinity)) {
      run += 1;
      used = 0;
    }
    used += 1;
    return runs[run]?.value ?? 0;
  };
}

function tooManyFrames(): UnreadableMedia {
  return damaged("it lists more frames than a short video can have");
}
