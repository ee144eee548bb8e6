import { bytesField, type Chunks, textField, varintField } from "./protobuf.ts";

/**
 * Writes the few parts of the ONNX format that a plain network needs. The format is protocol
 * buffers; a message is kept as a list of chunks, so that big weights are never copied.
 */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

export interface OnnxNode {
  readonly name: string;
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly attributes?: Readonly<Record<string, readonly number[]>>;
}

/** A name stands for a dimension that is free. */
export interface OnnxValue {
  readonly name: string;
  readonly dims: readonly (number | string)[];
}

export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly weights: readonly OnnxTensor[];
  readonly input: OnnxValue;
  readonly output: OnnxValue;
}

// IR 7 with operator set 13 is what onnxruntime has read since 2020.
const irVersion = 7;
const operatorSet = 13;
const elementFloat = 1;
const attributeInts = 7;

/** The file's bytes, in order. Every node has one output, called like the node. */
export function toOnnx(graph: OnnxGraph): Chunks {
  const body = [
    ...graph.nodes.flatMap((node) => bytesField(1, fromNode(node))),
    ...textField(2, graph.name),
    ...graph.weights.flatMap((weight) => bytesField(5, fromTensor(weight))),
    ...bytesField(11, fromValue(graph.input)),
    ...bytesField(12, fromValue(graph.output)),
  ];
  return [
    varintField(1, irVersion),
    ...bytesField(7, body),
    ...bytesField(8, [...textField(1, ""), varintField(2, operatorSet)]),
  ];
}

function fromNode(node: OnnxNode): Chunks {
  return [
    ...node.inputs.flatMap((input) => textField(1, input)),
    ...textField(2, node.name),
    ...textField(3, node.name),
    ...textField(4, node.operator),
    ...Object.entries(node.attributes ?? {}).flatMap(([name, values]) =>
      bytesField(5, [
        ...textField(1, name),
        ...values.map((value) => varintField(8, value)),
        varintField(20, attributeInts),
      ]),
    ),
  ];
}

function fromTensor(tensor: OnnxTensor): Chunks {
  const { buffer, byteOffset, byteLength } = tensor.data;
  return [
    ...tensor.dims.map((dim) => varintField(1, dim)),
    varintField(2, elementFloat),
    ...textField(8, tensor.name),
    ...bytesField(9, [new Uint8Array(buffer, byteOffset, byteLength)]),
  ];
}

function fromValue(value: OnnxValue): Chunks {
  const shape = value.dims.flatMap((dim) =>
    bytesField(1, typeof dim === "number" ? [varintField(1, dim)] : textField(2, dim)),
  );
  const tensorType = [varintField(1, elementFloat), ...bytesField(2, shape)];
  return [...textField(1, value.name), ...bytesField(2, bytesField(1, tensorType))];
}
