import type { Redaction } from "./redaction.ts";

/**
 * Makes an MP4 safe to hand to the demuxer, in one linear pass; see redaction.ts for why.
 *
 * Only the boxes that time the video frames keep their names; all others become `free`, which the
 * demuxer skips. The boxes that stay are checked to fit their parents and to list a bounded number of
 * samples. A cut file shows when a top-level box reaches past the end, or when there is no `moov`.
 */
const MAX_BOXES = 16_384;
/** Six seconds at 60 frames a second have 360. */
const MAX_FRAMES_IN_TABLE = 4_096;
/** The runs of a fragmented file list its audio, too. */
const MAX_SAMPLES_IN_RUNS = 16_384;
const MAX_VIDEO_TRACKS = 4;

/** The names `free` and `mfra` as numbers. */
const FREE = 0x66726565;
const FRAGMENT_INDEX = 0x6d667261;

interface Walk {
  readonly view: DataView;
  readonly fileEnd: number;
  boxesLeft: number;
  samplesLeft: number;
  videoTracksLeft: number;
}

interface Box {
  readonly name: string;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

type Problem = string | undefined;
type Visit = (walk: Walk, box: Box) => Problem;
type Plan = ReadonlyMap<string, Visit>;

const keep: Visit = () => undefined;
const descend =
  (plan: Plan): Visit =>
  (walk, box) =>
    visitBoxes(walk, { box, plan });

const SAMPLE_TABLE: Plan = new Map([
  ["stsd", visitSampleDescriptions],
  ["stts", table({ entryBytes: 8, samplesAt: 0, isTotal: true })],
  ["ctts", table({ entryBytes: 8, samplesAt: 0, isTotal: true })],
  ["stsc", table({ entryBytes: 12, samplesAt: 4, isTotal: false })],
  ["stsz", visitSampleSizes],
  ["stco", table({ entryBytes: 4 })],
  ["co64", table({ entryBytes: 8 })],
]);

const MEDIA: Plan = new Map([
  ["mdhd", keep],
  ["hdlr", keep],
  ["minf", descend(new Map([["stbl", descend(SAMPLE_TABLE)]]))],
]);

const FRAGMENT: Plan = new Map([
  ["tfhd", keep],
  ["tfdt", keep],
  ["trun", visitTrackRun],
]);

const FILE: Plan = new Map([
  ["ftyp", keep],
  ["mdat", keep],
  [
    "moov",
    descend(
      new Map([
        ["mvhd", keep],
        ["trak", visitTrack],
        ["mvex", descend(new Map([["trex", keep]]))],
      ]),
    ),
  ],
  ["moof", descend(new Map([["traf", descend(FRAGMENT)]]))],
]);

/** The demuxer adds up what duplicates of a table say, or believes the last; no writer makes any. */
const REPEATABLE: ReadonlySet<string> = new Set(["mdat", "trak", "trex", "moof", "traf", "trun"]);

export function redactMp4(original: Uint8Array): Redaction {
  const bytes = new Uint8Array(original);
  const walk: Walk = {
    view: new DataView(bytes.buffer),
    fileEnd: original.length,
    boxesLeft: MAX_BOXES,
    samplesLeft: MAX_SAMPLES_IN_RUNS,
    videoTracksLeft: MAX_VIDEO_TRACKS,
  };
  hideFragmentIndex(walk.view);
  const file: Box = { name: "file", start: 0, contentStart: 0, end: original.length };
  const problem = visitBoxes(walk, { box: file, plan: FILE }) ?? problemOfMissingMovie(walk, file);
  return problem === undefined ? { ok: true, bytes } : { ok: false, problem };
}

/**
 * The demuxer takes the last word of a fragmented file for the size of an index before it, be that in
 * the middle of a frame, and reads fragments wherever it says. Done before the walk, which so sees, and
 * checks, the bytes that the demuxer will see.
 */
function hideFragmentIndex(view: DataView): void {
  const indexNameAt =
    view.byteLength >= 16 ? view.byteLength - view.getUint32(view.byteLength - 4) + 4 : -1;
  if (
    indexNameAt >= 4 &&
    indexNameAt <= view.byteLength - 4 &&
    view.getUint32(indexNameAt) === FRAGMENT_INDEX
  ) {
    view.setUint32(indexNameAt, FREE);
  }
}

function problemOfMissingMovie(walk: Walk, file: Box): Problem {
  const movie = findBox(walk, { parent: file, name: "moov" });
  return movie === undefined ? "is truncated: it has no moov box" : undefined;
}

function visitBoxes(walk: Walk, inside: { readonly box: Box; readonly plan: Plan }): Problem {
  const { box: parent, plan } = inside;
  const seen = new Set<string>();
  let position = parent.contentStart;
  // QuickTime ends some lists with four zero bytes: only in the file itself is a short rest a cut.
  const shortestBytes = parent.contentStart === 0 ? 1 : 8;
  while (parent.end - position >= shortestBytes) {
    const box = readBox(walk, { position, parentEnd: parent.end });
    if (typeof box === "string") {
      return box;
    }
    walk.boxesLeft -= 1;
    if (walk.boxesLeft < 0) {
      return damaged(`it has more than ${MAX_BOXES} boxes`);
    }
    const visit = plan.get(box.name);
    if (visit === undefined) {
      hide(walk, box);
    } else if (seen.has(box.name) && !REPEATABLE.has(box.name)) {
      return damaged(`it has two ${box.name} boxes in one place`);
    }
    const problem = visit?.(walk, box);
    if (problem !== undefined) {
      return problem;
    }
    seen.add(box.name);
    position = box.end;
  }
  return undefined;
}

function readBox(
  walk: Walk,
  at: { readonly position: number; readonly parentEnd: number },
): Box | string {
  const { view } = walk;
  const { position, parentEnd } = at;
  if (position + 8 > parentEnd) {
    return "is truncated: its last box is cut off";
  }
  const name = nameAt(view, position + 4);
  let sizeBytes = view.getUint32(position);
  let headerBytes = 8;
  if (sizeBytes === 1) {
    headerBytes = 16;
    sizeBytes = position + 16 <= parentEnd ? Number(view.getBigUint64(position + 8)) : Infinity;
  } else if (sizeBytes === 0 && parentEnd === walk.fileEnd) {
    // "To the end of the file", which the demuxer does not know.
    sizeBytes = parentEnd - position;
    view.setUint32(position, sizeBytes);
  }
  if (sizeBytes < headerBytes) {
    return damaged("one of its boxes is smaller than a box can be");
  }
  if (position + sizeBytes > parentEnd) {
    return parentEnd === walk.fileEnd
      ? "is truncated: one of its boxes reaches past the end of the file"
      : damaged("one of its boxes reaches past the box around it");
  }
  return { name, start: position, contentStart: position + headerBytes, end: position + sizeBytes };
}

function findBox(
  walk: Walk,
  wanted: { readonly parent: Box; readonly name: string },
): Box | undefined {
  const { parent, name } = wanted;
  let position = parent.contentStart;
  while (parent.end - position >= 8) {
    const box = readBox(walk, { position, parentEnd: parent.end });
    if (typeof box === "string" || box.name === name) {
      return typeof box === "string" ? undefined : box;
    }
    position = box.end;
  }
  return undefined;
}

/** Only video tracks stay: uncompressed audio lists each of its 48 000 samples a second. */
function visitTrack(walk: Walk, track: Box): Problem {
  const media = findBox(walk, { parent: track, name: "mdia" });
  const handler = media && findBox(walk, { parent: media, name: "hdlr" });
  const isVideo =
    handler !== undefined &&
    handler.end - handler.contentStart >= 12 &&
    nameAt(walk.view, handler.contentStart + 8) === "vide";
  if (!isVideo) {
    hide(walk, track);
    return undefined;
  }
  walk.videoTracksLeft -= 1;
  if (walk.videoTracksLeft < 0) {
    return damaged(`it has more than ${MAX_VIDEO_TRACKS} video tracks`);
  }
  const plan: Plan = new Map([
    ["tkhd", keep],
    ["mdia", descend(MEDIA)],
  ]);
  return visitBoxes(walk, { box: track, plan });
}

/** Keeps the width and height of each sample description and hides the codec's boxes behind them. */
function visitSampleDescriptions(walk: Walk, box: Box): Problem {
  const fault = table({ entryBytes: 8 })(walk, box);
  if (fault !== undefined) {
    return fault;
  }
  const descriptions: Box = { ...box, contentStart: box.contentStart + 8 };
  let position = descriptions.contentStart;
  let descriptionsLeft = walk.view.getUint32(box.contentStart + 4);
  while (descriptions.end - position >= 8) {
    const description = readBox(walk, { position, parentEnd: descriptions.end });
    if (typeof description === "string") {
      return description;
    }
    const codec: Box = { ...description, contentStart: description.contentStart + 78 };
    const problem = visitBoxes(walk, { box: codec, plan: new Map() });
    if (problem !== undefined) {
      return problem;
    }
    position = description.end;
    descriptionsLeft -= 1;
  }
  // The demuxer would take what follows the table for the descriptions that are missing.
  return descriptionsLeft === 0 ? undefined : damaged("its stsd table is longer than its box");
}

/** A visit to a table of entries, some of which say how many samples they stand for. */
function table(shape: {
  readonly entryBytes: number;
  readonly samplesAt?: number;
  readonly isTotal?: boolean;
}): Visit {
  return (walk, box) => {
    const contentBytes = box.end - box.contentStart;
    const entries = contentBytes >= 8 ? walk.view.getUint32(box.contentStart + 4) : Infinity;
    if (8 + entries * shape.entryBytes > contentBytes) {
      return damaged(`its ${box.name} table is longer than its box`);
    }
    if (shape.samplesAt === undefined) {
      return undefined;
    }
    let samples = 0;
    for (let entry = 0; entry < entries; entry += 1) {
      const at = box.contentStart + 8 + entry * shape.entryBytes + shape.samplesAt;
      const inEntry = walk.view.getUint32(at);
      samples = shape.isTotal === true ? samples + inEntry : Math.max(samples, inEntry);
    }
    return samples > MAX_FRAMES_IN_TABLE ? tooManyFrames() : undefined;
  };
}

function visitSampleSizes(walk: Walk, box: Box): Problem {
  const contentBytes = box.end - box.contentStart;
  if (contentBytes < 12) {
    return damaged("its stsz table is longer than its box");
  }
  const hasOneSize = walk.view.getUint32(box.contentStart + 4) !== 0;
  const samples = walk.view.getUint32(box.contentStart + 8);
  if (samples > MAX_FRAMES_IN_TABLE) {
    return tooManyFrames();
  }
  const fits = hasOneSize || 12 + samples * 4 <= contentBytes;
  return fits ? undefined : damaged("its stsz table is longer than its box");
}

/** A run without fields of its own can claim four billion samples in sixteen bytes. */
function visitTrackRun(walk: Walk, box: Box): Problem {
  const samples = box.end - box.contentStart >= 8 ? walk.view.getUint32(box.contentStart + 4) : 0;
  walk.samplesLeft -= samples;
  return walk.samplesLeft < 0 ? tooManyFrames() : undefined;
}

function hide(walk: Walk, box: Box): void {
  walk.view.setUint32(box.start + 4, FREE);
}

function nameAt(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

function damaged(reason: string): string {
  return `is a damaged MP4: ${reason}`;
}

function tooManyFrames(): string {
  return damaged("it lists more frames than a short video can have");
}
