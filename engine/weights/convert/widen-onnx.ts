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
const model = { graph: 7 };
const graph = { node: 1, initializer: 5, input: 11, output: 12, valueInfo: 13 };
const node = { input: 1, output: 2, name: 3, opType: 4, attribute: 5 };
const attribute = { name: 1, int: 3, tensor: 5, graph: 6, tensors: 10, graphs: 11, type: 20 };
const tensor = { dataType: 2, int32Data: 5, name: 8, rawData: 9 };
const valueInfo = { type: 2 };
const type = { tensor: 1, sequence: 4, optional: 9 };
const tensorType = { elementType: 1 };
const intAttribute = 2;

/** Weights below this are widened in place: a Cast for each of them would cost more than it saves. */
const castFromBytes = 4096;

const halfSuffix = "/half";
const text = new TextDecoder();

export function widenOnnx(bytes: Uint8Array): Chunks {
  return rewriteMessage(bytes, (field) =>
    field.number === model.graph ? bytesField(model.graph, widenGraph(field.body)) : undefined,
  );
}

function widenGraph(bytes: Uint8Array): Chunks {
  const inputs = new Set<string>();
  for (const field of fieldsOf(bytes)) {
    // A weight that is also an input may be replaced by the caller, so its type must follow.
    if (field.number === graph.input) inputs.add(nameOf(field.body, 1));
  }
  const casts: Uint8Array[] = [];
  const rest = rewriteMessage(bytes, (field) => {
    switch (field.number) {
      case graph.node:
        return bytesField(graph.node, widenNode(field.body));
      case graph.initializer: {
        const name = nameOf(field.body, tensor.name);
        if (!isLargeHalf(field.body) || inputs.has(name)) {
          return bytesField(graph.initializer, widenTensor(field.body));
        }
        casts.push(...bytesField(graph.node, castNode(name)));
        return bytesField(graph.initializer, renameTensor(field.body, name + halfSuffix));
      }
      case graph.input:
      case graph.output:
      case graph.valueInfo:
        return bytesField(field.number, widenValueInfo(field.body));
      default:
        return undefined;
    }
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

function widenNode(bytes: Uint8Array): Chunks {
  return rewriteMessage(bytes, (field) =>
    field.number === node.attribute
      ? bytesField(node.attribute, widenAttribute(field.body))
      : undefined,
  );
}

function widenAttribute(bytes: Uint8Array): Chunks {
  const name = nameOf(bytes, attribute.name);
  // `to` of Cast, `dtype` of the generators: the attributes that name an element type.
  const namesType = name === "to" || name === "dtype";
  return rewriteMessage(bytes, (field) => {
    switch (field.number) {
      case attribute.int:
        return namesType && field.value === half ? [varintField(attribute.int, single)] : undefined;
      case attribute.tensor:
      case attribute.tensors:
        return bytesField(field.number, widenTensor(field.body));
      case attribute.graph:
      case attribute.graphs:
        return bytesField(field.number, widenGraph(field.body));
      default:
        return undefined;
    }
  });
}

function widenValueInfo(bytes: Uint8Array): Chunks {
  return rewriteMessage(bytes, (field) =>
    field.number === valueInfo.type ? bytesField(valueInfo.type, widenType(field.body)) : undefined,
  );
}

function widenType(bytes: Uint8Array): Chunks {
  return rewriteMessage(bytes, (field) => {
    switch (field.number) {
      case type.tensor:
        return bytesField(
          type.tensor,
          rewriteMessage(field.body, (inner) =>
            inner.number === tensorType.elementType && inner.value === half
              ? [varintField(tensorType.elementType, single)]
              : undefined,
          ),
        );
      case type.sequence:
      case type.optional:
        return bytesField(
          field.number,
          rewriteMessage(field.body, (inner) =>
            inner.number === 1 ? bytesField(1, widenType(inner.body)) : undefined,
          ),
        );
      default:
        return undefined;
    }
  });
}

function widenTensor(bytes: Uint8Array): Chunks {
  if (dataTypeOf(bytes) !== half) return [bytes];
  const packed: number[] = [];
  const kept = rewriteMessage(bytes, (field: Field) => {
    switch (field.number) {
      case tensor.dataType:
        return [varintField(tensor.dataType, single)];
      case tensor.rawData:
        return bytesField(tensor.rawData, [widenHalves(toHalves(field.body))]);
      case tensor.int32Data:
        for (const value of varintsOf(field)) packed.push(value);
        return [];
      default:
        return undefined;
    }
  });
  if (packed.length === 0) return kept;
  return [...kept, ...bytesField(tensor.rawData, [widenHalves(Uint16Array.from(packed))])];
}

function renameTensor(bytes: Uint8Array, name: string): Chunks {
  return rewriteMessage(bytes, (field) =>
    field.number === tensor.name ? textField(tensor.name, name) : undefined,
  );
}

function isLargeHalf(bytes: Uint8Array): boolean {
  return bytes.length >= castFromBytes && dataTypeOf(bytes) === half;
}

function dataTypeOf(bytes: Uint8Array): number {
  for (const field of fieldsOf(bytes)) if (field.number === tensor.dataType) return field.value;
  return 0;
}

function nameOf(bytes: Uint8Array, number: number): string {
  for (const field of fieldsOf(bytes)) if (field.number === number) return text.decode(field.body);
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
