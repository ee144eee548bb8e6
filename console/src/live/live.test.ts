import { expect, test } from "bun:test";
import { readEvents } from "./live.ts";

async function eventsOf(...pieces: readonly string[]) {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  return Array.fromAsync(readEvents(body));
}

test("events are read however they are cut; comments and other fields are none", async () => {
  const text =
    'retry: 2000\n\nevent: news\ndata: {"count":1}\n\n: still here\n\ndata: a\ndata: b\n\n';
  const expected = [
    { type: "news", data: '{"count":1}' },
    { type: "message", data: "a\nb" },
  ];
  expect(await eventsOf(text)).toEqual(expected);
  expect(await eventsOf(...text)).toEqual(expected);
});

test("an event that is cut off by the end is none", async () => {
  expect(await eventsOf("event: news\ndata: 1\n\nevent: news\ndata: 2\n")).toEqual([
    { type: "news", data: "1" },
  ]);
});

test("an event without end is not kept", async () => {
  await expect(eventsOf("data: ", "x".repeat(4_000_001))).rejects.toThrow("exceeds the size limit");
});
