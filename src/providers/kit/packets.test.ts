import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { PacketReader } from "./packets.ts";
import { FetchReply, type UpstreamReply, unpacked } from "./reply.ts";

const replyOf = (body: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  new FetchReply(new Response(body));

const packetsOf = (...sizes: readonly number[]) =>
  replyOf(
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const [at, size] of sizes.entries()) controller.enqueue(new Uint8Array(size).fill(at));
        controller.close();
      },
    }),
  );

/** To the end, with the turns of the event loop that others had meanwhile. */
async function readAll(reply: UpstreamReply) {
  const reader = new PacketReader(reply);
  const sizes: number[] = [];
  const bytes: number[] = [];
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  for (let piece = await reader.read(); piece !== undefined; piece = await reader.read()) {
    sizes.push(piece.length);
    bytes.push(piece[0] ?? -1);
  }
  isDone = true;
  return { sizes, bytes, turns };
}

test("a large packet comes in pieces, in order, and others have a turn between them", async () => {
  const { sizes, bytes, turns } = await readAll(packetsOf(3, 300_000, 5));
  expect(sizes).toEqual([3, 131_072, 131_072, 37_856, 5]);
  expect(bytes).toEqual([0, 1, 1, 1, 2]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("a small packet that unpacks to a large one comes in pieces with turns between them", async () => {
  const packed = gzipSync(Buffer.alloc(4_000_000, 7));
  const headers = { "content-encoding": "gzip" };
  const { sizes, turns } = await readAll(
    unpacked(new FetchReply(new Response(packed, { headers }))),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(4_000_000);
  expect(turns).toBeGreaterThanOrEqual(sizes.length);
});

test("one that is cancelled frees its body", async () => {
  const cancelled = Promise.withResolvers<string>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    cancel: () => cancelled.resolve("cancelled"),
  });
  new PacketReader(replyOf(body)).cancel();
  expect(await cancelled.promise).toBe("cancelled");
});
