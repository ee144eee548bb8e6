import { fingerprintOfBytes, fingerprintOfText, RowIndex } from "./row-index.ts";

const quote = 0x22;
const lineEnd = 0x0a;
const firstRows = 1_024;
/** A position is the number of the page times this, and where in the page the line begins. */
const pageSpan = 2 ** 32;

/** What a record is found by. */
interface Hashed {
  readonly id: string;
  readonly hash: string;
  readonly previous?: { readonly hash: string };
}

/**
 * All live keys as the store sent them: pages of lines of JSON, with an index by the hashes of
 * their secrets and one by their ids. A record is created when its key is looked up. A key takes
 * about 0.3 kB here, 1.3 kB as a record in maps, and a million are loaded in a second or two.
 */
export class PackedKeys<T extends Hashed> {
  readonly #fromLine: (line: string) => T;
  readonly #pages: Buffer[] = [];
  #positions = new Float64Array(firstRows);
  #rows = 0;
  readonly #byHash = new RowIndex();
  readonly #byId = new RowIndex();
  /** Rows whose key has changed since. */
  readonly #gone = new Set<number>();

  constructor(fromLine: (line: string) => T) {
    this.#fromLine = fromLine;
  }

  /** Each line begins with the hash, the id and the previous hash or null; nothing escaped. */
  add(lines: Uint8Array): void {
    const page = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
    const pageStart = this.#pages.length * pageSpan;
    this.#pages.push(page);
    for (let start = 0; start < page.length; start = endOfLine(page, start) + 1) {
      const row = this.#addRow(pageStart + start);
      // ["hash","id","previous hash", or null.
      const hashEnd = page.indexOf(quote, start + 2);
      this.#byHash.add(fingerprintOfBytes(page, start + 2, hashEnd), row);
      const idEnd = page.indexOf(quote, hashEnd + 3);
      this.#byId.add(fingerprintOfBytes(page, hashEnd + 3, idEnd), row);
      const previous = idEnd + 2;
      if (page[previous] !== quote) continue;
      const previousEnd = page.indexOf(quote, previous + 1);
      this.#byHash.add(fingerprintOfBytes(page, previous + 1, previousEnd), row);
    }
  }

  /** The key that one of its secrets has this hash of. */
  find(hash: string): T | undefined {
    let found: T | undefined;
    this.#byHash.find(fingerprintOfText(hash), (row) => {
      if (this.#gone.has(row)) return false;
      const record = this.#read(row);
      if (record.hash !== hash && record.previous?.hash !== hash) return false;
      found = record;
      return true;
    });
    return found;
  }

  has(id: string): boolean {
    return this.#rowOf(id) !== undefined;
  }

  /** Takes a key out, because it has changed; undefined when there is none. */
  take(id: string): T | undefined {
    const row = this.#rowOf(id);
    if (row === undefined) return undefined;
    this.#gone.add(row);
    return this.#read(row);
  }

  #rowOf(id: string): number | undefined {
    return this.#byId.find(
      fingerprintOfText(id),
      (row) => !this.#gone.has(row) && this.#read(row).id === id,
    );
  }

  #addRow(position: number): number {
    if (this.#rows === this.#positions.length) {
      const grown = new Float64Array(this.#rows * 2);
      grown.set(this.#positions);
      this.#positions = grown;
    }
    this.#positions[this.#rows] = position;
    return this.#rows++;
  }

  #read(row: number): T {
    const position = this.#positions[row] ?? 0;
    const page = this.#pages[Math.floor(position / pageSpan)];
    if (page === undefined) throw new Error(`row ${row} has no key`);
    const start = position % pageSpan;
    return this.#fromLine(page.toString("utf8", start, endOfLine(page, start)));
  }
}

function endOfLine(page: Buffer, start: number): number {
  const end = page.indexOf(lineEnd, start);
  return end < 0 ? page.length : end;
}
