import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { RawServer } from "../../../../test/fake/raw-server.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../../test/fake/upstream.ts";
import { CallSignal } from "../../../call/signal.ts";
import { Pool } from "./pool.ts";
import type { SocketReply } from "./socket-reply.ts";

const mib = 1024 * 1024;
const ok = "HTTP/1.1 200 OK\r\n";

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

const post = (to: Pool, body = "{}") =>
  to.send({ head: "POST / HTTP/1.1\r\nhost: x\r\n", body, signal: new CallSignal() });

/** All of it, with turns of the event loop before each piece. */
async function readSlowly(reply: SocketReply): Promise<number> {
  let sizeBytes = 0;
  for (;;) {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    const bytes = await reply.read();
    if (bytes === undefined) return sizeBytes;
    sizeBytes += bytes.length;
  }
}

/** Until a figure stays the same while other calls come and go. */
async function settled(figure: () => number): Promise<number> {
  const other = poolAt(Number(new URL(upstream.baseUrl).port));
  for (;;) {
    const before = figure();
    for (let turn = 0; turn < 50; turn++) {
      upstream.replyOnce(`${ok}content-length: 2\r\n\r\nok`);
      await (await post(other)).whole(10);
    }
    if (figure() === before) return before;
  }
}

describe("a server that is faster than its reader", () => {
  for (const [name, head, chunk] of [
    ["is slowed down", `${ok}content-length: ${256 * mib}\r\n\r\n`, Buffer.alloc(64 * 1024)],
    [
      "is slowed down by small chunks too",
      `${ok}transfer-encoding: chunked\r\n\r\n`,
      `64\r\n${"x".repeat(100)}\r\n`.repeat(1_000),
    ],
  ] as const)
    test(`${name}, and goes on when it is read`, async () => {
      const arriving = upstream.nextRequest();
      upstream.replyOnce([{ send: head }, { flood: 256 * mib, chunk }, { hang: true }]);
      const reply = await post(pool);
      const request = await arriving;
      // What fits into the sockets of both sides, and little more.
      const waitingBytes = await settled(() => request.bytesSent);
      expect(waitingBytes).toBeLessThan(32 * mib);
      for (let readBytes = 0; readBytes < 8 * mib; )
        readBytes += (await reply.read())?.length ?? Number.NaN;
      expect(request.bytesSent).toBeGreaterThan(waitingBytes);
      reply.cancel();
      await request.closed;
      expect(request.abortedByClient).toBe(true);
    });

  const size = 5 * mib;
  const body = Buffer.alloc(size, "x");
  for (const [name, head, end] of [
    ["a length", `${ok}content-length: ${size}\r\n\r\n`, ""],
    ["chunks", `${ok}transfer-encoding: chunked\r\n\r\n${size.toString(16)}\r\n`, "\r\n0\r\n\r\n"],
    ["the end of the connection", `${ok}\r\n`, ""],
  ] as const)
    test(`and closes behind the body is read to its end: ${name}`, async () => {
      upstream.replyOnce([{ send: head }, { send: body }, { send: end }, { close: true }]);
      expect(await readSlowly(await post(pool))).toBe(size);
    });

  test("and closes before the end of the body is read up to there, and then fails", async () => {
    upstream.replyOnce([
      { send: `${ok}content-length: ${size + 1}\r\n\r\n` },
      { send: body },
      { close: true },
    ]);
    const failure: unknown = await readSlowly(await post(pool)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "ConnectionClosed" });
  });
});

describe("a server that reads slowly gets the whole request", () => {
  /** Takes a packet, waits some turns of the event loop, and takes the next one. */
  async function received(body: string): Promise<string> {
    const whole = Promise.withResolvers<string>();
    const server = new RawServer({
      onOpen: ({ socket }) => socket.pause(),
      onData(connection) {
        const { received, socket } = connection;
        socket.pause();
        const start = received.indexOf("\r\n\r\n") + 4;
        const length = Number(/content-length: (\d+)/.exec(received)?.[1]);
        if (received.length < start + length) return setImmediate(() => socket.resume());
        whole.resolve(received.slice(start));
        return connection.send(`${ok}content-length: 2\r\n\r\nok`);
      },
    });
    const opening = server.nextConnection();
    const replying = post(poolAt(server.port), body);
    (await opening).socket.resume();
    expect((await (await replying).whole(10)).text).toBe("ok");
    server.stop();
    return whole.promise;
  }

  const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

  for (const [name, body] of [
    ["of eight million bytes", JSON.stringify({ text: "Grüße 👋 € \u0000".repeat(400_000) })],
    ["of some thousand bytes", JSON.stringify({ text: "Grüße 👋 €".repeat(2_000) })],
    ["of just as much as goes out at once", "é".repeat(32 * 1024)],
    ["of a byte more", `${"é".repeat(32 * 1024)}x`],
    ["with half a character", `"\ud83d"`],
  ] as const)
    test(name, async () => {
      const arrived = Buffer.from(await received(body), "latin1");
      expect(arrived.length).toBe(Buffer.byteLength(body));
      expect(digest(arrived)).toBe(digest(Buffer.from(body)));
    });
});
