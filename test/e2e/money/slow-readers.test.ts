/** A caller who takes a reply so slowly that its call's time is up pays for what was produced. */

import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { monotonicMs } from "../../../src/base/clock.ts";
import { chatChunk, chatStream, httpChunk, speechReplies } from "../../fake/recordings.ts";
import type { Script } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";
import { formOf, speechFile } from "../transcription/form.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", allow_private: true }
models:
  chat: { endpoint: chat, price: { input: "0.30", output: "2.50" }, max_output_tokens: 10000000, routes: [{ provider: fake, model: c }] }
  speech: { endpoint: speech, price: { input: "0.50", audio_output: "10.00" }, routes: [{ provider: fake, model: s, voices: same }] }
  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: w }] }
`;
let passedMs = 0;
const clock = { nowMs: () => Date.now(), elapsedMs: () => monotonicMs() + passedMs };
const gateway = useTestGateway({ manifest, clock, environment: { SVC_MAX_CALL_S: "600" } });
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** More than the buffers on the way hold. */
const floodBytes = 24 * 1024 * 1024;
const delta = `data: {"type":"transcript.text.delta","delta":"word "}\n\n`;
const chunk = chatChunk({ delta: { content: "word ".repeat(100) } });
const samples = speechReplies.pcmChunked({ seconds: 320, partBytes: 64_000 });

const replies: Readonly<Record<string, { readonly request: Request; readonly script: Script }>> = {
  "a transcript": {
    request: new Request("http://x/v1/audio/transcriptions", {
      method: "POST",
      body: formOf({ model: "whisper", file: speechFile(), stream: "true" }),
    }),
    script: [
      { send: chatStream({ events: [] }).head },
      { flood: floodBytes, chunk: httpChunk(delta.repeat(1_000)) },
      { hang: true },
    ],
  },
  "a chat": {
    request: new Request("http://x/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "chat",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    }),
    script: [
      { send: chatStream({ events: [] }).head },
      { flood: floodBytes, chunk: httpChunk(`data: ${JSON.stringify(chunk)}\n\n`.repeat(100)) },
      { hang: true },
    ],
  },
  "an audio stream": {
    request: new Request("http://x/v1/audio/speech", {
      method: "POST",
      headers: { "content-type": "application/json" },
      // Speech is broken off when it is far longer than its text.
      body: JSON.stringify({ model: "speech", input: "x".repeat(1_280), voice: "Kore" }),
    }),
    script: [{ send: Buffer.concat([samples.head, ...samples.parts]) }, { hang: true }],
  },
};

/** Sends a request on a bare socket, reads the start of the reply, and no more. */
async function readSlowly(payer: Payer, request: Request): Promise<void> {
  const body = Buffer.from(await request.clone().arrayBuffer());
  const { hostname, port } = new URL(gateway.baseUrl);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    [
      `POST ${new URL(request.url).pathname} HTTP/1.1`,
      "host: x",
      `authorization: Bearer ${payer.key}`,
      `content-type: ${request.headers.get("content-type")}`,
      `content-length: ${body.length}\r\n\r\n`,
    ].join("\r\n"),
  );
  socket.write(body);
  const [start] = await once(socket, "data");
  socket.pause();
  expect(String(start)).toStartWith("HTTP/1.1 200 ");
}

/** The upstream gets rid of nothing more: all buffers on the way are full. */
async function untilStuck(request: RecordedRequest): Promise<void> {
  let sentBytes = -1;
  for (let turn = 0; turn < 20; turn++) {
    if (request.bytesSent !== sentBytes) turn = 0;
    sentBytes = request.bytesSent;
    await Bun.sleep(5);
  }
}

describe("a caller who lets the time of a call run out pays for what was produced of", () => {
  for (const [name, { request, script }] of Object.entries(replies))
    test(`${name}, and the provider is not blamed`, async () => {
      const payer = await openPayer(gateway);
      gateway.upstream.replyWith(script);
      const arrived = gateway.upstream.nextRequest();
      await readSlowly(payer, request);
      await untilStuck(await arrived);
      passedMs += 600_000;
      const { outcome, charged, attempts } = await payer.receipt();
      expect({ outcome, attempts }).toEqual({ outcome: "left", attempts: expect.any(String) });
      expect(attempts).not.toContain("upstream_timeout");
      if (name === "a transcript") expect(charged).toBe(400_000n);
      else expect(charged > 100_000n).toBe(true);
    });
});
