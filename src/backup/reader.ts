import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { Problem } from "../base/problem.ts";
import { type BackupAbout, readAbout } from "./about.ts";
import {
  type BackupHeader,
  cutShort,
  damaged,
  fixedBytes,
  fromJson,
  readFixed,
  readHeader,
} from "./header.ts";
import { type FrameKind, frameKinds, keyOf, type Protection, protectionOf } from "./protection.ts";
import { chunkBytes } from "./writer.ts";

/** Random bytes get a little longer when they are compressed. */
const maxFrameBytes = chunkBytes + 64 * 1024;

export interface BackupInput {
  /** What messages call it. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Asked only for an encrypted backup. */
  readonly passphrase: () => Promise<string>;
}

export interface OpenBackup {
  readonly header: BackupHeader;
  readonly about: BackupAbout;
  /** The master secret, if the backup has it. */
  readonly secret: string | undefined;
  /** Of the end of the file, once the database was read whole. */
  readonly end: { sha256: string; mark: string | undefined };
  /** The bytes of the database. Ends without an error only at the end of a whole backup. */
  database(): AsyncGenerator<Uint8Array>;
}

/**
 * Reads a backup in one pass. Nothing of a frame is used before it was checked, and memory holds one
 * frame at a time, whatever lengths the file claims.
 */
export async function openBackup({ name, bytes, passphrase }: BackupInput): Promise<OpenBackup> {
  const source = new ByteSource(bytes, name);
  const fixed = await source.take(fixedBytes, "header");
  const rest = await source.take(readFixed(fixed, name));
  const header = readHeader(fixed, rest, name);
  const key = await keyFor(header, name, passphrase);
  const frames = new Frames(source, name, protectionOf(Buffer.concat([fixed, rest]), key));
  const first = await frames.next();
  if (first.kind !== "about") throw damaged(name, "its parts are in the wrong order");
  const about = readAbout(first.plain, name);
  const second = about.hasSecret ? await frames.next() : undefined;
  if (second !== undefined && (second.kind !== "secret" || key === undefined))
    throw damaged(name, "its parts are in the wrong order");
  const end: OpenBackup["end"] = { sha256: "", mark: undefined };
  return {
    header,
    about,
    secret: second?.plain.toString(),
    end,
    database: () => databaseOf(frames, { about, end }, name),
  };
}

async function keyFor(
  { scrypt }: BackupHeader,
  name: string,
  passphrase: () => Promise<string>,
): Promise<Uint8Array | undefined> {
  if (scrypt === undefined) return undefined;
  const key = await keyOf(await passphrase(), scrypt);
  if (key !== undefined) return key;
  throw new Problem({
    code: "failed",
    message: `The passphrase is wrong for ${name}. Nothing was changed.`,
  });
}

async function* databaseOf(
  frames: Frames,
  { about, end }: Pick<OpenBackup, "about" | "end">,
  name: string,
): AsyncGenerator<Uint8Array> {
  const content = createHash("sha256");
  let doneBytes = 0;
  for (;;) {
    const { kind, plain } = await frames.next();
    if (kind === "end") {
      const { sha256, bytes, mark } = fromJson(plain, name);
      end.sha256 = content.digest("hex");
      end.mark = typeof mark === "string" ? mark : undefined;
      if (sha256 !== end.sha256 || bytes !== doneBytes)
        throw damaged(name, "its checksum is wrong");
      if (doneBytes !== about.databaseBytes) throw damaged(name, "its database is incomplete");
      return await frames.expectEnd();
    }
    if (kind !== "data") throw damaged(name, "its parts are in the wrong order");
    const piece = decompressed(plain, name);
    content.update(piece);
    doneBytes += piece.length;
    if (doneBytes > about.databaseBytes)
      throw damaged(name, "it has more data than its description says");
    yield piece;
  }
}

/** At most one chunk, whatever the compressed bytes claim. */
function decompressed(bytes: Uint8Array, name: string): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: chunkBytes });
  } catch {
    throw damaged(name, "a part of it cannot be decompressed");
  }
}

class Frames {
  readonly #source: ByteSource;
  readonly #name: string;
  readonly #protection: Protection;
  #at = 0;

  constructor(source: ByteSource, name: string, protection: Protection) {
    this.#source = source;
    this.#name = name;
    this.#protection = protection;
  }

  async next(): Promise<{ readonly kind: FrameKind; readonly plain: Buffer }> {
    const head = await this.#source.take(5);
    const kind = kindOf(head[0]);
    const size = head.readUInt32BE(1);
    if (kind === undefined || size > maxFrameBytes)
      throw damaged(
        this.#name,
        `what is at byte ${this.#source.doneBytes - 5} is not a part of it`,
      );
    const sealed = await this.#source.take(size);
    const plain = this.#protection.open(sealed, { kind, at: this.#at++ });
    if (plain === undefined)
      throw damaged(this.#name, `the part before byte ${this.#source.doneBytes} was changed`);
    return { kind, plain };
  }

  async expectEnd(): Promise<void> {
    if (!(await this.#source.isOver())) throw damaged(this.#name, "bytes follow its end");
  }
}

function kindOf(byte: number | undefined): FrameKind | undefined {
  for (const kind of Object.keys(frameKinds) as FrameKind[])
    if (frameKinds[kind] === byte) return kind;
  return undefined;
}

/** Reads exact numbers of bytes from a stream, and buffers no more than one piece of it. */
class ByteSource {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #name: string;
  #rest: Uint8Array = new Uint8Array();
  doneBytes = 0;

  constructor(bytes: AsyncIterable<Uint8Array>, name: string) {
    this.#pieces = bytes[Symbol.asyncIterator]();
    this.#name = name;
  }

  async take(count: number, part?: "header"): Promise<Buffer> {
    const taken = Buffer.alloc(count);
    let filled = 0;
    while (filled < count) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        this.doneBytes += filled;
        // Nothing that begins like a backup can be told from another file.
        if (part === "header" && filled === 0) throw empty(this.#name);
        throw cutShort(this.#name, this.doneBytes);
      }
      const used = this.#rest.subarray(0, count - filled);
      taken.set(used, filled);
      filled += used.length;
      this.#rest = this.#rest.subarray(used.length);
    }
    this.doneBytes += count;
    return taken;
  }

  async isOver(): Promise<boolean> {
    return this.#rest.length === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    for (;;) {
      const { value, done } = await this.#pieces.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#rest = value;
      return true;
    }
  }
}

const empty = (name: string) =>
  new Problem({
    code: "invalid",
    message: `${name} is empty. Use another copy or another backup.`,
  });
