import type { Redaction } from "./redaction.ts";

/**
 * Makes a WebM safe to hand to the demuxer, in one linear pass; see redaction.ts for why.
 *
 * Elements that time the video frames keep their ids. All others get an id of the same width that the
 * demuxer skips: seek heads and cues above all, which it follows to wherever they point, and for each
 * of them again. Lacing (many frames in one block) is undone, because unpacking it is quadratic.
 * A cut file shows when an element reaches past the end of the file. Files of unknown size, as browsers
 * record them, can be cut between two blocks without a trace.
 */
const EBML = 0x1a45dfa3;
const DOC_TYPE = 0x4282;
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TRACK_ENTRY = 0xae;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const CHAPTERS = 0x1043a770;
const VOID = 0xec;

const MAX_ELEMENTS = 32_768;
const MAX_TRACKS = 8;

/** By their width in bytes, ids that mean nothing inside any element. */
const HIDDEN_IDS: readonly number[] = [0, VOID, 0x4ffe, 0x3ffffe, 0x1ffffffe];
const LACING_BITS = 0b0000_0110;

interface Walk {
  readonly view: DataView;
  elementsLeft: number;
  tracksLeft: number;
}

interface Element {
  readonly id: number;
  readonly idBytes: number;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
  readonly hasUnknownSize: boolean;
}

interface Plan {
  readonly children: ReadonlyMap<number, Plan>;
}

type Problem = string | undefined;

const LEAF: Plan = { children: new Map() };

const INFO: Plan = {
  children: new Map([
    [0x2ad7b1, LEAF], // TimestampScale
    [0x4489, LEAF], // Duration
  ]),
};

const VIDEO: Plan = {
  children: new Map([
    [0xb0, LEAF], // PixelWidth
    [0xba, LEAF], // PixelHeight
  ]),
};

const TRACK: Plan = {
  children: new Map([
    [0xd7, LEAF], // TrackNumber
    [0x83, LEAF], // TrackType
    [0x86, LEAF], // CodecID
    [0x23e383, LEAF], // DefaultDuration
    [0xe0, VIDEO],
  ]),
};

const BLOCK_GROUP: Plan = {
  children: new Map([
    [BLOCK, LEAF],
    [0x9b, LEAF], // BlockDuration
  ]),
};

const CLUSTER_PLAN: Plan = {
  children: new Map([
    [0xe7, LEAF], // Timestamp
    [SIMPLE_BLOCK, LEAF],
    [0xa0, BLOCK_GROUP],
  ]),
};

const SEGMENT_PLAN: Plan = {
  children: new Map([
    [0x1549a966, INFO],
    [0x1654ae6b, { children: new Map([[TRACK_ENTRY, TRACK]]) }],
    [CLUSTER, CLUSTER_PLAN],
  ]),
};

const HEADER_PLAN: Plan = {
  children: new Map(
    [0x4286, 0x42f7, 0x42f2, 0x42f3, DOC_TYPE, 0x4287, 0x4285].map((id) => [id, LEAF]),
  ),
};

/** What may stand next to a cluster, and so ends one of unknown size. */
const LEVEL_ONE: ReadonlySet<number> = new Set([
  ...SEGMENT_PLAN.children.keys(),
  CHAPTERS,
  0x114d9b74, // SeekHead
  0x1c53bb6b, // Cues
  0x1941a469, // Attachments
  0x1254c367, // Tags
]);

export function redactWebm(original: Uint8Array): Redaction {
  const bytes = new Uint8Array(original);
  const walk: Walk = {
    view: new DataView(bytes.buffer),
    elementsLeft: MAX_ELEMENTS,
    tracksLeft: MAX_TRACKS,
  };
  const problem = visitFile(walk);
  return problem === undefined ? { ok: true, bytes } : { ok: false, problem };
}

/** The DocType of an EBML file ("webm", "matroska"), or undefined when it has none. */
export function ebmlDocType(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readElement(view, { position: 0, end: view.byteLength });
  if (typeof header === "string" || header.id !== EBML) {
    return undefined;
  }
  let position = header.contentStart;
  while (position < header.end) {
    const element = readElement(view, { position, end: header.end });
    if (typeof element === "string") {
      return undefined;
    }
    if (element.id === DOC_TYPE) {
      const text = bytes.subarray(
        element.contentStart,
        Math.min(element.end, element.contentStart + 16),
      );
      return new TextDecoder("latin1").decode(text).replace(/\0+$/, "");
    }
    position = element.end;
  }
  return undefined;
}

function visitFile(walk: Walk): Problem {
  const end = walk.view.byteLength;
  const header = readElement(walk.view, { position: 0, end });
  if (typeof header === "string") {
    return header;
  }
  const problem = visitChildren(walk, { parent: header, plan: HEADER_PLAN });
  if (problem !== undefined) {
    return problem;
  }
  let position = header.end;
  while (position < end) {
    const element = readElement(walk.view, { position, end });
    if (typeof element === "string") {
      return element;
    }
    if (element.id === SEGMENT) {
      return visitSegment(walk, element);
    }
    if (element.id !== VOID) {
      return damaged("its segment does not follow its header");
    }
    position = element.end;
  }
  return "is truncated: it has no segment";
}

function visitSegment(walk: Walk, segment: Element): Problem {
  if (segment.end !== walk.view.byteLength) {
    return damaged("it goes on after its segment");
  }
  let position = segment.contentStart;
  while (position < segment.end) {
    const element = readElement(walk.view, { position, end: segment.end });
    if (typeof element === "string") {
      return element;
    }
    const end = visitSegmentChild(walk, element);
    if (typeof end === "string") {
      return end;
    }
    position = end;
  }
  return undefined;
}

/** Gives the end of the element, which one of unknown size shows only by what follows. */
function visitSegmentChild(walk: Walk, element: Element): number | string {
  if (element.id === CLUSTER && element.hasUnknownSize) {
    const end = endOfCluster(walk, element);
    if (typeof end === "string") {
      return end;
    }
    return visitChildren(walk, { parent: { ...element, end }, plan: CLUSTER_PLAN }) ?? end;
  }
  if (element.hasUnknownSize) {
    return damaged("an element that is no cluster has no size");
  }
  const plan = SEGMENT_PLAN.children.get(element.id);
  if (plan !== undefined) {
    return visitChildren(walk, { parent: element, plan }) ?? element.end;
  }
  if (element.idBytes === 4 && LEVEL_ONE.has(element.id)) {
    // The one neighbour of a cluster that the demuxer knows and passes over.
    walk.view.setUint32(element.start, CHAPTERS);
  } else if (element.idBytes === 1) {
    walk.view.setUint8(element.start, VOID);
  } else {
    // The demuxer would search the rest of the file byte by byte for something it knows.
    return damaged("its segment holds an unknown element");
  }
  return spend(walk) ?? element.end;
}

function endOfCluster(walk: Walk, cluster: Element): number | string {
  let position = cluster.contentStart;
  while (position < cluster.end) {
    const element = readElement(walk.view, { position, end: cluster.end });
    if (typeof element === "string") {
      return element;
    }
    if (LEVEL_ONE.has(element.id)) {
      return position;
    }
    if (element.hasUnknownSize) {
      return damaged("an element in a cluster has no size");
    }
    position = element.end;
  }
  return position;
}

function visitChildren(
  walk: Walk,
  inside: { readonly parent: Element; readonly plan: Plan },
): Problem {
  const { parent, plan } = inside;
  let position = parent.contentStart;
  while (position < parent.end) {
    const element = readElement(walk.view, { position, end: parent.end });
    if (typeof element === "string") {
      return element;
    }
    if (element.hasUnknownSize) {
      return damaged("an element that is no cluster has no size");
    }
    const problem =
      spend(walk) ?? visitChild(walk, { element, plan: plan.children.get(element.id) });
    if (problem !== undefined) {
      return problem;
    }
    position = element.end;
  }
  return undefined;
}

function visitChild(
  walk: Walk,
  visited: { readonly element: Element; readonly plan: Plan | undefined },
): Problem {
  const { element, plan } = visited;
  if (plan === undefined) {
    hide(walk, element);
    return undefined;
  }
  if (element.id === SIMPLE_BLOCK || element.id === BLOCK) {
    return undoLacing(walk, element);
  }
  if (element.id === TRACK_ENTRY) {
    walk.tracksLeft -= 1;
    if (walk.tracksLeft < 0) {
      return damaged(`it has more than ${MAX_TRACKS} tracks`);
    }
  }
  return plan === LEAF ? undefined : visitChildren(walk, { parent: element, plan });
}

/** A block is a track number, two bytes of time, a byte of flags, and the frame. */
function undoLacing(walk: Walk, block: Element): Problem {
  const track = readVariableInteger(walk.view, { position: block.contentStart, end: block.end });
  const flagsAt = block.contentStart + (track?.sizeBytes ?? 0) + 2;
  if (track === undefined || flagsAt >= block.end) {
    return damaged("one of its blocks is shorter than a block can be");
  }
  walk.view.setUint8(flagsAt, walk.view.getUint8(flagsAt) & ~LACING_BITS);
  return undefined;
}

function spend(walk: Walk): Problem {
  walk.elementsLeft -= 1;
  return walk.elementsLeft < 0 ? damaged(`it has more than ${MAX_ELEMENTS} elements`) : undefined;
}

function readElement(
  view: DataView,
  at: { readonly position: number; readonly end: number },
): Element | string {
  const { position: start, end: parentEnd } = at;
  const cut =
    parentEnd === view.byteLength
      ? "is truncated: one of its elements reaches past the end of the file"
      : damaged("one of its elements reaches past the element around it");
  const id = readVariableInteger(view, at);
  const size = id && readVariableInteger(view, { position: start + id.sizeBytes, end: parentEnd });
  if (id === undefined || size === undefined) {
    return cut;
  }
  if (id.sizeBytes > 4) {
    return damaged("one of its elements has no valid id");
  }
  const contentStart = start + id.sizeBytes + size.sizeBytes;
  const hasUnknownSize = isUnknownSize(size);
  const end = hasUnknownSize ? parentEnd : contentStart + size.value;
  if (end > parentEnd) {
    return cut;
  }
  const marked = id.value + 2 ** (7 * id.sizeBytes);
  return { id: marked, idBytes: id.sizeBytes, start, contentStart, end, hasUnknownSize };
}

/** All ones; the demuxer knows this in its shortest and in its longest form only. */
function isUnknownSize(size: VariableInteger): boolean {
  return (
    (size.sizeBytes === 1 || size.sizeBytes === 8) && size.value === 2 ** (7 * size.sizeBytes) - 1
  );
}

interface VariableInteger {
  readonly value: number;
  readonly sizeBytes: number;
}

/** The number of leading zero bits says how many bytes follow. Undefined when they are not there. */
function readVariableInteger(
  view: DataView,
  at: { readonly position: number; readonly end: number },
): VariableInteger | undefined {
  if (at.position >= at.end) {
    return undefined;
  }
  const first = view.getUint8(at.position);
  const sizeBytes = Math.clz32(first) - 23;
  if (sizeBytes > 8 || at.position + sizeBytes > at.end) {
    return undefined;
  }
  let value = first & (0xff >> sizeBytes);
  for (let index = 1; index < sizeBytes; index += 1) {
    value = value * 256 + view.getUint8(at.position + index);
  }
  return { value, sizeBytes };
}

function hide(walk: Walk, element: Element): void {
  let id = HIDDEN_IDS[element.idBytes] ?? VOID;
  for (let index = element.idBytes - 1; index >= 0; index -= 1) {
    walk.view.setUint8(element.start + index, id & 0xff);
    id >>>= 8;
  }
}

function damaged(reason: string): string {
  return `is a damaged WebM: ${reason}`;
}
