import { afterEach, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };

let gateway: TestGateway;
let stopping: Promise<void> | undefined;
beforeEach(async () => {
  stopping = undefined;
  gateway = await startTestGateway();
});
afterEach(() => stop());

/** Once, whoever asks. */
const stop = () => (stopping ??= gateway.stop());

/** A connection by hand, and all that has come on it. */
async function openConnection() {
  const socket = connect(Number(new URL(gateway.origin).port), "127.0.0.1");
  const pieces: Buffer[] = [];
  const text = () => Buffer.concat(pieces).toString("latin1");
  socket.on("data", (bytes: Buffer) => pieces.push(bytes));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // A connection that is reset has ended: what had come by then is what was said.
  socket.on("error", () => {});
  await once(socket, "connect");
  return {
    write: (words: string) => void socket.write(words),
    /** What had come when this was among it, or when the connection closed. */
    async said(wanted: string): Promise<string> {
      while (!text().includes(wanted) && !socket.closed)
        await Promise.race([new Promise((resolve) => socket.once("data", resolve)), closed]);
      return text();
    },
    close: () => void socket.destroy(),
  };
}

test("a new call on a connection that outlives the beginning of the stop is told 503, and not served", async () => {
  const rest = Promise.withResolvers<void>();
  const recording = chatStreams.openai();
  gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: rest.promise }));
  gateway.upstream.replyWith(chatAnswers.plain());
  // A stream that is under way keeps the gateway from ending.
  const running = new BodyReader(
    await gateway.call("/chat/completions", { ...chat, stream: true }),
  );
  await running.until("Hello");
  const body = JSON.stringify(chat);
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${gateway.key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ].join("\r\n");
  const caller = await openConnection();
  // The runtime closes what is idle; half a head makes it wait for the other half.
  caller.write(head.slice(0, 60));
  // What comes first is read first: when a later caller is answered, the half head was read.
  const later = await openConnection();
  later.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await later.said('{"status":"ok"}')).toStartWith("HTTP/1.1 200 ");
  later.close();

  const stopped = stop();
  // Until its port is closed, the gateway serves what it accepts.
  await waitUntil("the port to be closed", () =>
    fetch(`${gateway.origin}/healthz`, { headers: { connection: "close" } }).then(
      () => false,
      () => true,
    ),
  );
  caller.write(`${head.slice(60)}\r\n\r\n${body}`);
  const said = await caller.said("}");
  caller.close();
  rest.resolve();
  expect(said).toStartWith("HTTP/1.1 503 ");
  expect(said).toContain('"code":"shutting_down"');
  expect(said).toContain("\r\nretry-after: 1\r\n");
  expect(gateway.upstream.requests).toHaveLength(1);
  expect(await running.rest()).toEndWith("data: [DONE]\n\n");
  await stopped;
});
