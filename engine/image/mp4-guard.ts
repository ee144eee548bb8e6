/**
 * MP4 lists its frames in tables of runs ("the next n frames last m ticks"), and the reader of
 * containers writes such runs out one by one. A run of four thousand million fits in a small file
 * and takes all memory there is, so the tables are looked at before. They are found by their names
 * in everything that is not media data, not by walking the boxes: what the reader would find by
 * following a damaged size is then found here as well.
 */
export interface GuardOptions {
  readonly video: Uint8Array;
  readonly maxFrames: number;
}

export function hasEndlessTables({ video, maxFrames }: GuardOptions): boolean {
  return tablesOf(video).some(
    (tables) =>
      partsAt(tables, "trak").some((track) => isTrackEndless(track, maxFrames)) ||
      bareRunsIn(tables) > maxFrames,
  );
}

/**
 * The file without the index that fragmented files carry at their end. The index points to any
 * place in the file, media data included, and only jumping about needs it.
 */
export function withoutFragmentIndex(video: Uint8Array): Uint8Array {
  let rest = toBuffer(video);
  while (rest.length >= 16) {
    const start = rest.length - rest.readUInt32BE(rest.length - 4);
    if (start < 0 || rest.toString("latin1", start + 4, start + 8) !== "mfra") break;
    rest = rest.subarray(0, start);
  }
  return rest;
}

/** The stretches between the media data. */
function tablesOf(video: Uint8Array): readonly Buffer[] {
  const file = toBuffer(video);
  const stretches: Buffer[] = [];
  let start = 0;
  let at = 0;
  while (at + 16 <= file.length) {
    const short = file.readUInt32BE(at);
    const size = short === 1 ? Number(file.readBigUInt64BE(at + 8)) : short;
    // The reader stops at such a box too; what follows is looked through all the same.
    if (size < 8) break;
    if (file.toString("latin1", at + 4, at + 8) === "mdat") {
      stretches.push(file.subarray(start, at));
      start = at + size;
    }
    at += size;
  }
  stretches.push(file.subarray(start));
  return stretches;
}

/** To find one frame, the reader adds up the sizes of all frames of its chunk, claimed or real. */
const maxFramesPerChunk = 2 ** 18;

function isTrackEndless(track: Buffer, maxFrames: number): boolean {
  const chunked = partsAt(track, "stsc").slice(1);
  if (chunked.some((table) => largestChunk(table) > maxFramesPerChunk)) return true;
  const isCompact = partsAt(track, "stz2").slice(1);
  if (isCompact.some((table) => ![4, 8, 16].includes(table[11] ?? 0))) return true;
  const shifted = partsAt(track, "ctts").slice(1);
  // Without shifts the reader keeps the runs as they are.
  if (shifted.length === 0) return false;
  const timed = partsAt(track, "stts").slice(1);
  return [timed, shifted].some(
    (tables) => tables.reduce((sum, table) => sum + framesIn(table), 0) > maxFrames,
  );
}

function framesIn(table: Buffer): number {
  let sum = 0;
  const count = table.length < 12 ? 0 : table.readUInt32BE(8);
  for (let i = 0; i < count && 20 + i * 8 <= table.length; i++)
    sum += table.readUInt32BE(12 + i * 8);
  return sum;
}

/** Entries are a first chunk, the frames in each from there on, and a description. */
function largestChunk(table: Buffer): number {
  let largest = 0;
  const count = table.length < 12 ? 0 : table.readUInt32BE(8);
  for (let i = 0; i < count && 20 + i * 12 <= table.length; i++)
    largest = Math.max(largest, table.readUInt32BE(16 + i * 12));
  return largest;
}

/** Frames of fragments that have no entry of their own, and so cost the file nothing. */
function bareRunsIn(tables: Buffer): number {
  const ownFields = 0x0f00;
  return partsAt(tables, "trun")
    .slice(1)
    .filter((run) => run.length >= 12 && (run.readUInt32BE(4) & ownFields) === 0)
    .reduce((sum, run) => sum + run.readUInt32BE(8), 0);
}

/** Cut before each occurrence of the name; the first part is what comes before any. */
function partsAt(bytes: Buffer, name: string): readonly Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + name.length)) {
    parts.push(bytes.subarray(start, at));
    start = at;
  }
  parts.push(bytes.subarray(start));
  return parts;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
