import { UnreadableMedia, viewOf } from "./frames.ts";

/** Reads elements of an EBML file, which WebM and Matroska are. What does not fit its parent throws. */
export const ids = {
  header: 0x1a45dfa3,
  docType: 0x4282,
  void: 0xec,
  crc32: 0xbf,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  defaultDuration: 0x23e383,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
  seekHead: 0x114d9b74,
  cues: 0x1c53bb6b,
  attachments: 0x1941a469,
  tags: 0x1254c367,
  chapters: 0x1043a770,
  position: 0xa7,
  previousSize: 0xab,
  silentTracks: 0x5854,
  referenceBlock: 0xfb,
  referencePriority: 0xfa,
  discardPadding: 0x75a2,
  blockAdditions: 0x75a1,
  codecState: 0xa4,
} as const;

/** What may stand next to a cluster, and so ends one of unknown size. */
export const topLevelIds: ReadonlySet<number> = new Set([
  ids.info,
  ids.tracks,
  ids.cluster,
  ids.seekHead,
  ids.cues,
  ids.attachments,
  ids.tags,
  ids.chapters,
]);

export interface Element {
  readonly id: number;
  readonly idBytes: number;
  readonly contentStart: number;
  readonly end: number;
  readonly hasUnknownSize: boolean;
}

export interface Range {
  readonly position: number;
  readonly end: number;
}

/** Real ones have seven. */
const maxHeaderFields = 64;

/** The DocType of an EBML file ("webm", "matroska"), or undefined when it has none. */
export function ebmlDocType(bytes: Uint8Array): string | undefined {
  const view = viewOf(bytes);
  try {
    const header = readElement(view, { position: 0, end: view.byteLength });
    if (header.id !== ids.header) return undefined;
    let position = header.contentStart;
    for (let fields = 0; position < header.end && fields < maxHeaderFields; fields++) {
      const element = readElement(view, { position, end: header.end });
      if (element.id === ids.docType) {
        const text = bytes.subarray(element.contentStart, element.end).subarray(0, 16);
        return new TextDecoder("latin1").decode(text).replace(/\0+$/, "");
      }
      position = element.end;
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableMedia) return undefined;
    throw error;
  }
}

export function sizedEnd(element: Element): number {
  if (element.hasUnknownSize) throw damaged("an element other than a cluster has no size");
  return element.end;
}

export function readElement(view: DataView, { position: start, end: parentEnd }: Range): Element {
  const isInFile = parentEnd === view.byteLength;
  const id = readVariableInteger(view, { position: start, end: parentEnd });
  const size = id && readVariableInteger(view, { position: start + id.sizeBytes, end: parentEnd });
  if (id === undefined || size === undefined) throw cut(isInFile);
  if (id.sizeBytes > 4) throw damaged("one of its elements has an invalid id");
  const contentStart = start + id.sizeBytes + size.sizeBytes;
  const hasUnknownSize = size.value === 2 ** (7 * size.sizeBytes) - 1;
  const end = hasUnknownSize ? parentEnd : contentStart + size.value;
  if (end > parentEnd) throw cut(isInFile);
  const marked = id.value + 2 ** (7 * id.sizeBytes);
  return { id: marked, idBytes: id.sizeBytes, contentStart, end, hasUnknownSize };
}

function cut(isInFile: boolean): UnreadableMedia {
  return isInFile
    ? new UnreadableMedia("is truncated: one of its elements extends past the end of the file")
    : damaged("one of its elements extends past its parent element");
}

interface VariableInteger {
  readonly value: number;
  readonly sizeBytes: number;
}

/** The number of leading zero bits says how many bytes follow. Undefined when they are not there. */
export function readVariableInteger(
  view: DataView,
  { position, end }: Range,
): VariableInteger | undefined {
  if (position >= end) return undefined;
  const first = view.getUint8(position);
  const sizeBytes = Math.clz32(first) - 23;
  if (sizeBytes > 8 || position + sizeBytes > end) return undefined;
  let value = first & (0xff >> sizeBytes);
  for (let index = 1; index < sizeBytes; index += 1)
    value = value * 256 + view.getUint8(position + index);
  return { value, sizeBytes };
}

export function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged WebM: ${reason}`);
}
