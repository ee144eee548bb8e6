import { type Box, BoxReader, damaged } from "../mp4-boxes.ts";

/**
 * Where the boxes that list audio may stand. Decoders look for them in more places than we read: in
 * the boxes for tags, for edits, for references, and even in free space. A file that hides tables
 * there is heard in full by some and hardly at all by others, so it is refused.
 */
const places: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["moov", [""]],
  ["moof", [""]],
  ["mvhd", ["moov"]],
  ["trak", ["moov"]],
  ["mvex", ["moov"]],
  ["trex", ["mvex"]],
  ["tkhd", ["trak"]],
  ["mdia", ["trak"]],
  ["mdhd", ["mdia"]],
  ["minf", ["mdia"]],
  ["stbl", ["minf"]],
  ...["stsd", "stsz", "stz2", "stts", "stsc", "stco", "co64"].map(
    (name) => [name, ["stbl"]] as const,
  ),
  ["traf", ["moof"]],
  ["tfhd", ["traf"]],
  ["trun", ["traf"]],
  ["esds", ["mp4a"]],
  // A movie that is compressed.
  ["cmov", []],
]);

/** What some decoder looks into. */
const containers: ReadonlySet<string> = new Set(
  (
    "moov trak mdia minf stbl mvex moof traf mp4a " +
    "udta meta ilst edts dinf tref gmhd wave iprp ipco sinf schi rinf free skip hoov"
  ).split(" "),
);

/** The boxes of a file, or those in `parent`, at any depth. */
export function checkPlaces(
  bytes: Uint8Array,
  from: { readonly parent: string; readonly position: number; readonly end: number },
): void {
  // Its own, since it counts what is read.
  const boxes = new BoxReader(bytes);
  const open = [from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { parent } = next;
    for (const box of boxes.looseBoxesAt(next)) {
      const { name, end } = box;
      if (places.get(name)?.includes(parent) === false)
        throw damaged(`its ${name} box is in an unusual place`);
      if (name === "elst") checkEdits(boxes, box);
      if (name === "hdlr" && parent !== "mdia" && isSound(boxes, box))
        throw damaged("it has sound in an unusual place");
      if (!containers.has(name)) continue;
      open.push({ parent: name, position: box.contentStart, end });
      // Four bytes of version come first, but not in QuickTime.
      if (name === "meta") open.push({ parent: name, position: box.contentStart + 4, end });
    }
  }
}

/**
 * A decoder plays the same part of a track again for each edit that names it. Writers need one edit,
 * and in front of it one that is empty.
 */
function checkEdits(boxes: BoxReader, box: Box): void {
  const hasLongTimes = boxes.uint32(box, 0) >>> 24 === 1;
  const edits = Math.floor((box.end - box.contentStart - 8) / (hasLongTimes ? 20 : 12));
  const isEmpty = () => boxes.uint32(box, hasLongTimes ? 16 : 12) === 0xffff_ffff;
  if (edits > 2 || (edits === 2 && !isEmpty())) throw damaged("it plays parts of its sound twice");
}

function isSound(boxes: BoxReader, handler: Box): boolean {
  return handler.end - handler.contentStart >= 12 && boxes.nameAt(handler, 8) === "soun";
}
