import { expect, test } from "bun:test";
import { SseReader } from "./sse.ts";

const text =
  'data: {"a":"Zürich 東京 🚀"}\n\n: note\nevent: x\nid: 7\ndata: one\ndata: two\n\ndata:[DONE]\n\n';
const expected = ['{"a":"Zürich 東京 🚀"}', "one\ntwo", "[DONE]"];

function read(bytes: Uint8Array, cuts: readonly number[]): string[] {
  const reader = new SseReader();
  const events: string[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...reader.push(bytes.subarray(from, cut)));
    from = cut;
  }
  events.push(...reader.end());
  return events;
}

for (const [name, ending] of [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
] as const) {
  const bytes = new TextEncoder().encode(text.replaceAll("\n", ending));

  test(`reads ${name} streams cut in two at every byte`, () => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(read(bytes, [cut])).toEqual(expected);
  });

  test(`reads ${name} streams that arrive byte by byte`, () => {
    expect(read(bytes, [...bytes.keys()])).toEqual(expected);
  });
}

test("gives an event at the end of the stream although its blank line is missing", () => {
  expect(read(new TextEncoder().encode("data: a\n\ndata: [DONE]"), [])).toEqual(["a", "[DONE]"]);
});

test("gives nothing for a stream of comments, and no empty event for blank lines", () => {
  expect(read(new TextEncoder().encode(": a\n\n\n\n: b\n\n"), [])).toEqual([]);
});

test("refuses an event past its bound, in one line or in many", () => {
  const long = new SseReader(100);
  expect(() => long.push(new Uint8Array(101).fill(97))).toThrow(RangeError);
  const many = new SseReader(100);
  expect(() => {
    for (let line = 0; line < 30; line++) many.push(new TextEncoder().encode("data: abcdef\n"));
  }).toThrow(RangeError);
});

test("keeps no more than 16 MiB of one event unless told otherwise", () => {
  const reader = new SseReader();
  const piece = new Uint8Array(1024 * 1024).fill(97);
  for (let count = 0; count < 16; count++) reader.push(piece);
  expect(() => reader.push(piece)).toThrow(RangeError);
});

test("joins a long event that arrives in thousands of pieces", () => {
  const reader = new SseReader();
  const piece = new Uint8Array(1024).fill(97);
  reader.push(new TextEncoder().encode("data: "));
  for (let count = 0; count < 4096; count++) reader.push(piece);
  const [event] = reader.push(new TextEncoder().encode("\n\n"));
  expect(event?.length).toBe(4096 * 1024);
});
