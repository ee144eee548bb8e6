import { expect, test } from "bun:test";
import { PacketReader } from "./packets.ts";
import { FetchReply } from "./reply.ts";

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

test("a large packet comes in pieces, in order, and others have a turn between them", async () => {
  const reader = new PacketReader(packetsOf(3, 300_000, 5));
  const sizes: number[] = [];
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const bytes: number[] = [];
  for (let piece = await reader.read(); piece !== undefined; piece = await reader.read()) {
    sizes.push(piece.length);
    bytes.push(piece[0] ?? -1);
  }
  isDone = true;
  expect(sizes).toEqual([3, 131_072, 131_072, 37_856, 5]);
  expect(bytes).toEqual([0, 1, 1, 1, 2]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("one that is cancelled frees its body", async () => {
  const cancelled = Promise.withResolvers<string>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    cancel: () => cancelled.resolve("cancelled"),
  });
  new PacketReader(replyOf(body)).cancel();
  expect(await cancelled.promise).toBe("cancelled");
});
