import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createOwned } from "../../base/owned-file.ts";
import type { LedgerMark } from "../sql/lost-tail.ts";

const layout = /^svc mark 1 (\S*) +(\d+) *\n/;
/** Always the same, so that writing it needs no room on a full disk. */
const sizeBytes = 96;

const pathOf = (databasePath: string) => `${databasePath}-mark`;

/** Undefined where there is none, or none that can be read. */
export function readMark(databasePath: string): LedgerMark | undefined {
  let text: string;
  try {
    text = readFileSync(pathOf(databasePath), "latin1");
  } catch {
    return undefined;
  }
  const [, receiptId = "", sequence = ""] = layout.exec(text) ?? [];
  return sequence === "" ? undefined : { receiptId, sequence: Number(sequence) };
}

/** Of a database that was just restored: all of it is on the disk. */
export function createMark(databasePath: string, mark: LedgerMark): void {
  const file = new MarkFile(databasePath, { receiptId: "", sequence: 0 });
  file.committed(mark.receiptId);
  file.changed(mark.sequence);
  file.begin();
  file.confirmed();
  file.close();
}

/**
 * Shows that a tail of the log is lost, which the database itself cannot: a log that ends early is
 * a log that ended there. It is written after a sync and tells what that sync covered, so it is
 * never ahead of the disk; it is not synced itself, so it may be behind, which hides a loss and
 * never makes one up.
 */
export class MarkFile {
  readonly #path: string;
  readonly #bytes = Buffer.alloc(sizeBytes, " ");
  #fd: number | undefined;
  #receiptId: string;
  #sequence: number;
  #covered = { receiptId: "", sequence: 0 };
  #isDirty = false;

  constructor(databasePath: string, known: LedgerMark) {
    this.#path = pathOf(databasePath);
    this.#receiptId = known.receiptId;
    this.#sequence = known.sequence;
  }

  /** Its transaction stands. */
  committed(receiptId: string): void {
    this.#receiptId = receiptId;
    this.#isDirty = true;
  }

  /** Its transaction stands. */
  changed(sequence: number): void {
    if (sequence === this.#sequence) return;
    this.#sequence = sequence;
    this.#isDirty = true;
  }

  /** A sync begins: it covers what stands by now. */
  begin(): void {
    this.#covered.receiptId = this.#receiptId;
    this.#covered.sequence = this.#sequence;
  }

  /** The sync that began last is done. */
  confirmed(): void {
    if (!this.#isDirty) return;
    const { receiptId, sequence } = this.#covered;
    this.#isDirty = receiptId !== this.#receiptId || sequence !== this.#sequence;
    const text = `svc mark 1 ${receiptId} ${sequence}`;
    this.#bytes.fill(" ").write(`${text.padEnd(sizeBytes - 1)}\n`, "latin1");
    try {
      this.#fd ??= openMark(this.#path);
      writeSync(this.#fd, this.#bytes, 0, sizeBytes, 0);
    } catch {
      // It stays behind, which is safe; that the disk fails shows where money is written.
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function openMark(path: string): number {
  const isNew = openExclusive(path);
  return isNew ?? openSync(path, "r+");
}

function openExclusive(path: string): number | undefined {
  try {
    return createOwned(path, "wx+");
  } catch {
    return undefined;
  }
}
