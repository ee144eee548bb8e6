import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { halfFile, modelFiles } from "../sets.ts";
import { toOnnx } from "./onnx-writer.ts";
import type { Chunks } from "./protobuf.ts";
import { fromTfjs } from "./resnet-graph.ts";
import { readTfjs } from "./tfjs-model.ts";
import { widenOnnx } from "./widen-onnx.ts";

/**
 * Turns the fetched weights in `dir` into those the engine loads. The same input gives the same bytes.
 * The source goes last, so that a broken run can be repeated.
 */
export async function prepareImage(dir: string): Promise<void> {
  const source = join(dir, "tfjs");
  await writeWhole(join(dir, modelFiles.image), toOnnx(fromTfjs(await readTfjs(source))));
  await rm(source, { recursive: true });
}

/** Kokoro's half-precision file gives NaN on a CPU, so the engine runs it in single precision. */
export async function prepareSpeech(dir: string): Promise<void> {
  const source = join(dir, halfFile);
  await writeWhole(join(dir, modelFiles.speech), widenOnnx(await readFile(source)));
  await rm(source);
}

/** Only a whole file bears the final name. */
async function writeWhole(target: string, chunks: Chunks): Promise<void> {
  const unfinished = `${target}.part`;
  const file = await open(unfinished, "w");
  try {
    for (const piece of gathered(chunks)) await file.appendFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, target);
}

const gatherBytes = 1024 * 1024;

/** Joins the many small chunks: a write for each of them takes longer than the work itself. */
function* gathered(chunks: Chunks): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for (const chunk of chunks) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < gatherBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  yield Buffer.concat(waiting);
}
