import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { fileBytes } from "./layout.ts";
import { WeightsProblem } from "./problem.ts";
import type { WeightFile, WeightSet } from "./sets.ts";

export interface Unpack {
  readonly set: WeightSet;
  /** Where each package's tarball lies. */
  readonly tarballs: ReadonlyMap<string, string>;
  readonly dir: string;
  readonly signal: AbortSignal;
}

/** Writes the files of a set out of its tarballs and checks each one's hash. */
export async function unpack({ set, tarballs, dir, signal }: Unpack): Promise<void> {
  for (const { path } of set.files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), "");
  }
  for (const { name } of set.packages) {
    const tarball = tarballs.get(name);
    if (tarball === undefined) throw new Error(`tarball of ${name} is missing`);
    await unpackOne({ wanted: wantedOf(set, name), tarball, dir, signal, name });
  }
  for (const file of set.files) await checkFile({ file, dir, signal });
}

interface Wanted {
  readonly path: string;
  /** Where in the file this part belongs: a tarball may hold its parts in any order. */
  readonly offset: number;
  readonly bytes: number;
}

function wantedOf({ files }: WeightSet, packageName: string): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { path, parts } of files) {
    let offset = 0;
    for (const part of parts) {
      if (part.package === packageName) wanted.set(part.path, { path, offset, bytes: part.bytes });
      offset += part.bytes;
    }
  }
  return wanted;
}

interface UnpackOne {
  readonly name: string;
  readonly wanted: Map<string, Wanted>;
  readonly tarball: string;
  readonly dir: string;
  readonly signal: AbortSignal;
}

async function unpackOne({ name, wanted, tarball, dir, signal }: UnpackOne): Promise<void> {
  const packed = createReadStream(tarball, { signal, highWaterMark: 1 << 20 });
  const unzipped = createGunzip({ chunkSize: 1 << 20 });
  const entries = extract();
  const fail = (error: Error) => entries.destroy(error);
  packed.on("error", fail).pipe(unzipped).on("error", fail);
  unzipped.on("data", (chunk: Uint8Array) => {
    if (entries.write(chunk)) return;
    unzipped.pause();
    entries.once("drain", () => unzipped.resume());
  });
  unzipped.on("end", () => entries.end(undefined));
  try {
    for await (const entry of entries) {
      const target = wanted.get(entry.header.name);
      wanted.delete(entry.header.name);
      if (target === undefined) await drain(entry);
      else if (entry.header.size === target.bytes) await writePart({ entry, target, dir });
      else throw notAsPinned(name, entry.header.name, `has ${entry.header.size} bytes`);
    }
  } finally {
    packed.destroy();
    unzipped.destroy();
  }
  const [missing] = wanted.keys();
  if (missing !== undefined) throw notAsPinned(name, missing, "is missing");
}

/** The next entry comes only when this one is read. */
async function drain(entry: AsyncIterable<unknown>): Promise<void> {
  const chunks = entry[Symbol.asyncIterator]();
  let isOver = false;
  while (!isOver) isOver = (await chunks.next()).done === true;
}

interface WritePart {
  readonly entry: AsyncIterable<unknown>;
  readonly target: Wanted;
  readonly dir: string;
}

async function writePart({ entry, target, dir }: WritePart): Promise<void> {
  // Not "w": another part of the same file may be there already.
  const descriptor = openSync(join(dir, target.path), "r+");
  let position = target.offset;
  try {
    for await (const chunk of entry as AsyncIterable<Uint8Array>) {
      let writtenBytes = 0;
      while (writtenBytes < chunk.length) {
        const bytes = writeSync(
          descriptor,
          chunk,
          writtenBytes,
          chunk.length - writtenBytes,
          position,
        );
        writtenBytes += bytes;
        position += bytes;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

function notAsPinned(packageName: string, path: string, what: string): WeightsProblem {
  return new WeightsProblem(
    `${path} in ${packageName} ${what}. The package does not match the expected contents.`,
  );
}

interface CheckFile {
  readonly file: WeightFile;
  readonly dir: string;
  readonly signal: AbortSignal;
}

async function checkFile({ file, dir, signal }: CheckFile): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  const stream = createReadStream(join(dir, file.path), { signal, highWaterMark: 1 << 20 });
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const found = hash.digest("hex");
  if (found === file.sha256 && bytes === fileBytes(file)) return;
  throw new WeightsProblem(
    `${file.path} failed its integrity check: expected sha256 ${file.sha256} (${fileBytes(file)} bytes), found ${found} (${bytes} bytes). It was deleted; run the command again to download it.`,
  );
}
