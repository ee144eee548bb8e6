/** The queue in front of a collector that is real as far as bytes go, and as hostile as can be. */

import { afterEach, expect, test } from "bun:test";
import { createServer } from "node:net";
import { gunzipSync } from "node:zlib";
import { waitUntil } from "../../../test/setup/money-home.ts";
import { Batches, type BatchLimits, newCounts } from "./batches.ts";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Answer = (body: string) => Response | Promise<Response>;

function listen(answer: Answer): string {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: async (request) =>
      answer(gunzipSync(new Uint8Array(await request.arrayBuffer())).toString()),
  });
  stops.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

const fast: Partial<BatchLimits> = { everyMs: 5, firstBackoffMs: 1, longestBackoffMs: 5 };

function open(url: string, limits: Partial<BatchLimits> = {}, timeoutMs = 30_000) {
  const counts = newCounts();
  const states: (string | undefined)[] = [];
  const batches = new Batches<string>({
    signal: "logs",
    delivery: {
      url,
      headers: { authorization: "Bearer collector" },
      isCompressed: true,
      timeoutMs,
    },
    counts,
    encode: (item) => ({ json: JSON.stringify(item), count: 1 }),
    weigh: (item) => item.length,
    wrap: (records) => `[${records}]`,
    onState: (_, problem) => {
      if (states.at(-1) !== problem || states.length === 0) states.push(problem);
    },
    limits: { ...fast, ...limits },
  });
  stops.push(() => batches.close(0));
  return { batches, counts, states };
}

test("items arrive in their order, in batches of at most so many", async () => {
  const bodies: string[][] = [];
  const url = listen((body) => {
    bodies.push(JSON.parse(body));
    return Response.json({});
  });
  const { batches, counts } = open(url, { batchItems: 4 });
  const items = Array.from({ length: 10 }, (_, at) => `item ${at}`);
  for (const item of items) batches.add(item);
  await waitUntil("all items", () => counts.exported === 10);
  expect(bodies.flat()).toEqual(items);
  expect(Math.max(...bodies.map(({ length }) => length))).toBe(4);
});

test("what the collector wants later is sent again; what it refuses is not", async () => {
  const answers = [
    new Response("", { status: 503 }),
    new Response("", { status: 429, headers: { "retry-after": "0" } }),
    Response.json({}),
    new Response("no", { status: 500 }),
    new Response("no", { status: 400 }),
    new Response("", { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
  ];
  const bodies: string[] = [];
  const url = listen((body) => {
    bodies.push(body);
    return answers.shift() ?? Response.json({});
  });
  const { batches, counts, states } = open(url, { batchItems: 1 });
  for (const item of ["a", "b", "c", "d", "e"]) batches.add(item);
  await waitUntil("the last", () => counts.exported === 2);
  expect(bodies).toEqual(["a", "a", "a", "b", "c", "d", "e"].map((item) => `["${item}"]`));
  expect(counts.dropped).toEqual({ queue_full: 0, unavailable: 0, refused: 3, rate: 0 });
  expect(states).toEqual([
    "the collector returned 503",
    "the collector returned 429",
    undefined,
    "the collector returned 500",
    "the collector returned 400",
    "the collector returned 302",
    undefined,
  ]);
});

test("a collector that takes a part says how much it refused", async () => {
  const url = listen(() =>
    Response.json({ partialSuccess: { rejectedLogRecords: "2", errorMessage: "too old" } }),
  );
  const { batches, counts, states } = open(url);
  for (const item of ["a", "b", "c"]) batches.add(item);
  await waitUntil("the batch", () => counts.exported + counts.dropped.refused === 3);
  expect([counts.exported, counts.dropped.refused]).toEqual([1, 2]);
  expect(states).toEqual(["the collector refused a part: too old"]);
});

test("while the collector is away, the queue is bounded, and what is lost is counted", async () => {
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  const { promise: asked, resolve: hear } = Promise.withResolvers<void>();
  const url = listen(() => {
    hear();
    return gone.then(() => Response.json({}));
  });
  const { batches, counts } = open(url, { mostItems: 10, mostChars: 100, batchItems: 1 });
  batches.add("first");
  await asked;
  for (let at = 0; at < 25; at++) batches.add("x");
  expect([batches.size, counts.dropped.queue_full]).toEqual([10, 15]);
  batches.add("y".repeat(101));
  expect(counts.dropped.queue_full).toBe(16);
  leave();
  await waitUntil("the rest", () => counts.exported === 11);
});

test("a collector that stays away gets a batch a few times, and then the next", async () => {
  const server = createServer((socket) => socket.resetAndDestroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { batches, counts, states } = open(`http://127.0.0.1:${port}`, {
    batchItems: 1,
    mostTries: 3,
  });
  batches.add("a");
  batches.add("b");
  await waitUntil("the end of both", () => counts.dropped.unavailable === 2);
  expect(states.length).toBe(1);
  expect(states[0]).toStartWith("the collector cannot be reached: ");
});

test("a collector that never answers is given up after the time limit", async () => {
  const url = listen(() => new Promise<Response>(() => {}));
  const { batches, counts, states } = open(url, { mostTries: 1 }, 50);
  batches.add("a");
  await waitUntil("the end of the wait", () => counts.dropped.unavailable === 1);
  expect(states).toEqual(["the collector did not answer within 0.05 s"]);
});

test("of a reply without end, a small part is read", async () => {
  let sent = 0;
  const piece = new Uint8Array(64 * 1024);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const url = listen(
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            sent += piece.length;
            controller.enqueue(piece);
            await Bun.sleep(0);
          },
          cancel: () => leave(),
        }),
      ),
  );
  const { batches, counts } = open(url);
  batches.add("a");
  await waitUntil("the batch", () => counts.exported === 1);
  await left;
  expect(sent).toBeLessThan(60_000_000);
});

test("the end sends what is left, and waits no longer than it may", async () => {
  const bodies: string[] = [];
  const url = listen((body) => {
    bodies.push(body);
    return Response.json({});
  });
  const { batches, counts } = open(url, { everyMs: 3_600_000, batchItems: 2 });
  for (const item of ["a", "b", "c"].slice(0, 1)) batches.add(item);
  await batches.close(10_000);
  expect([bodies, counts.exported]).toEqual([['["a"]'], 1]);
  const silent = open(listen(() => new Promise<Response>(() => {})));
  for (const item of ["a", "b", "c"]) silent.batches.add(item);
  await silent.batches.close(20);
  const { refused, unavailable } = silent.counts.dropped;
  expect(refused + unavailable).toBe(3);
});
