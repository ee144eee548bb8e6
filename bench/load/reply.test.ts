import { describe, expect, test } from "bun:test";
import { type Encoding, embeddingsReply, speechReply } from "./media-traffic.ts";
import { createReplyReader, type Expected, type Verdict } from "./reply.ts";
import { chatReply, streamChunk, streamEnd, streamStart, upstreamModel } from "./traffic.ts";

const chat: Expected = { kind: "chat", model: upstreamModel };
const stream: Expected = { kind: "stream", chunks: 3 };
const wholeStream = Buffer.concat([streamStart, streamChunk, streamChunk, streamEnd]);

/** Fed in pieces of this size; the verdict on the last piece. */
function readIn(
  pieceBytes: number,
  { expected, bytes }: { expected: Expected; bytes: Buffer },
): Verdict {
  const reply = createReplyReader(expected);
  let verdict: Verdict = "unfinished";
  for (let at = 0; at < bytes.length && verdict === "unfinished"; at += pieceBytes) {
    verdict = reply.read(bytes.subarray(at, at + pieceBytes));
  }
  return verdict;
}

/** As a proxy sends it that does not know the length in advance. */
function chunked(reply: Buffer): Buffer {
  const bodyStart = reply.indexOf("\r\n\r\n") + 4;
  const middle = bodyStart + Math.floor((reply.length - bodyStart) / 2);
  const pieces = [reply.subarray(bodyStart, middle), reply.subarray(middle)];
  return Buffer.concat([
    Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ...pieces.flatMap((piece) => [
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from("\r\n"),
    ]),
    Buffer.from("0\r\n\r\n"),
  ]);
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
  const reply = createReplyReader(stream);
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

describe("embeddings and speech", () => {
  const embeddings = (encoding: Encoding): Expected => ({ kind: "embeddings", encoding });
  const right: [string, Expected, Buffer][] = [
    ["vectors as numbers", embeddings("float"), embeddingsReply("float")],
    ["vectors in base64", embeddings("base64"), embeddingsReply("base64")],
    ["audio", { kind: "speech" }, speechReply],
  ];
  for (const [name, expected, bytes] of right) {
    test(`accepts ${name}`, () => {
      for (const pieceBytes of [60_000, 100_000_000]) {
        expect(readIn(pieceBytes, { expected, bytes })).toBe("whole");
        expect(readIn(pieceBytes, { expected, bytes: chunked(bytes) })).toBe("whole");
      }
      expect(readIn(1, { expected: { kind: "speech" }, bytes: chunked(speechReply) })).toBe(
        "whole",
      );
    });
    test(`waits for the rest of ${name}`, () => {
      const cut = bytes.subarray(0, -1);
      expect(readIn(100_000_000, { expected, bytes: cut })).toBe("unfinished");
    });
  }

  test("accepts numbers that were float32 in between", () => {
    const bytes = embeddingsReply("float");
    const bodyStart = bytes.indexOf("\r\n\r\n") + 4;
    const reply = JSON.parse(bytes.toString("latin1", bodyStart));
    for (const row of reply.data) row.embedding = row.embedding.map(Math.fround);
    const json = Buffer.from(JSON.stringify(reply));
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${json.length}\r\n\r\n`);
    const whole = Buffer.concat([head, json]);
    expect(readIn(100_000, { expected: embeddings("float"), bytes: whole })).toBe("whole");
  });

  test("refuses a reply after right ones", () => {
    const reply = createReplyReader({ kind: "speech" });
    expect(reply.read(speechReply)).toBe("whole");
    reply.restart();
    expect(reply.read(Buffer.from(speechReply))).toBe("whole");
    reply.restart();
    const wrong = Buffer.from(speechReply);
    wrong[wrong.length - 1] = (wrong.at(-1) ?? 0) ^ 1;
    expect(reply.read(wrong)).toHaveProperty("wrong");
  });

  const wrong: [string, Expected, Buffer][] = [
    ["numbers where base64 was due", embeddings("base64"), embeddingsReply("float")],
    ["base64 where numbers were due", embeddings("float"), embeddingsReply("base64")],
    ["another number", embeddings("float"), edited(embeddingsReply("float"), "[0.0", "[0.1")],
    ["another order", embeddings("float"), edited(embeddingsReply("float"), ':42,"e', ':43,"e')],
    ["another status", { kind: "speech" }, edited(speechReply, "200 OK", "500 Oh")],
    ["a chat reply", { kind: "speech" }, chatReply],
  ];
  for (const [name, expected, bytes] of wrong) {
    test(`refuses ${name}`, () => {
      expect(readIn(100_000_000, { expected, bytes })).toHaveProperty("wrong");
    });
  }
});

test("a refusal is neither whole nor wrong", () => {
  const refusal = Buffer.from("HTTP/1.1 429 Slow down\r\nContent-Length: 2\r\n\r\n{}");
  for (const expected of [chat, stream, { kind: "speech" } as const]) {
    expect(readIn(7, { expected, bytes: refusal })).toEqual({ refused: 429 });
  }
});
