/** The wire format of protocol buffers, as far as rewriting a message field by field needs it. */
export interface Field {
  readonly number: number;
  readonly wire: number;
  /** The whole field with its tag, as it stood. */
  readonly raw: Uint8Array;
  /** What a length-delimited field holds; empty for the others. */
  readonly body: Uint8Array;
  /** What a varint field holds; 0 for the others. */
  readonly value: number;
}

/** A message in pieces, so that large bodies are passed on without a copy. */
export type Chunks = readonly Uint8Array[];

const varintWire = 0;
const fixed64Wire = 1;
const bytesWire = 2;
const fixed32Wire = 5;

export function* fieldsOf(message: Uint8Array): Generator<Field> {
  let offset = 0;
  while (offset < message.length) {
    const start = offset;
    const tag = readVarint(message, offset);
    offset = tag.end;
    const number = Math.floor(tag.value / 8);
    const wire = tag.value % 8;
    let value = 0;
    let body = message.subarray(offset, offset);
    if (wire === varintWire) {
      const read = readVarint(message, offset);
      value = read.value;
      offset = read.end;
    } else if (wire === bytesWire) {
      const length = readVarint(message, offset);
      offset = length.end + length.value;
      body = message.subarray(length.end, offset);
    } else if (wire === fixed64Wire || wire === fixed32Wire) {
      offset += wire === fixed64Wire ? 8 : 4;
    } else {
      throw new Error(`A protobuf field has the unknown wire type ${wire}.`);
    }
    if (offset > message.length) throw new Error("A protobuf message ends within a field.");
    yield { number, wire, raw: message.subarray(start, offset), body, value };
  }
}

/** By field number: the field's new content, a number or bytes; `undefined` keeps the field as it stands. */
export type Rewrites = Readonly<Record<number, (field: Field) => number | Chunks | undefined>>;

export function rewriteMessage(message: Uint8Array, rewrites: Rewrites): Chunks {
  const chunks: Uint8Array[] = [];
  for (const field of fieldsOf(message)) {
    const { number, raw } = field;
    const changed = rewrites[number]?.(field);
    if (changed === undefined) chunks.push(raw);
    else if (typeof changed === "number") chunks.push(varintField(number, changed));
    else for (const chunk of bytesField(number, changed)) chunks.push(chunk);
  }
  return chunks;
}

export function varintField(number: number, value: number): Uint8Array {
  return Uint8Array.from([...varint(number * 8 + varintWire), ...varint(value)]);
}

export function bytesField(number: number, chunks: Chunks): Chunks {
  return [
    Uint8Array.from([...varint(number * 8 + bytesWire), ...varint(lengthOf(chunks))]),
    ...chunks,
  ];
}

export function textField(number: number, text: string): Chunks {
  return bytesField(number, [new TextEncoder().encode(text)]);
}

export function lengthOf(chunks: Chunks): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}

/** The varints of a packed field, or the one of an unpacked field. */
export function varintsOf(field: Field): number[] {
  if (field.wire === varintWire) return [field.value];
  const values: number[] = [];
  let offset = 0;
  while (offset < field.body.length) {
    const read = readVarint(field.body, offset);
    values.push(read.value);
    offset = read.end;
  }
  return values;
}

/** Exact up to 2^53; the top bits of negative numbers are lost, and nothing here reads those. */
function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  let scale = 1;
  let offset = start;
  for (;;) {
    const byte = bytes[offset];
    if (byte === undefined || offset - start >= 10)
      throw new Error("A protobuf message ends within a number.");
    offset += 1;
    value += (byte % 128) * scale;
    if (byte < 128) return { value, end: offset };
    scale *= 128;
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return bytes;
}
