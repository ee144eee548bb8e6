/**
 * Rewrites an ONNX model from half to single precision. Every value the graph computes becomes fp32;
 * a large half-precision weight stays as it is on disk and gets a Cast in front of its users, which
 * the runtime folds away once on load: the same numbers in half the file.
 */
import {
  bytesField,
  type Chunks,
  type Field,
  fieldsOf,
  rewriteMessage,
  textField,
  varintField,
  varintsOf,
} from "./protobuf.ts";

const single = 1;
const half = 10;

// Field numbers of onnx.proto.
const graph = { node: 1, initializer: 5, input: 11, output: 12, valueInfo: 13 };
const node = { input: 1, output: 2, name: 3, opType: 4, attribute: 5 };
const attribute = { name: 1, int: 3, tensor: 5, graph: 6, tensors: 10, graphs: 11, type: 20 };
const tensor = { dataType: 2, int32Data: 5, name: 8, rawData: 9 };
const intAttribute = 2;

/** Weights below this are widened in place: a Cast for each of them would cost more than it saves. */
const castFromBytes = 4096;

const halfSuffix = "/half";
const text = new TextDecoder();

export function widenOnnx(model: Uint8Array): Chunks {
  return rewriteMessage(model, { 7: widenGraph });
}

function widenGraph({ body }: Field): Chunks {
  const inputs = new Set<string>();
  for (const field of fieldsOf(body)) {
    // A weight that is also an input may be replaced by the caller, so its type must follow.
    if (field.number === graph.input) inputs.add(nameOf(field, 1));
  }
  const casts: Uint8Array[] = [];
  const rest = rewriteMessage(body, {
    [graph.node]: (field) => rewriteMessage(field.body, { [node.attribute]: widenAttribute }),
    [graph.initializer]: (field) => {
      const name = nameOf(field, tensor.name);
      const isLarge = field.body.length >= castFromBytes;
      if (!isLarge || !isHalf(field) || inputs.has(name)) return widenTensor(field);
      casts.push(...bytesField(graph.node, castNode(name)));
      const renamed = [new TextEncoder().encode(name + halfSuffix)];
      return rewriteMessage(field.body, { [tensor.name]: () => renamed });
    },
    [graph.input]: widenValue,
    [graph.output]: widenValue,
    [graph.valueInfo]: widenValue,
  });
  // Nodes stand in the order they run, and these feed the others.
  return [...casts, ...rest];
}

function castNode(name: string): Chunks {
  const to = [
    ...textField(attribute.name, "to"),
    varintField(attribute.int, single),
    varintField(attribute.type, intAttribute),
  ];
  return [
    ...textField(node.input, name + halfSuffix),
    ...textField(node.output, name),
    ...textField(node.name, `${name}/widen`),
    ...textField(node.opType, "Cast"),
    ...bytesField(node.attribute, to),
  ];
}

function widenAttribute(field: Field): Chunks {
  // `to` of Cast, `dtype` of the generators: the attributes that name an element type.
  const namesType = ["to", "dtype"].includes(nameOf(field, attribute.name));
  return rewriteMessage(field.body, {
    [attribute.int]: (int) => (namesType ? widenElementType(int) : undefined),
    [attribute.tensor]: widenTensor,
    [attribute.tensors]: widenTensor,
    [attribute.graph]: widenGraph,
    [attribute.graphs]: widenGraph,
  });
}

function widenValue({ body }: Field): Chunks {
  return rewriteMessage(body, { 2: widenType });
}

/** The type of a tensor (1), or of what a sequence (4) or an optional (9) holds. */
function widenType({ body }: Field): Chunks {
  const inner = (field: Field): Chunks => rewriteMessage(field.body, { 1: widenType });
  return rewriteMessage(body, {
    1: (field) => rewriteMessage(field.body, { 1: widenElementType }),
    4: inner,
    9: inner,
  });
}

function widenElementType({ value }: Field): number | undefined {
  return value === half ? single : undefined;
}

function widenTensor(field: Field): Chunks {
  if (!isHalf(field)) return [field.body];
  const kept: Uint8Array[] = [];
  const packed: number[] = [];
  for (const part of fieldsOf(field.body)) {
    if (part.number === tensor.int32Data) for (const value of varintsOf(part)) packed.push(value);
    else if (part.number === tensor.dataType) kept.push(varintField(part.number, single));
    else if (part.number === tensor.rawData)
      kept.push(...bytesField(part.number, [widenHalves(toHalves(part.body))]));
    else kept.push(part.raw);
  }
  if (packed.length === 0) return kept;
  return [...kept, ...bytesField(tensor.rawData, [widenHalves(Uint16Array.from(packed))])];
}

function isHalf({ body }: Field): boolean {
  for (const { number, value } of fieldsOf(body))
    if (number === tensor.dataType) return value === half;
  return false;
}

function nameOf({ body }: Field, wanted: number): string {
  for (const { number, body: name } of fieldsOf(body))
    if (number === wanted) return text.decode(name);
  return "";
}

function toHalves(bytes: Uint8Array): Uint16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint16Array.from({ length: bytes.length / 2 }, (_, index) =>
    view.getUint16(index * 2, true),
  );
}

/** Little-endian fp32 bytes of fp16 bit patterns; every half is a single exactly. */
export function widenHalves(halves: Uint16Array): Uint8Array {
  const out = new DataView(new ArrayBuffer(halves.length * 4));
  halves.forEach((bits, index) => {
    out.setFloat32(index * 4, fromHalf(bits), true);
  });
  return new Uint8Array(out.buffer);
}

function fromHalf(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
