import { join } from "node:path";
import { Tensor } from "onnxruntime-node";
import { EngineError, type ImageJob, type ImageResult, type Model } from "../contract.ts";
import { openOnnx } from "../onnx.ts";
import { featureCount, inputSide } from "../weights/convert/resnet-graph.ts";
import { modelFiles } from "../weights/sets.ts";
import { type Picture, PictureError, readPicture } from "./picture.ts";
import { readVideo } from "./video.ts";

export interface ImageOptions {
  /** The folder that `prepareImage` has filled. */
  readonly dir: string;
}

/** ResNet50 without its classifier: vectors of images, and of videos by the mean of their frames. */
export async function loadImage({
  dir,
}: ImageOptions): Promise<Model<ImageJob, never, ImageResult>> {
  const session = await openOnnx(join(dir, modelFiles.image));
  const [inputName = "", outputName = ""] = [session.inputNames[0], session.outputNames[0]];

  async function embed(picture: Picture): Promise<Float32Array> {
    const input = new Tensor("float32", toInput(picture), [1, 3, inputSide, inputSide]);
    const { data } = (await session.run({ [inputName]: input }))[outputName] ?? {};
    if (!(data instanceof Float32Array)) throw new Error("the network returned no features");
    return toUnitLength(data);
  }

  return {
    run: async (job, { signal }) => {
      // All are read before the first is embedded: a broken one costs little, and nothing is half done.
      const pictures =
        job.kind === "video"
          ? await readVideo({ video: job.video, signal })
          : await readImages(job.images, signal);
      const vectors: Float32Array[] = [];
      for (const picture of pictures) {
        signal.throwIfAborted();
        vectors.push(await embed(picture));
      }
      return { vectors: job.kind === "video" ? [meanOf(vectors)] : vectors };
    },
  };
}

async function readImages(
  images: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<readonly Picture[]> {
  const pictures: Picture[] = [];
  for (const [index, image] of images.entries()) {
    signal.throwIfAborted();
    pictures.push(await readPicture(image).catch((error) => refuse(error, index)));
  }
  return pictures;
}

function refuse(error: unknown, index: number): never {
  if (!(error instanceof PictureError)) throw error;
  throw new EngineError({
    message: `input[${index}] cannot be decoded as an image: ${error.message}.`,
    param: `input[${index}]`,
  });
}

// The network was trained on blue, green and red, in that order, less the means of its training set.
const meanBlueGreenRed = [103.939, 116.779, 123.68] as const;

function toInput(picture: Picture): Float32Array {
  const area = inputSide * inputSide;
  const input = new Float32Array(3 * area);
  for (const [channel, mean] of meanBlueGreenRed.entries()) {
    for (let i = 0; i < area; i++)
      input[channel * area + i] = (picture[i * 3 + 2 - channel] ?? 0) - mean;
  }
  return input;
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(featureCount);
  for (const vector of vectors)
    for (let i = 0; i < featureCount; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  return toUnitLength(sum);
}

function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (!(length > 0)) throw new Error("the network returned a zero vector");
  return vector.map((value) => value / length);
}
