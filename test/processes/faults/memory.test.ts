/**
 * What a reader that does not read costs: nothing that grows. The gateway is a process of its own
 * here, so that its memory can be measured from outside.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import {
  chatAnswers,
  chatChunk,
  chatStream,
  chatStreams,
  DONE,
  httpChunk,
} from "../../fake/recordings.ts";
import { pausedAfter, type Script } from "../../fake/script.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../../fake/upstream.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";

const megabyte = 1024 * 1024;
const floodBytes = 500 * megabyte;
/** Bun sends at most 256 requests at once unless it is told this before it starts. */
const unlimited = { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", FAKE_KEY: "vendor-secret" };

let upstream: FakeUpstream;
let home: Home;
let server: ChildServer;
let key: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  home = createHome({ isProcess: true });
  home.writeConfig(`
providers:
  fake: { kind: openai, base_url: "${upstream.baseUrl}", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: fake, model: m }] }
`);
  server = await home.serve({
    ...unlimited,
    SVC_LOG_LEVEL: "silent",
    SVC_READER_S: "12",
    SVC_GRACE_S: "600",
  });
  key = server.key ?? "";
});
afterAll(async () => {
  await home.remove();
  await upstream.stop();
});
beforeEach(() => upstream.reset());

const bodyOf = (content: string, stream: boolean) =>
  JSON.stringify({ model: "svc-3-flash", messages: [{ role: "user", content }], stream });

function request(body: string): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** A caller on a bare socket, which does not read unless told to. */
async function openCall(content = "x"): Promise<Socket> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.pause();
  socket.write(request(bodyOf(content, true)));
  return socket;
}

function post(body: string): Promise<Response> {
  return fetch(`${server.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
}

/** Goes all the way through the gateway and back. */
async function completeCall(): Promise<void> {
  const response = await post(bodyOf("x", false));
  expect(await response.json()).toHaveProperty("choices");
}

/**
 * Standing still is seen, not waited for: whole calls pass through the same gateway, and the
 * flooded one gets no further meanwhile.
 */
async function untilStalled(flooded: RecordedRequest): Promise<void> {
  const enough = 30;
  let quiet = 0;
  let sentBytes = -1;
  while (quiet < enough) {
    await completeCall();
    quiet = flooded.bytesSent === sentBytes ? quiet + 1 : 0;
    sentBytes = flooded.bytesSent;
    if (sentBytes >= floodBytes) return;
  }
}

async function residentBytes(): Promise<number> {
  const child = Bun.spawn(["ps", "-o", "rss=", "-p", String(server.pid)]);
  return Number(await new Response(child.stdout).text()) * 1024;
}

/** So many bytes of good events, as a stream without end. */
function flood(sizeBytes: number): Script {
  const { head } = chatStream({ events: [] });
  const event = `data: ${JSON.stringify(chatChunk({ delta: { content: "x".repeat(200) } }))}\n\n`;
  const chunk = Buffer.concat(Array.from({ length: 100 }, () => httpChunk(event)));
  return [{ send: head }, { flood: sizeBytes, chunk }];
}

/** What the runtime allocates once for large streams is there before the measurement. */
async function warmUp(): Promise<void> {
  const end = httpChunk(`data: ${JSON.stringify(chatChunk({ finish: "stop" }))}\n\n${DONE}\n\n`);
  upstream.replyOnce([...flood(30 * megabyte), { send: end }, { send: "0\r\n\r\n" }]);
  const response = await post(bodyOf("x", true));
  let readBytes = 0;
  for await (const bytes of response.body ?? []) readBytes += bytes.length;
  expect(readBytes).toBeGreaterThan(15 * megabyte);
}

interface StuckReader {
  readonly flooded: RecordedRequest;
  /** Reads on, and resolves when the connection is closed. */
  readonly readOn: () => Promise<void>;
}

/** A caller that asks for 500 MB and does not read; resolves when nothing moves any more. */
async function openStuckReader(): Promise<StuckReader> {
  upstream.replyOnce(flood(floodBytes));
  upstream.replyWith(chatAnswers.plain());
  const arrival = upstream.nextRequest();
  const socket = await openCall();
  const closed = new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
  const flooded = await arrival;
  await untilStalled(flooded);
  expect(flooded.abortedByClient).toBe(false);
  expect(flooded.bytesSent).toBeGreaterThan(0);
  const readOn = async () => {
    socket.resume();
    await closed;
  };
  return { flooded, readOn };
}

test("readers that stop reading slow their upstreams instead of filling memory, and are dropped", async () => {
  await warmUp();
  const first = await openStuckReader();
  // The runtime's heap moves by some megabytes on its own account: what a reader costs is seen by
  // how much several more of them cost.
  const beforeBytes = await residentBytes();
  const more: StuckReader[] = [];
  for (let count = 0; count < 8; count++) more.push(await openStuckReader());
  const eachBytes = ((await residentBytes()) - beforeBytes) / more.length;
  expect(eachBytes).toBeLessThan(12 * megabyte);

  // SVC_READER_S later the readers have left, as far as the gateway is concerned.
  for (const { flooded, readOn } of [first, ...more]) {
    await flooded.closed;
    expect(flooded.abortedByClient).toBe(true);
    expect(flooded.bytesSent).toBeLessThan(floodBytes / 10);
    await readOn();
  }
  await completeCall();
});

test("300 streams, a third of them left in the middle, leave nothing behind", async () => {
  const gate = Promise.withResolvers<void>();
  const recording = chatStreams.openai();
  upstream.replyWith(pausedAfter({ recording, parts: 2, until: gate.promise }));
  const callers = await Promise.all(Array.from({ length: 300 }, (_, at) => openReading(at)));
  await Promise.all(callers.map(({ until }) => until("Hello")));

  const byCaller = (leaves: boolean) =>
    upstream.requests.filter(({ body }) => leavesOf(body) === leaves);
  for (const [at, { socket }] of callers.entries()) if (leavesOf(contentOf(at))) socket.destroy();
  await Promise.all(byCaller(true).map(({ closed }) => closed));
  expect(byCaller(true).map(({ abortedByClient }) => abortedByClient)).toEqual(
    Array(100).fill(true),
  );

  gate.resolve();
  const staying = callers.filter((_, at) => !leavesOf(contentOf(at)));
  await Promise.all(staying.map(({ until }) => until("data: [DONE]")));
  expect(byCaller(false).map(({ abortedByClient }) => abortedByClient)).toEqual(
    Array(200).fill(false),
  );
  for (const { socket } of staying) socket.destroy();
  // A call that was left behind would hold this back for the length of SVC_GRACE_S.
  expect(await server.stop()).toBe(0);
});

/** Every third caller leaves. */
const contentOf = (at: number) => (at % 3 === 0 ? "I leave" : "I stay");
const leavesOf = (text: string) => text.includes("I leave");

async function openReading(at: number) {
  const socket = await openCall(contentOf(at));
  let text = "";
  let wake = () => {};
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString();
    wake();
  });
  socket.resume();
  const until = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
  };
  return { socket, until };
}
