import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WeightsProblem } from "./problem.ts";
import type { Registry } from "./registry.ts";
import type { WeightPackage } from "./sets.ts";

export interface Download {
  readonly registry: Registry;
  readonly packed: WeightPackage;
  /** Kept between runs while it is not whole. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** How much of the tarball is there. */
  readonly onBytes: (doneBytes: number) => void;
  /** Before the first retry; doubled with each. */
  readonly retryDelayMs: number;
}

const maxTriesWithoutBytes = 4;
const maxTries = 50;

/**
 * Fetches a tarball to the end and checks its hash. What an earlier run left is hashed again and
 * only the rest is asked for. Bytes are written synchronously: npm's client has no back-pressure,
 * and a disk slower than the network would otherwise fill the memory.
 */
export async function download(options: Download): Promise<void> {
  const { packed, path, onBytes, signal } = options;
  mkdirSync(dirname(path), { recursive: true });
  const file = await openPartial(packed, path, signal);
  try {
    onBytes(file.doneBytes);
    if (file.doneBytes < packed.bytes) await fetchRest(file, options);
    checkIntegrity({ packed, file });
  } catch (error) {
    // An empty file would only look like something begun.
    if (error instanceof WrongBytes || file.doneBytes === 0) rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file.descriptor);
  }
}

/** The same check for a tarball that lies somewhere else; it is only read. */
export async function checkTarball({
  packed,
  path,
  signal,
  onBytes,
}: Omit<Download, "registry" | "retryDelayMs">): Promise<void> {
  const file: Hashed = { hash: createHash("sha512"), doneBytes: 0 };
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) {
    file.hash.update(chunk);
    file.doneBytes += chunk.length;
    onBytes(Math.min(file.doneBytes, packed.bytes));
  }
  checkIntegrity({ packed, file, path });
}

class WrongBytes extends WeightsProblem {}

interface Hashed {
  hash: Hash;
  doneBytes: number;
}

interface Partial extends Hashed {
  readonly descriptor: number;
}

async function openPartial(
  packed: WeightPackage,
  path: string,
  signal: AbortSignal,
): Promise<Partial> {
  const file: Partial = {
    descriptor: openSync(path, "a+"),
    hash: createHash("sha512"),
    doneBytes: 0,
  };
  try {
    if (fstatSync(file.descriptor).size > packed.bytes) startAgain(file);
    for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) {
      file.hash.update(chunk);
      file.doneBytes += chunk.length;
    }
    return file;
  } catch (error) {
    closeSync(file.descriptor);
    throw error;
  }
}

function startAgain(file: Partial): void {
  ftruncateSync(file.descriptor, 0);
  file.hash = createHash("sha512");
  file.doneBytes = 0;
}

async function fetchRest(file: Partial, options: Download): Promise<void> {
  let triesWithoutBytes = 0;
  for (let tries = 1; ; tries++) {
    const beforeBytes = file.doneBytes;
    try {
      return await fetchOnce(file, options);
    } catch (error) {
      if (!(error instanceof WeightsProblem) || !error.isPassing) throw error;
      triesWithoutBytes = file.doneBytes > beforeBytes ? 0 : triesWithoutBytes + 1;
      if (triesWithoutBytes >= maxTriesWithoutBytes || tries >= maxTries) throw error;
      const delayMs = options.retryDelayMs * 2 ** Math.max(0, triesWithoutBytes - 1);
      await sleep(delayMs, undefined, { signal: options.signal });
    }
  }
}

async function fetchOnce(
  file: Partial,
  { registry, packed, signal, onBytes }: Download,
): Promise<void> {
  // Of this try alone: a disk that fails must also end the request.
  const attempt = new AbortController();
  const stop = () => attempt.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", stop);
  try {
    const reply = await registry.openTarball({
      packed,
      offset: file.doneBytes,
      signal: attempt.signal,
    });
    if (reply.offset !== file.doneBytes) startAgain(file);
    await reply.read((chunk) => {
      if (file.doneBytes + chunk.length > packed.bytes)
        throw wrongBytes({ packed, found: `more than ${packed.bytes} bytes` });
      let writtenBytes = 0;
      while (writtenBytes < chunk.length)
        writtenBytes += writeSync(file.descriptor, chunk, writtenBytes);
      file.hash.update(chunk);
      file.doneBytes += chunk.length;
      onBytes(file.doneBytes);
    });
  } catch (error) {
    attempt.abort();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface IntegrityCheck {
  readonly packed: WeightPackage;
  readonly file: Hashed;
  /** Of a file that is not ours to remove. */
  readonly path?: string;
}

function checkIntegrity({ packed, file, ...where }: IntegrityCheck): void {
  const integrity = `sha512-${file.hash.digest("base64")}`;
  if (integrity !== packed.integrity)
    throw wrongBytes({ packed, found: `${integrity} (${file.doneBytes} bytes)`, ...where });
}

interface Wrong {
  readonly packed: WeightPackage;
  readonly found: string;
  readonly path?: string;
}

function wrongBytes({ packed, found, path }: Wrong): WrongBytes {
  const spec = `${packed.name}@${packed.version}`;
  const difference = `expected ${packed.integrity} (${packed.bytes} bytes), found ${found}`;
  return new WrongBytes(
    path === undefined
      ? `${spec} failed its integrity check: ${difference}. The file was deleted; run the command again to download it. If it fails again, the registry serves a different package under this name.`
      : `${path} failed its integrity check: ${difference}. Create it again with: npm pack ${spec}`,
  );
}
