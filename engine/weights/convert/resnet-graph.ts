import type { OnnxGraph, OnnxNode, OnnxTensor } from "./onnx-writer.ts";
import type { TfjsLayer, TfjsModel } from "./tfjs-model.ts";

export const inputSide = 224;
export const featureCount = 2048;

/** Where a layer's output is to be had, and the zeros that a padding layer asked for around it. */
interface Value {
  readonly tensor: string;
  readonly padding: number;
}

interface Build {
  readonly model: TfjsModel;
  readonly nodes: OnnxNode[];
  readonly weights: OnnxTensor[];
  readonly values: Map<string, Value>;
  /** Those that wait for the normalisation behind them. */
  readonly convolutions: Map<string, TfjsLayer>;
}

/**
 * Layer by layer, with two liberties that change no result: padding becomes part of the next
 * convolution or pooling, and a batch normalisation becomes part of the convolution before it.
 * Pooling pads with the lowest number instead of zero; after a ReLU that is the same.
 */
export function fromTfjs(model: TfjsModel): OnnxGraph {
  const build: Build = {
    model,
    nodes: [],
    weights: [],
    values: new Map(),
    convolutions: new Map(),
  };
  for (const layer of model.layers) addLayer(build, layer);
  return {
    name: "resnet50",
    nodes: build.nodes,
    weights: build.weights,
    input: {
      name: model.layers[0]?.name ?? "",
      dims: ["batch", 3, inputSide, inputSide],
    },
    output: { name: model.layers.at(-1)?.name ?? "", dims: ["batch", featureCount] },
  };
}

function addLayer(build: Build, layer: TfjsLayer): void {
  const { name } = layer;
  switch (layer.kind) {
    case "InputLayer":
      build.values.set(name, { tensor: name, padding: 0 });
      return;
    case "ZeroPadding2D":
      build.values.set(name, { tensor: inputOf(build, layer).tensor, padding: paddingOf(layer) });
      return;
    case "Conv2D":
      build.convolutions.set(name, layer);
      return;
    case "BatchNormalization":
      return addConvolution(build, layer);
    case "Activation":
      if (layer.config["activation"] !== "relu") throw new Error(`${name} is not a ReLU`);
      return addNode(build, { name, operator: "Relu", inputs: tensorsOf(build, layer) });
    case "Add":
      return addNode(build, { name, operator: "Add", inputs: tensorsOf(build, layer) });
    case "MaxPooling2D": {
      const { tensor, padding } = inputOf(build, layer);
      const attributes = windowOf({ layer, size: "pool_size", padding });
      return addNode(build, { name, operator: "MaxPool", inputs: [tensor], attributes });
    }
    case "GlobalAveragePooling2D": {
      const inputs = tensorsOf(build, layer);
      addNode(build, { name: `${name}_map`, operator: "GlobalAveragePool", inputs });
      return addNode(build, { name, operator: "Flatten", inputs: [`${name}_map`] });
    }
    default:
      throw new Error(`layer ${name} is of an unknown kind, ${layer.kind}`);
  }
}

function addNode(build: Build, node: OnnxNode): void {
  build.nodes.push(node);
  build.values.set(node.name, { tensor: node.name, padding: 0 });
}

function addConvolution(build: Build, normalisation: TfjsLayer): void {
  const convolution = build.convolutions.get(normalisation.inputs[0] ?? "");
  if (!convolution) throw new Error(`${normalisation.name} does not follow a convolution`);
  const { tensor, padding } = inputOf(build, convolution);
  const folded = foldNormalisation({ model: build.model, convolution, normalisation });
  build.weights.push(...folded);
  addNode(build, {
    name: normalisation.name,
    operator: "Conv",
    inputs: [tensor, ...folded.map(({ name }) => name)],
    attributes: windowOf({ layer: convolution, size: "kernel_size", padding }),
  });
}

function tensorsOf(build: Build, layer: TfjsLayer): readonly string[] {
  return layer.inputs.map((name) => valueOf(build, name).tensor);
}

function inputOf(build: Build, layer: TfjsLayer): Value {
  return valueOf(build, layer.inputs[0] ?? "");
}

function valueOf(build: Build, name: string): Value {
  const value = build.values.get(name);
  if (!value) throw new Error(`layer ${name} has no output yet`);
  return value;
}

interface FoldOptions {
  readonly model: TfjsModel;
  readonly convolution: TfjsLayer;
  readonly normalisation: TfjsLayer;
}

/** The kernel in ONNX's order (out, in, height, width) and the bias, both scaled and shifted. */
function foldNormalisation(options: FoldOptions): readonly [OnnxTensor, OnnxTensor] {
  const { model, convolution, normalisation } = options;
  const ofNormalisation = (part: string): Float32Array =>
    model.weight(`${normalisation.name}/${part}`).data;
  const gamma = ofNormalisation("gamma");
  const beta = ofNormalisation("beta");
  const mean = ofNormalisation("moving_mean");
  const variance = ofNormalisation("moving_variance");
  const epsilon = Number(normalisation.config["epsilon"]);
  const kernel = model.weight(`${convolution.name}/kernel`);
  const bias = model.weight(`${convolution.name}/bias`).data;
  const [height = 0, width = 0, inputs = 0, outputs = 0] = kernel.shape;

  const area = height * width;
  const foldedKernel = new Float32Array(kernel.data.length);
  const foldedBias = new Float32Array(outputs);
  for (let out = 0; out < outputs; out++) {
    const scale = (gamma[out] ?? 0) / Math.sqrt((variance[out] ?? 0) + epsilon);
    foldedBias[out] = ((bias[out] ?? 0) - (mean[out] ?? 0)) * scale + (beta[out] ?? 0);
    for (let from = 0; from < inputs; from++) {
      for (let at = 0; at < area; at++) {
        const value = kernel.data[(at * inputs + from) * outputs + out] ?? 0;
        foldedKernel[(out * inputs + from) * area + at] = value * scale;
      }
    }
  }
  return [
    {
      name: `${convolution.name}/kernel`,
      dims: [outputs, inputs, height, width],
      data: foldedKernel,
    },
    { name: `${convolution.name}/bias`, dims: [outputs], data: foldedBias },
  ];
}

interface WindowOptions {
  readonly layer: TfjsLayer;
  readonly size: "kernel_size" | "pool_size";
  readonly padding: number;
}

function windowOf({ layer, size, padding }: WindowOptions): Record<string, readonly number[]> {
  const [height, width] = pairOf(layer.config[size]);
  const [down, right] = pairOf(layer.config["strides"]);
  const same = layer.config["padding"] === "same";
  if (same && (height !== width || height % 2 === 0 || down !== 1 || right !== 1))
    throw new Error(`${layer.name} uses an unsupported padding`);
  const pad = padding + (same ? (height - 1) / 2 : 0);
  return { kernel_shape: [height, width], strides: [down, right], pads: [pad, pad, pad, pad] };
}

function paddingOf(layer: TfjsLayer): number {
  const sides = [layer.config["padding"]].flat(2).map(Number);
  const [first = 0] = sides;
  if (sides.some((side) => side !== first)) throw new Error(`${layer.name} pads unevenly`);
  return first;
}

function pairOf(value: unknown): readonly [number, number] {
  const [first, second] = [value].flat().map(Number);
  return [first ?? Number.NaN, second ?? Number.NaN];
}
