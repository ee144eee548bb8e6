import { UnreadableMedia, viewOf } from "./frames.ts";

/** Reads boxes of an MP4 and the fields in them. What does not fit its box, or its file, throws. */
const maxBoxes = 16_384;

export interface Box {
  readonly name: string;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

export class BoxReader {
  readonly #view: DataView;
  #boxesLeft = maxBoxes;

  constructor(bytes: Uint8Array) {
    this.#view = viewOf(bytes);
  }

  get fileEnd(): number {
    return this.#view.byteLength;
  }

  boxesIn(parent: Box): readonly Box[] {
    return this.boxesAt({ position: parent.contentStart, end: parent.end });
  }

  boxesAt({ position, end }: { readonly position: number; readonly end: number }): readonly Box[] {
    const boxes: Box[] = [];
    // QuickTime ends some lists with four zero bytes: only in the file itself is a short rest a cut.
    const shortestBytes = position === 0 ? 1 : 8;
    for (let at = position; end - at >= shortestBytes; ) {
      const box = this.#boxAt(at, end);
      this.#count();
      boxes.push(box);
      at = box.end;
    }
    return boxes;
  }

  /** As decoders read that accept everything: a box without a valid size goes on to the end. */
  looseBoxesAt({
    position,
    end,
  }: {
    readonly position: number;
    readonly end: number;
  }): readonly Box[] {
    const boxes: Box[] = [];
    for (let start = position; start + 8 <= end; ) {
      this.#count();
      let sizeBytes = this.#view.getUint32(start);
      const headerBytes = sizeBytes === 1 && start + 16 <= end ? 16 : 8;
      if (headerBytes === 16) sizeBytes = Number(this.#view.getBigUint64(start + 8));
      const next = sizeBytes === 0 ? end : Math.min(start + sizeBytes, end);
      if (next < start + headerBytes) break;
      const name = latin1(this.#view, start + 4);
      boxes.push({ name, start, contentStart: start + headerBytes, end: next });
      start = next;
    }
    return boxes;
  }

  #count(): void {
    this.#boxesLeft -= 1;
    if (this.#boxesLeft < 0) throw damaged(`it has more than ${maxBoxes} boxes`);
  }

  #boxAt(start: number, parentEnd: number): Box {
    const fileEnd = this.#view.byteLength;
    if (start + 8 > parentEnd) throw new UnreadableMedia("is truncated: its last box is cut off");
    let sizeBytes = this.#view.getUint32(start);
    const isLong = sizeBytes === 1;
    const headerBytes = isLong ? 16 : 8;
    if (isLong)
      sizeBytes = start + 16 <= parentEnd ? Number(this.#view.getBigUint64(start + 8)) : Infinity;
    // "To the end of the file".
    if (sizeBytes === 0 && parentEnd === fileEnd) sizeBytes = parentEnd - start;
    if (sizeBytes < headerBytes) throw damaged("one of its boxes is too small");
    if (start + sizeBytes > parentEnd) {
      throw parentEnd === fileEnd
        ? new UnreadableMedia("is truncated: one of its boxes extends past the end of the file")
        : damaged("one of its boxes extends past its parent box");
    }
    const name = latin1(this.#view, start + 4);
    return { name, start, contentStart: start + headerBytes, end: start + sizeBytes };
  }

  /** The number of entries of a table, once they are known to fit. */
  countOf(box: Box, { entryBytes }: { readonly entryBytes: number }): number {
    const contentBytes = box.end - box.contentStart;
    const entries = contentBytes >= 8 ? this.uint32(box, 4) : Infinity;
    if (8 + entries * entryBytes > contentBytes) throw longerThanBox(box);
    return entries;
  }

  /** Version 1 of a box has times of 64 bits, or signed shifts. */
  isVersion1(box: Box): boolean {
    return this.uint32(box, 0) >>> 24 !== 0;
  }

  nameAt(box: Box, offset: number): string {
    return latin1(this.#view, this.#place(box, { offset, sizeBytes: 4 }));
  }

  uint8(box: Box, offset: number): number {
    return this.#view.getUint8(this.#place(box, { offset, sizeBytes: 1 }));
  }

  uint32(box: Box, offset: number): number {
    return this.#view.getUint32(this.#place(box, { offset, sizeBytes: 4 }));
  }

  int32(box: Box, offset: number): number {
    return this.#view.getInt32(this.#place(box, { offset, sizeBytes: 4 }));
  }

  uint64(box: Box, offset: number): number {
    return Number(this.#view.getBigUint64(this.#place(box, { offset, sizeBytes: 8 })));
  }

  #place(box: Box, field: { readonly offset: number; readonly sizeBytes: number }): number {
    const at = box.contentStart + field.offset;
    if (at + field.sizeBytes > box.end) throw longerThanBox(box);
    return at;
  }
}

export function all(boxes: readonly Box[], name: string): readonly Box[] {
  return boxes.filter((box) => box.name === name);
}

/** Readers add up what two tables of a kind say, or believe one of them; no writer makes any. */
export function only(boxes: readonly Box[], name: string): Box | undefined {
  const [box, second] = all(boxes, name);
  if (second !== undefined) throw damaged(`it has a duplicate ${name} box`);
  return box;
}

export function required(boxes: readonly Box[], name: string): Box {
  const box = only(boxes, name);
  if (box === undefined) throw damaged(`it has no ${name} box`);
  return box;
}

function latin1(view: DataView, at: number): string {
  return String.fromCharCode(
    view.getUint8(at),
    view.getUint8(at + 1),
    view.getUint8(at + 2),
    view.getUint8(at + 3),
  );
}

export function longerThanBox({ name }: Box): UnreadableMedia {
  return damaged(`its ${name} table is longer than its box`);
}

export function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged MP4: ${reason}`);
}
