import { expect, test } from "bun:test";
import type { KeyRecord } from "./directory.ts";
import { PackedKeys } from "./packed-keys.ts";
import { fingerprintOfBytes, fingerprintOfText, RowIndex } from "./row-index.ts";

const recordOf = (at: number): KeyRecord => ({
  id: `key_${at}`,
  accountId: "acct_1",
  name: `n ${at} ü`,
  hash: `hash-${at}`,
  hint: "",
  createdAtMs: at,
  ...(at % 3 === 0 ? { previous: { hash: `before-${at}`, hint: "", expiresAtMs: 9 } } : {}),
});

const lineOf = (record: KeyRecord) =>
  JSON.stringify([record.hash, record.id, record.previous?.hash ?? null, record]);

function pack(count: number, perPage: number): PackedKeys<KeyRecord> {
  const packed = new PackedKeys<KeyRecord>((line) => JSON.parse(line)[3]);
  for (let first = 0; first < count; first += perPage) {
    const size = Math.min(perPage, count - first);
    const lines = Array.from({ length: size }, (_, at) => lineOf(recordOf(first + at)));
    packed.add(Buffer.from(lines.join("\n")));
  }
  return packed;
}

test("finds every key of many pages by each of its hashes, and by nothing else", () => {
  const packed = pack(10_000, 700);
  for (let at = 0; at < 10_000; at += 7) {
    expect(packed.find(`hash-${at}`)).toEqual(recordOf(at));
    expect(packed.find(`before-${at}`)?.id).toBe(at % 3 === 0 ? `key_${at}` : undefined);
    expect(packed.has(`key_${at}`)).toBe(true);
  }
  for (const other of ["hash-10000", "hash-", "", "key_1", "before-1"])
    expect(packed.find(other)).toBeUndefined();
});

test("a key that was taken out is gone by its id and by all its hashes", () => {
  const packed = pack(100, 30);
  expect(packed.take("key_33")).toEqual(recordOf(33));
  expect(packed.take("key_33")).toBeUndefined();
  expect(packed.has("key_33")).toBe(false);
  for (const hash of ["hash-33", "before-33"]) expect(packed.find(hash)).toBeUndefined();
  expect(packed.find("hash-34")?.id).toBe("key_34");
});

test("texts with the same fingerprint are told apart by what they are", () => {
  const index = new RowIndex();
  for (let row = 0; row < 5_000; row++) index.add(row % 10, row);
  expect(index.find(3, (row) => row === 4_993)).toBe(4_993);
  expect(index.find(3, (row) => row === 4_994)).toBeUndefined();
  expect(index.find(11, () => true)).toBeUndefined();
});

test("a text has the fingerprint of its bytes", () => {
  const bytes = Buffer.from("..d2Iy/jtRNjzbbPpM+ab=.");
  expect(fingerprintOfBytes(bytes, 2, bytes.length - 1)).toBe(
    fingerprintOfText("d2Iy/jtRNjzbbPpM+ab="),
  );
});
