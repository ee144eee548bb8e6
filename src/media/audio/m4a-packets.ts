import {
  all,
  type Box,
  type BoxReader,
  damaged,
  longerThanBox,
  only,
  required,
} from "../mp4-boxes.ts";
import { stepsPerTurn } from "./reading.ts";

/** A packet of a file: where its bytes are. */
export interface Packet {
  readonly start: number;
  readonly end: number;
}

/** The sizes of a table; one for all packets, or one for each. */
export function countPackets(boxes: BoxReader, sizes: Box): number {
  const count = boxes.uint32(sizes, 8);
  if (boxes.uint32(sizes, 4) === 0 && sizes.contentStart + 12 + count * 4 > sizes.end)
    throw longerThanBox(sizes);
  return count;
}

/** All frames of AAC last equally long, so there are one or two runs of them. */
export function countTimes(boxes: BoxReader, times: Box): number {
  const runs = boxes.countOf(times, { entryBytes: 8 });
  if (runs > stepsPerTurn) throw damaged("it has too many runs of frames");
  let frames = 0;
  for (let run = 0; run < runs; run++) frames += boxes.uint32(times, 8 + run * 8);
  // Decoders take frames of one tick each for samples, and play whole chunks of them as one packet.
  if (runs === 1 && boxes.uint32(times, 12) === 1)
    throw damaged("its frames last for one tick each");
  return frames;
}

/** Of the tables of a track. Its chunks must hold exactly the packets that have a size. */
export function* tablePackets(boxes: BoxReader, tables: readonly Box[]): Generator<Packet> {
  const sizes = only(tables, "stsz");
  const count = sizes === undefined ? 0 : countPackets(boxes, sizes);
  if (sizes === undefined || count === 0) return;
  const shared = boxes.uint32(sizes, 4);
  const wide = only(tables, "co64");
  const chunks = wide ?? required(tables, "stco");
  if (wide !== undefined && only(tables, "stco") !== undefined)
    throw damaged("it has two lists of chunks");
  const chunkCount = boxes.countOf(chunks, { entryBytes: wide === undefined ? 4 : 8 });
  const runs = required(tables, "stsc");
  const runCount = boxes.countOf(runs, { entryBytes: 12 });
  let packet = 0;
  for (let run = 0, chunk = 0; run < runCount; run++) {
    const at = 8 + run * 12;
    const end = run + 1 < runCount ? boxes.uint32(runs, at + 12) - 1 : chunkCount;
    const perChunk = boxes.uint32(runs, at + 4);
    // FFmpeg replaces a run of no description by its neighbor.
    const isDescribed = boxes.uint32(runs, at + 8) === 1;
    if (
      !isDescribed ||
      boxes.uint32(runs, at) !== chunk + 1 ||
      end <= chunk ||
      end > chunkCount ||
      perChunk === 0
    )
      throw damaged("its stsc table is invalid");
    for (; chunk < end; chunk++) {
      let start =
        wide === undefined
          ? boxes.uint32(chunks, 8 + chunk * 4)
          : boxes.uint64(wide, 8 + chunk * 8);
      if (perChunk > count - packet) throw otherCount();
      for (let left = perChunk; left > 0; left--, packet++) {
        const next = start + (shared === 0 ? boxes.uint32(sizes, 12 + packet * 4) : shared);
        yield { start, end: next };
        start = next;
      }
    }
  }
  if (packet !== count) throw otherCount();
}

function otherCount() {
  return damaged("its chunks do not hold as many frames as have a size");
}

/** The size of a fragment's packets, where it names none, for each track. */
export function sharedSizes(boxes: BoxReader, movie: Box): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const extensions = only(boxes.boxesIn(movie), "mvex");
  for (const box of extensions === undefined ? [] : all(boxes.boxesIn(extensions), "trex")) {
    const track = boxes.uint32(box, 4);
    if (!found.has(track)) found.set(track, boxes.uint32(box, 16));
  }
  return found;
}

export interface Fragment {
  readonly box: Box;
  /** The part of it that is of the track. */
  readonly part: Box;
  readonly isOnlyPart: boolean;
  readonly sharedBytes: number;
}

/** Of one track in a fragment. */
export function* fragmentPackets(
  boxes: BoxReader,
  { box, part, isOnlyPart, sharedBytes }: Fragment,
): Generator<Packet> {
  const inside = boxes.boxesIn(part);
  const header = required(inside, "tfhd");
  const flags = boxes.uint32(header, 0);
  let at = 8;
  const field = (flag: number, sizeBytes: number) => {
    if ((flags & flag) === 0) return undefined;
    at += sizeBytes;
    return at - sizeBytes;
  };
  const base = field(1, 8);
  field(2, 4);
  field(8, 4);
  const size = field(16, 4);
  const packetBytes = size === undefined ? sharedBytes : boxes.uint32(header, size);
  // Decoders differ on where a box with a long header begins, and the second of several parts.
  if (box.contentStart - box.start !== 8)
    throw damaged("a fragment has a header of an unusual form");
  const isFromBox = (flags & 0x20000) !== 0 || isOnlyPart;
  if (base === undefined && !isFromBox)
    throw damaged("the place of the data of a fragment is missing");
  const origin = base === undefined ? box.start : boxes.uint64(header, base);
  for (const run of all(inside, "trun")) {
    const runFlags = boxes.uint32(run, 0);
    const count = boxes.uint32(run, 4);
    if (count === 0) continue;
    if ((runFlags & 1) === 0) throw damaged("the place of the data of a fragment is missing");
    let start = origin + boxes.int32(run, 8);
    let row = 12 + ((runFlags & 4) === 0 ? 0 : 4);
    const columns = [0x100, 0x200, 0x400, 0x800].filter((flag) => (runFlags & flag) !== 0);
    const column = columns.indexOf(0x200);
    for (let left = count; left > 0; left--, row += columns.length * 4) {
      const end = start + (column === -1 ? packetBytes : boxes.uint32(run, row + column * 4));
      yield { start, end };
      start = end;
    }
    if (run.contentStart + row > run.end) throw longerThanBox(run);
  }
}
