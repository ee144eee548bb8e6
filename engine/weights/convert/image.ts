import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { toOnnx } from "./onnx-writer.ts";
import { fromTfjs } from "./resnet-graph.ts";
import { readTfjs } from "./tfjs-model.ts";

export const modelFile = "resnet50.onnx";

/** Turns the published weights in `dir/tfjs` into the one file that the model runs from. */
export async function prepareImage(dir: string): Promise<void> {
  const source = join(dir, "tfjs");
  const chunks = toOnnx(fromTfjs(await readTfjs(source)));
  const target = join(dir, modelFile);
  const unfinished = `${target}.part`;
  const file = await open(unfinished, "w");
  try {
    for (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
  // Renamed last: a file of this name is always whole.
  await rename(unfinished, target);
  await rm(source, { recursive: true });
}
