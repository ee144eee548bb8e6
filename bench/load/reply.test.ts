import { describe, expect, test } from "bun:test";
import { type Expected, Reply, type Verdict } from "./reply.ts";
import { chatReply, streamChunk, streamEnd, streamStart, upstreamModel } from "./traffic.ts";

const chat: Expected = { kind: "chat", model: upstreamModel };
const stream: Expected = { kind: "stream", chunks: 3 };
const wholeStream = Buffer.concat([streamStart, streamChunk, streamChunk, streamEnd]);

/** Fed in pieces of so many bytes; the verdict on the last piece. */
function readIn(
  pieceBytes: number,
  { expected, bytes }: { expected: Expected; bytes: Buffer },
): Verdict {
  const reply = new Reply(expected);
  let verdict: Verdict = "unfinished";
  for (let at = 0; at < bytes.length && verdict === "unfinished"; at += pieceBytes) {
    verdict = reply.read(bytes.subarray(at, at + pieceBytes));
  }
  return verdict;
}

function edited(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString("latin1");
  expect(text).toContain(from);
  return Buffer.from(text.replace(from, to), "latin1");
}

describe("accepts, wherever packets cut it", () => {
  for (const pieceBytes of [1, 2, 7, 100, 100_000]) {
    test(`a chat reply in pieces of ${pieceBytes}`, () => {
      expect(readIn(pieceBytes, { expected: chat, bytes: chatReply })).toBe("whole");
    });
    test(`a stream in pieces of ${pieceBytes}`, () => {
      expect(readIn(pieceBytes, { expected: stream, bytes: wholeStream })).toBe("whole");
    });
  }
});

test("reads one reply after another", () => {
  const reply = new Reply(stream);
  for (let round = 0; round < 3; round++) {
    reply.restart();
    expect(reply.read(wholeStream)).toBe("whole");
    expect(reply.chunks).toBe(3);
  }
});

describe("refuses", () => {
  const cases: [string, Expected, Buffer][] = [
    ["another status", chat, edited(chatReply, "200 OK", "500 Oh")],
    ["another model", { kind: "chat", model: "other" }, chatReply],
    ["another text", chat, edited(chatReply, "lorem-ipsum", "dolor-samet")],
    ["more bytes than announced", chat, Buffer.concat([chatReply, Buffer.from("}")])],
    ["a stream with a chunk too few", stream, Buffer.concat([streamStart, streamChunk, streamEnd])],
    ["a stream with a chunk too many", { kind: "stream", chunks: 2 }, wholeStream],
    ["a stream that ends cleanly without [DONE]", stream, edited(wholeStream, "[DONE]", "[OVER]")],
    ["a stream where a chat reply was due", chat, wholeStream],
    ["a chat reply where a stream was due", stream, chatReply],
  ];
  for (const [name, expected, bytes] of cases) {
    test(name, () => {
      expect(readIn(100_000, { expected, bytes })).toHaveProperty("wrong");
    });
  }
});

test("waits for the rest of a cut reply", () => {
  expect(readIn(100_000, { expected: chat, bytes: chatReply.subarray(0, -1) })).toBe("unfinished");
  expect(readIn(100_000, { expected: stream, bytes: wholeStream.subarray(0, -1) })).toBe(
    "unfinished",
  );
});
