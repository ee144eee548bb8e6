import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { halfFile, modelFiles } from "../sets.ts";
import { prepareSpeech } from "./prepare.ts";
import { bytesField, type Chunks, fieldsOf, lengthOf, textField, varintField } from "./protobuf.ts";
import { widenHalves, widenOnnx } from "./widen-onnx.ts";

const half = 10;
const bytesOf = (chunks: Chunks): Uint8Array => new Uint8Array(Buffer.concat([...chunks]));

/** Half-precision bits of small whole numbers. */
const halfBits: Readonly<Record<number, number>> = { 0: 0, 1: 0x3c00, 2: 0x4000, 3: 0x4200 };

function tensor(name: string, values: readonly number[], { packed = false } = {}): Chunks {
  const bits = values.map((value) => halfBits[value] ?? 0);
  const data = packed
    ? bytesField(
        5,
        bits.map((value) => varintField(0, value).subarray(1)),
      )
    : bytesField(9, [new Uint8Array(Uint16Array.from(bits).buffer)]);
  return [varintField(1, values.length), varintField(2, half), ...textField(8, name), ...data];
}

function node(
  op: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly Chunks[] = [],
): Chunks {
  return bytesField(1, [
    ...inputs.flatMap((input) => textField(1, input)),
    ...textField(2, output),
    ...textField(4, op),
    ...attributes.flatMap((attribute) => bytesField(5, attribute)),
  ]);
}

function value(name: string, elementType: number): Chunks {
  const shape = bytesField(2, bytesField(1, textField(2, "n")));
  const type = bytesField(1, [varintField(1, elementType), ...shape]);
  return [...textField(1, name), ...bytesField(2, type)];
}

/** y = float(half(x) * large + small + one), all in half precision: the sum of every path the walk has. */
function halfModel(): Uint8Array {
  const toHalf = [...textField(1, "to"), varintField(3, half), varintField(20, 2)];
  const toSingle = [...textField(1, "to"), varintField(3, 1), varintField(20, 2)];
  const one = [...textField(1, "value"), ...bytesField(5, tensor("", [1])), varintField(20, 4)];
  const large = Array.from({ length: 4096 }, () => 2);
  const graph = [
    ...node("Cast", ["x"], "h", [toHalf]),
    ...node("Mul", ["h", "large"], "a"),
    ...node("Add", ["a", "small"], "b"),
    ...node("Shape", ["h"], "s"),
    ...node("ConstantOfShape", ["s"], "c", [one]),
    ...node("Add", ["b", "c"], "d"),
    ...node("Cast", ["d"], "y", [toSingle]),
    ...textField(2, "g"),
    ...bytesField(5, tensor("large", large)),
    ...bytesField(5, tensor("small", [3], { packed: true })),
    ...bytesField(11, value("x", 1)),
    ...bytesField(12, value("y", 1)),
    ...bytesField(13, value("a", half)),
  ];
  return bytesOf([
    varintField(1, 8),
    ...bytesField(7, graph),
    ...bytesField(8, [varintField(2, 13)]),
  ]);
}

describe("widening a half-precision model", () => {
  test("keeps its meaning and computes in single precision", async () => {
    const session = await InferenceSession.create(bytesOf(widenOnnx(halfModel())));
    // Half precision has no 2049; the sum is exact only if the graph computes in single precision.
    const x = new Float32Array(4096).fill(1024.5);
    const { y } = await session.run({ x: new Tensor("float32", x, [4096]) });
    expect(y?.data).toEqual(new Float32Array(4096).fill(2053));
  });

  test("leaves large weights as they are on disk and is the same every time", () => {
    const source = halfModel();
    const widened = widenOnnx(source);
    expect(lengthOf(widened)).toBeLessThan(source.length + 500);
    expect(bytesOf(widenOnnx(source))).toEqual(bytesOf(widened));
  });

  test("turns every kind of half into the same number", () => {
    const bits = Uint16Array.of(0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x7bff, 0x7c00, 0x7e00);
    const wide = new Float32Array(widenHalves(bits).buffer);
    expect([...wide]).toEqual([
      0,
      -0,
      1,
      -1,
      2 ** -24,
      65_504,
      Number.POSITIVE_INFINITY,
      Number.NaN,
    ]);
  });

  test("refuses a file that ends within a field", () => {
    const source = halfModel();
    expect(() => [...fieldsOf(source.subarray(0, source.length - 1))]).toThrow("ends within");
  });
});

test("preparing leaves the widened model in place of its source", async () => {
  const dir = await mkdtemp(join(tmpdir(), "speech-"));
  try {
    await writeFile(join(dir, halfFile), halfModel());
    await prepareSpeech(dir);
    expect(await readdir(dir)).toEqual([modelFiles.speech]);
    const written = new Uint8Array(await Bun.file(join(dir, modelFiles.speech)).arrayBuffer());
    const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    expect(hash(written)).toBe(hash(bytesOf(widenOnnx(halfModel()))));
  } finally {
    await rm(dir, { recursive: true });
  }
});
