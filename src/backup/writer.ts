import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import type { BackupAbout } from "./about.ts";
import { type BackupHeader, encodeHeader } from "./header.ts";
import { type FrameKind, frameKinds, type NewKey, protectionOf } from "./protection.ts";

/** Of the database, before it is compressed. */
export const chunkBytes = 1024 * 1024;

export interface BackupContent {
  readonly header: Omit<BackupHeader, "scrypt">;
  readonly about: BackupAbout;
  /** Only where the backup is encrypted. */
  readonly secret?: string | undefined;
  /** The mark of the writer for the checksum of the database; undefined without the secret. */
  readonly markOf?: ((sha256: string) => string | undefined) | undefined;
  /** The bytes of the database, in pieces of at most `chunkBytes`. */
  readonly database: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface BackupOutput {
  /** Resolves when more can be written. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Of the passphrase; absent: the backup is not encrypted. */
  readonly key?: NewKey | undefined;
  /** Bytes of the database that were written. */
  readonly onProgress?: (doneBytes: number) => void;
}

export interface WrittenBackup {
  readonly bytes: number;
  /** Of the whole file, as sha256sum prints it. */
  readonly sha256: string;
}

/** Writes a backup in one pass. The format is described in README.md. */
export async function writeBackup(
  { header, about, secret, markOf, database }: BackupContent,
  { write, key, onProgress = () => {} }: BackupOutput,
): Promise<WrittenBackup> {
  const file = createHash("sha256");
  let bytes = 0;
  const put = async (part: Uint8Array) => {
    file.update(part);
    bytes += part.length;
    await write(part);
  };
  const encoded = encodeHeader({
    ...header,
    ...(key === undefined ? {} : { scrypt: key.derivation }),
  });
  await put(encoded);
  const protection = protectionOf(encoded, key?.key);
  let frames = 0;
  const putFrame = async (kind: FrameKind, plain: Uint8Array) => {
    const sealed = protection.seal(plain, { kind, at: frames++ });
    const head = Buffer.alloc(5);
    head[0] = frameKinds[kind];
    head.writeUInt32BE(sealed.length, 1);
    await put(Buffer.concat([head, sealed]));
  };
  await putFrame("about", Buffer.from(JSON.stringify(about)));
  if (secret !== undefined) {
    if (key === undefined) throw new Error("a secret is never written unencrypted");
    await putFrame("secret", Buffer.from(secret));
  }
  const content = createHash("sha256");
  let doneBytes = 0;
  for await (const piece of database) {
    content.update(piece);
    doneBytes += piece.length;
    await putFrame("data", zstdCompressSync(piece));
    onProgress(doneBytes);
  }
  const digest = content.digest("hex");
  const end = { sha256: digest, bytes: doneBytes, mark: markOf?.(digest) };
  await putFrame("end", Buffer.from(JSON.stringify(end)));
  return { bytes, sha256: file.digest("hex") };
}
