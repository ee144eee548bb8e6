import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { widenOnnx } from "./widen-onnx.ts";

/** Kokoro's half-precision file gives NaN on a CPU, so the engine runs it in single precision. */
export const halfFile = "kokoro-fp16.onnx";
export const modelFile = "kokoro.onnx";

/** Turns the fetched weights in `dir` into those the engine loads. The same input gives the same bytes. */
export async function prepareSpeech(dir: string): Promise<void> {
  const source = join(dir, halfFile);
  const target = join(dir, modelFile);
  const part = `${target}.part`;
  const chunks = widenOnnx(await readFile(source));
  const file = await open(part, "w");
  try {
    for (const piece of gather(chunks)) await file.appendFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  // Only a whole file bears the final name; the source goes last, so a broken run can be repeated.
  await rename(part, target);
  await rm(source);
}

const gatherBytes = 1024 * 1024;

/** Joins the many small chunks: a write for each of them takes longer than the work itself. */
function* gather(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for (const chunk of chunks) {
    if (chunk.length >= gatherBytes) {
      if (size > 0) yield Buffer.concat(waiting);
      yield chunk;
      waiting = [];
      size = 0;
      continue;
    }
    waiting.push(chunk);
    size += chunk.length;
    if (size >= gatherBytes) {
      yield Buffer.concat(waiting);
      waiting = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(waiting);
}
