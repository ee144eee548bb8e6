/** Kept at most half full, so that a search ends after a step or two. */
const firstSlots = 2_048;

/**
 * From the fingerprint of a text to the rows that may have it: open addressing in one typed array,
 * 16 bytes per row where a map of strings takes some 100. Different texts may share a fingerprint,
 * so the searcher compares the row itself. Nothing is ever removed.
 */
export class RowIndex {
  /** Pairs: the fingerprint, and the row + 1; 0 where there is none. */
  #slots = new Uint32Array(firstSlots * 2);
  #mask = firstSlots - 1;
  #size = 0;

  add(fingerprint: number, row: number): void {
    if (this.#size * 2 > this.#mask) this.#grow();
    this.#size++;
    this.#place(fingerprint, row + 1);
  }

  /** The first row of this fingerprint that `isWanted`. */
  find(fingerprint: number, isWanted: (row: number) => boolean): number | undefined {
    for (let slot = fingerprint & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const stored = this.#slots[slot * 2 + 1] ?? 0;
      if (stored === 0) return undefined;
      if (this.#slots[slot * 2] === fingerprint && isWanted(stored - 1)) return stored - 1;
    }
  }

  #place(fingerprint: number, stored: number): void {
    let slot = fingerprint & this.#mask;
    while (this.#slots[slot * 2 + 1] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot * 2] = fingerprint;
    this.#slots[slot * 2 + 1] = stored;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    this.#mask = before.length - 1;
    for (let at = 0; at < before.length; at += 2) {
      const stored = before[at + 1] ?? 0;
      if (stored !== 0) this.#place(before[at] ?? 0, stored);
    }
  }
}

const seed = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a. Nobody outside chooses what goes in: ids are ours, hashes of secrets are keyed. */
export function fingerprintOfText(text: string): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), prime);
  return spread(value);
}

/** The same for ASCII that is in memory as bytes. */
export function fingerprintOfBytes(bytes: Uint8Array, from: number, to: number): number {
  let value = seed;
  for (let at = from; at < to; at++) value = Math.imul(value ^ (bytes[at] ?? 0), prime);
  return spread(value);
}

/** The last characters would otherwise barely reach the lower bits. */
const spread = (value: number) => (value ^ (value >>> 15)) >>> 0;
