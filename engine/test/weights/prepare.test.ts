import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tensor } from "onnxruntime-node";
import { openOnnx } from "../../onnx.ts";
import { prepareImage } from "../../weights/convert/prepare.ts";
import { featureCount, inputSide } from "../../weights/convert/resnet-graph.ts";

const epsilon = 0.5;
const weights = {
  "conv/kernel": { shape: [3, 3, 3, featureCount], fill: 0 },
  "conv/bias": { shape: [featureCount], fill: 1 },
  "norm/gamma": { shape: [featureCount], fill: 4 },
  "norm/beta": { shape: [featureCount], fill: 3 },
  "norm/moving_mean": { shape: [featureCount], fill: 2 },
  "norm/moving_variance": { shape: [featureCount], fill: 4 - epsilon },
};

/** Padding, a convolution, its normalisation, a ReLU and the mean: each kind of step, small. */
async function writeModel(dir: string): Promise<void> {
  const layer = (class_name: string, name: string, from: string | undefined, config: object) => ({
    class_name,
    name,
    config,
    inbound_nodes: from === undefined ? [] : [[[from, 0, 0, {}]]],
  });
  const conv = { kernel_size: [3, 3], strides: [1, 1], padding: "valid" };
  const layers = [
    layer("InputLayer", "input", undefined, {}),
    layer("ZeroPadding2D", "pad", "input", {
      padding: [
        [1, 1],
        [1, 1],
      ],
    }),
    layer("Conv2D", "conv", "pad", conv),
    layer("BatchNormalization", "norm", "conv", { epsilon }),
    layer("Activation", "relu", "norm", { activation: "relu" }),
    layer("GlobalAveragePooling2D", "mean", "relu", {}),
  ];
  const values = Object.values(weights).map(({ shape, fill }) =>
    new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(fill),
  );
  const kernel = values[0] ?? new Float32Array();
  // Filter 0 takes the second channel of the pixel itself, filter 1 that of the pixel up and left.
  kernel[((1 * 3 + 1) * 3 + 1) * featureCount] = 1;
  kernel[1 * featureCount + 1] = 1;
  const bytes = Buffer.concat(values.map(({ buffer }) => Buffer.from(buffer)));
  const half = 1001;
  await mkdir(join(dir, "tfjs"), { recursive: true });
  await Bun.write(join(dir, "tfjs/a.bin"), bytes.subarray(0, half));
  await Bun.write(join(dir, "tfjs/b.bin"), bytes.subarray(half));
  const manifest = Object.entries(weights).map(([name, { shape }]) => ({
    name,
    shape,
    dtype: "float32",
  }));
  await Bun.write(
    join(dir, "tfjs/model.json"),
    JSON.stringify({
      modelTopology: { model_config: { config: { layers } } },
      weightsManifest: [{ paths: ["a.bin", "b.bin"], weights: manifest }],
    }),
  );
}

test("makes a network that counts as the published one does, and leaves only that", async () => {
  const dir = await mkdtemp(join(tmpdir(), "svc-engine-image-"));
  try {
    await writeModel(dir);
    await prepareImage(dir);
    expect(existsSync(join(dir, "tfjs"))).toBe(false);
    const session = await openOnnx(join(dir, "resnet50.onnx"));
    const area = inputSide * inputSide;
    const pixels = new Float32Array(2 * 3 * area).fill(-50);
    pixels.fill(10, area, 2 * area).fill(6, 4 * area, 5 * area);
    const input = new Tensor("float32", pixels, [2, 3, inputSide, inputSide]);
    const { data, dims } = (await session.run({ input }))["mean"] ?? {};
    expect(dims).toEqual([2, featureCount]);

    // (value + bias 1 - mean 2) * gamma 4 / sqrt(variance + epsilon = 4) + beta 3
    const inside = ((inputSide - 1) / inputSide) ** 2;
    expect(data?.[0]).toBeCloseTo(10 * 2 + 1, 3);
    expect(data?.[1]).toBeCloseTo(10 * 2 * inside + 1, 3);
    expect(data?.[2]).toBeCloseTo(1, 5);
    expect(data?.[featureCount]).toBeCloseTo(6 * 2 + 1, 3);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("does not guess at a model that it does not know", async () => {
  const dir = await mkdtemp(join(tmpdir(), "svc-engine-image-"));
  try {
    await writeModel(dir);
    const path = join(dir, "tfjs/model.json");
    await Bun.write(
      path,
      (await Bun.file(path).text()).replace('"activation":"relu"', '"activation":"swish"'),
    );
    await expect(prepareImage(dir)).rejects.toThrow("relu is not a ReLU");
  } finally {
    await rm(dir, { recursive: true });
  }
});
