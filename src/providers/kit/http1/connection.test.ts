import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Framing, httpReply } from "../../../../test/fake/http/reply.ts";
import { startAnswering } from "../../../../test/fake/raw-server.ts";
import { inPieces, type Reply } from "../../../../test/fake/script.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../../test/fake/upstream.ts";
import { failureOf } from "../../../../test/providers/failure-of.ts";
import { CallSignal } from "../../../call/signal.ts";
import { ConnectionError } from "./connection.ts";
import { Pool } from "./pool.ts";
import { MalformedReplyError } from "./reply-head.ts";

let upstream: FakeUpstream;
let pool: Pool;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.reset();
  pool = poolAt(Number(new URL(upstream.baseUrl).port));
});

const poolAt = (port: number) =>
  new Pool({ hostname: "127.0.0.1", port, serverName: undefined, unix: undefined });

const send = () =>
  pool.send({
    head: "POST /v1/x HTTP/1.1\r\nhost: acme.example\r\n",
    body: "{}",
    signal: new CallSignal(),
  });

async function ask(reply: Reply): Promise<string> {
  upstream.replyOnce(reply);
  const { status, body } = await heard();
  expect(status).toBe(200);
  return body;
}

async function heard() {
  const reply = await send();
  const body = (await reply.whole(10_000_000)).text;
  return { status: reply.status, contentType: reply.headers.get("content-type"), body };
}

const get = () =>
  pool.send({ head: "GET / HTTP/1.1\r\n", body: undefined, signal: new CallSignal() });
const failed = (error: unknown) => (error instanceof Error ? error.name : "no error");

const framings = ["length", "chunked", "close"] as const;
const pieces = ['data: {"text":"Grüße"}\n\n', "data: 👋\n\n", "data: [DONE]\n\n"];
const body = pieces.join("");
const headers = { "content-type": "text/event-stream" };
const recordingOf = (framing: Framing) => httpReply({ headers, body: pieces, framing });

for (const framing of framings)
  describe(`a reply whose end is told by ${framing}`, () => {
    const recording = recordingOf(framing);
    const { bytes } = recording;
    const whole = { status: 200, contentType: "text/event-stream", body };

    test("is the same wherever its packets are cut", async () => {
      for (let at = 1; at < bytes.length; at++) {
        upstream.replyOnce(inPieces(recording, [at]));
        expect(await heard()).toEqual(whole);
      }
    });

    test("is the same behind interim replies, wherever they are cut", async () => {
      const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
      const both = Buffer.concat([Buffer.from(interim), bytes]);
      for (let at = 1; at <= interim.length; at++) {
        upstream.replyOnce([{ send: both, pieces: [at] }, { close: true }]);
        expect(await heard()).toEqual(whole);
        // The fake closes it, because it takes the interim reply for the whole one.
        pool = poolAt(Number(new URL(upstream.baseUrl).port));
      }
      upstream.replyOnce([{ send: both, everyByte: true }, { close: true }]);
      expect(await heard()).toEqual(whole);
    });

    test("fails if it is cut off, and never looks complete", async () => {
      // What ends with the connection is complete wherever that ends, once its head is.
      const until = framing === "close" ? recording.head.length : bytes.length;
      for (let at = 0; at < until; at++) {
        upstream.replyOnce([{ send: bytes.subarray(0, at) }, { close: true }]);
        expect(await failureOf(heard())).toBeInstanceOf(ConnectionError);
      }
    });

    test("fails if the connection is reset, and what came before can be read", async () => {
      const seen = Promise.withResolvers<void>();
      const part = bytes.subarray(0, recording.head.length + (recording.parts[0]?.length ?? 0));
      upstream.replyOnce([{ send: part }, { until: seen.promise }, { reset: true }]);
      const reply = await send();
      expect(Buffer.from((await reply.read()) ?? []).toString()).toBe(pieces[0] ?? "");
      seen.resolve();
      expect(await failureOf(reply.read())).toBeInstanceOf(ConnectionError);
      // Whoever reads on hears it again.
      expect(await failureOf(reply.read())).toBeInstanceOf(ConnectionError);
    });
  });

test("a reply without a body is whole at once", async () => {
  expect(await ask("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).toBe("");
  expect(await ask("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")).toBe("");
  upstream.replyOnce("HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n");
  const reply = await send();
  expect(reply.isEnded).toBe(true);
  expect(await reply.read()).toBeUndefined();
});

test("a body that is malformed fails, whether it comes along with its head or behind it", async () => {
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const rest of ["zz\r\n", "5\r\nhello!!", "0\r\n\n"])
    for (const cuts of [[], [head.length], [head.length + 1]]) {
      upstream.replyOnce([{ send: head + rest, pieces: cuts }, { hang: true }]);
      expect(await failureOf(heard())).toBeInstanceOf(MalformedReplyError);
    }
});

test("a body that is longer than may be is left, whether its length is told or not", async () => {
  for (const framing of framings) {
    const arriving = upstream.nextRequest();
    const { bytes } = httpReply({ body: ["x".repeat(2_000)], framing });
    // Its last byte does not come: nothing else ends it.
    upstream.replyOnce([{ send: bytes.subarray(0, -1) }, { hang: true }]);
    const reply = await send();
    await expect(reply.whole(1_000)).rejects.toThrow(RangeError);
    const request = await arriving;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  }
});

describe("a server that speaks something else is left at once", () => {
  for (const [name, bytes] of [
    ["SSH", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["SMTP", "220 mail.acme.example ESMTP\r\n"],
    ["TLS", "\x15\x03\x01\x00\x02\x02\x0a"],
    ["HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00"],
    ["a bare line", "\r\n"],
    ["HTTP in lower case", "http/1.1"],
    ["nothing that is known", "x"],
  ] as const)
    test(name, async () => {
      const arriving = upstream.nextRequest();
      upstream.replyOnce([{ send: bytes, everyByte: true }, { hang: true }]);
      expect(await failureOf(send())).toBeInstanceOf(MalformedReplyError);
      await (await arriving).closed;
    });
});

test("a switch to another protocol is a failure", async () => {
  upstream.replyOnce([
    { send: "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n" },
    { hang: true },
  ]);
  expect(await failureOf(send())).toBeInstanceOf(MalformedReplyError);
});

describe("what never ends is left where it is too much", () => {
  const ok = "HTTP/1.1 200 OK\r\n";
  for (const [name, opening, chunk] of [
    ["a head of one line", `${ok}a: `, "a"],
    ["a head of many lines", ok, "a: b\r\n"],
    ["a reason", "HTTP/1.1 200 ", "a"],
  ] as const)
    test(name, async () => {
      const arriving = upstream.nextRequest();
      const block = chunk.repeat(Math.ceil(10_000 / chunk.length));
      upstream.replyOnce([
        { send: opening },
        { flood: 64 * 1024 * 1024, chunk: block },
        { hang: true },
      ]);
      expect(await failureOf(heard())).toBeInstanceOf(MalformedReplyError);
      const request = await arriving;
      await request.closed;
      expect(request.abortedByClient).toBe(true);
      // Most of it is what fits into the sockets of both sides.
      expect(request.bytesSent).toBeLessThan(32 * 1024 * 1024);
    });

  test("interim replies", async () => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\n";
    for (const [count, isTooMuch] of [
      [10, false],
      [11, true],
      [20_000, true],
    ] as const) {
      const server = startAnswering(`${interim.repeat(count)}${ok}content-length: 2\r\n\r\nok`);
      pool = poolAt(server.port);
      const opening = server.nextConnection();
      const said = get().then(({ status }) => status, failed);
      expect(await said).toBe(isTooMuch ? "MalformedReplyError" : 200);
      if (isTooMuch) await (await opening).closed;
      server.stop();
    }
  });

  test("a head that is too long, though it has an end", async () => {
    const head = (sizeBytes: number) => `${ok}content-length: 2\r\na: ${"b".repeat(sizeBytes)}`;
    expect(await ask(`${head(64 * 1024 - 100)}\r\n\r\nok`)).toBe("ok");
    upstream.replyOnce(`${head(64 * 1024)}\r\n\r\nok`);
    expect(await failureOf(heard())).toBeInstanceOf(MalformedReplyError);
  });
});
