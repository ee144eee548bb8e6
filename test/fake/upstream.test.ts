import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { httpReply } from "./http/reply.ts";
import { chatAnswers, chatStreams, httpChunk } from "./recordings.ts";
import { byteByByte, cutAfter, inPieces, pausedAfter } from "./script.ts";
import { type FakeUpstream, startFakeUpstream } from "./upstream.ts";

let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await startFakeUpstream();
});
beforeEach(() => upstream.reset());
afterAll(() => upstream.stop());

const GET = "GET /v1/models HTTP/1.1\r\nhost: fake\r\n\r\n";

function post(
  body: string | Uint8Array<ArrayBuffer> = "{}",
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${upstream.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "X-Probe": "Yes" },
    body,
    ...(signal === undefined ? {} : { signal }),
  });
}

async function connected(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(upstream.baseUrl).port), host: "127.0.0.1" });
  await once(socket, "connect");
  return socket;
}

/** Collects reads until the text has come. */
function readUntil(socket: Socket, text: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const reads: string[] = [];
    socket.once("error", reject);
    socket.on("data", (bytes: Buffer) => {
      reads.push(bytes.toString("latin1"));
      if (reads.join("").includes(text)) resolve(reads);
    });
  });
}

describe("requests", () => {
  test("of 40 MB are taken whole, and larger ones refused", async () => {
    upstream.replyWith(chatAnswers.plain());
    const limit = new Uint8Array(40 * 1024 * 1024).fill(0x61);
    expect((await post(limit)).status).toBe(200);
    expect(upstream.requests[0]?.body.length).toBe(limit.length);

    const socket = await connected();
    const refusal = readUntil(socket, "body too large");
    socket.write(`POST / HTTP/1.1\r\ncontent-length: ${limit.length + 1}\r\n\r\n`);
    expect((await refusal).join("")).toStartWith("HTTP/1.1 413 ");
    expect(upstream.requests.length).toBe(1);
  });

  test("with a chunked body are read in whatever split they come", async () => {
    upstream.replyWith(chatAnswers.plain());
    const socket = await connected();
    const arrival = upstream.nextRequest();
    const head = "POST /v1/x?y=1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const byte of Buffer.from(
      `${head}5;ext=1\r\nhello\r\n7\r\n, world\r\n0\r\nt: 1\r\n\r\n`,
    )) {
      socket.write(Uint8Array.of(byte));
      await new Promise(setImmediate);
    }
    const request = await arrival;
    expect(request.path).toBe("/v1/x?y=1");
    expect(request.body).toBe("hello, world");
    socket.destroy();
  });

  test("with two framings are refused, as request smuggling", async () => {
    const socket = await connected();
    const refusal = readUntil(socket, "both a length and chunks");
    socket.write("POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n");
    expect((await refusal).join("")).toStartWith("HTTP/1.1 400 ");
  });

  test("on one connection, even pipelined, are answered in order", async () => {
    upstream.replyOnce(httpReply({ body: ["first"], framing: "length" }));
    upstream.replyOnce(httpReply({ body: ["second"], framing: "chunked" }));
    upstream.replyOnce(httpReply({ body: ["third"], framing: "close" }));
    const socket = await connected();
    const reading = readUntil(socket, "third");
    const ended = once(socket, "end");
    socket.write(GET + GET + GET);
    const text = (await reading).join("");
    expect(text.match(/first|second|third/g)).toEqual(["first", "second", "third"]);
    await ended;
    expect(new Set(upstream.requests.map((request) => request.connection)).size).toBe(1);
  });
});

describe("replies", () => {
  test("sent byte by byte arrive as that many packets, not as one", async () => {
    const recording = chatStreams.multiByte();
    upstream.replyWith(byteByByte(recording));
    const socket = await connected();
    const reading = readUntil(socket, "\r\n0\r\n\r\n");
    socket.write(GET);
    const reads = await reading;
    expect(reads.join("")).toBe(Buffer.from(recording.bytes).toString("latin1"));
    // The kernel may join two packets that wait for one read.
    expect(reads.length).toBeGreaterThan(recording.bytes.length / 2);
    socket.destroy();
  });

  test("cut at an offset inside a character still decode to the same text", async () => {
    const recording = chatStreams.multiByte();
    const middleOfEmoji = Buffer.from(recording.bytes).indexOf("👋") + 2;
    upstream.replyWith(inPieces(recording, [recording.head.length, middleOfEmoji]));
    const socket = await connected();
    const reading = readUntil(socket, "\r\n0\r\n\r\n");
    socket.write(GET);
    const sizes = (await reading).map((read) => read.length);
    expect(sizes).toEqual([
      recording.head.length,
      middleOfEmoji - recording.head.length,
      recording.bytes.length - middleOfEmoji,
    ]);
    expect(await (await post()).text()).toContain("👋");
    socket.destroy();
  });

  test("hold back what lies behind a gate until it opens", async () => {
    const recording = chatStreams.openai({ pieces: ["early", "late"] });
    const gate = Promise.withResolvers<void>();
    upstream.replyWith(pausedAfter({ recording, parts: 2, until: gate.promise }));
    const reply = await post();
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of reply.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes("early") && !text.includes("[DONE]")) {
        expect(text).not.toContain("late");
        gate.resolve();
      }
    }
    expect(text).toContain("late");
    expect(text).toEndWith("data: [DONE]\n\n");
  });
});

describe("breaks", () => {
  test("by reset reach the client as ECONNRESET, after what it had read", async () => {
    const seen = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    upstream.replyWith(cutAfter({ recording, parts: 2, by: "reset", until: seen.promise }));
    const socket = await connected();
    const reading = readUntil(socket, "Hello");
    socket.write(GET);
    await reading;
    const broken = new Promise<NodeJS.ErrnoException>((resolve) => socket.once("error", resolve));
    seen.resolve();
    expect((await broken).code).toBe("ECONNRESET");
    expect(upstream.requests[0]?.abortedByClient).toBe(false);
  });

  test("by reset or by an early FIN fail a fetch in the middle of its body", async () => {
    for (const by of ["reset", "close"] as const) {
      upstream.replyOnce(cutAfter({ recording: chatStreams.openai(), parts: 2, by }));
      await expect(post().then((reply) => reply.text())).rejects.toThrow();
    }
  });
});

describe("a client that leaves", () => {
  test("in mid-reply, before the first byte or in a hang is seen at once", async () => {
    const recording = chatStreams.openai();
    const scripts = [
      cutAfter({ recording, parts: 2, by: "hang" }),
      [{ send: recording.head }],
      [{ until: new Promise(() => {}) }, { send: recording.bytes }],
      [],
    ];
    for (const script of scripts) {
      upstream.replyOnce(script);
      const arrival = upstream.nextRequest();
      const leave = new AbortController();
      const reply = post("{}", leave.signal).then((response) => response.text());
      reply.catch(() => {});
      const request = await arrival;
      expect(request.abortedByClient).toBe(false);
      leave.abort();
      await request.closed;
      expect(request.abortedByClient).toBe(true);
      await expect(reply).rejects.toThrow();
    }
  });

  test("by a reset is seen too", async () => {
    upstream.replyWith([{ hang: true }]);
    const arrival = upstream.nextRequest();
    const socket = await connected();
    socket.write(GET);
    const request = await arrival;
    socket.resetAndDestroy();
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  test("after the whole reply has not aborted anything", async () => {
    // The connection stays busy behind the reply, so that leaving is what ends it.
    upstream.replyWith([{ send: chatStreams.openai().bytes }, { hang: true }]);
    const socket = await connected();
    const reading = readUntil(socket, "\r\n0\r\n\r\n");
    socket.write(GET);
    await reading;
    const closed = once(socket, "close");
    socket.destroy();
    await closed;
    await upstream.requests[0]?.closed;
    expect(upstream.requests[0]?.abortedByClient).toBe(false);
  });
});

describe("a flood", () => {
  const FLOOD_BYTES = 64 * 1024 * 1024;
  const reply = httpReply({ body: [], framing: "chunked" });
  const flood = [
    { send: reply.head },
    { flood: FLOOD_BYTES, chunk: httpChunk(Buffer.alloc(64 * 1024 - 8, 0x78)) },
    { send: reply.end },
  ];

  test("stands still for a client that does not read, while another gets all of it", async () => {
    upstream.replyWith(flood);
    const socket = await connected();
    socket.pause();
    const arrival = upstream.nextRequest();
    socket.write(GET);
    const stalled = await arrival;

    const body = await (await post()).bytes();
    expect(body.length).toBeGreaterThanOrEqual(FLOOD_BYTES - 64 * 1024 * 8);
    expect(upstream.requests[1]?.bytesSent).toBeGreaterThanOrEqual(FLOOD_BYTES);
    // What the kernel's two buffers take on loopback is a few megabytes.
    expect(stalled.bytesSent).toBeGreaterThan(0);
    expect(stalled.bytesSent).toBeLessThan(FLOOD_BYTES / 4);

    socket.destroy();
    await stalled.closed;
    expect(stalled.abortedByClient).toBe(true);
    expect(stalled.bytesSent).toBeLessThan(FLOOD_BYTES / 4);
  });
});
