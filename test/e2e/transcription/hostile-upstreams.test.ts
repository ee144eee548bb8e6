/** Upstreams that send too much, nonsense or lies: a clear error, a bounded reply, the same bill. */

import { beforeEach, describe, expect, test } from "bun:test";
import { httpReply, jsonReply } from "../../fake/http/reply.ts";
import { chatStream } from "../../fake/openai/chat-stream.ts";
import { failures, TRANSCRIPT } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";
import { type FormFields, formOf, speechFile } from "./form.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: w }] }
`;
/** Nano-USD: four seconds. */
const cost = 400_000n;
const mebibyte = 1024 * 1024;
const gateway = useTestGateway({ manifest });
let payer: Payer;
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const send = (fields: FormFields = {}) =>
  fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: "POST",
    body: formOf({ model: "whisper", file: speechFile(), ...fields }),
    headers: { authorization: `Bearer ${payer.key}` },
  });

const headOf = (type: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`;
const formats = ["json", "text", "srt", "vtt", "verbose_json"];

describe("a whole reply", () => {
  test("of 50 MB is 502 in every format, and free", async () => {
    for (const response_format of formats) {
      gateway.upstream.replyWith([
        { send: `${headOf("application/json")}{"text":"` },
        { flood: 50 * mebibyte, chunk: "a".repeat(65_536) },
        { close: true },
      ]);
      expect(await refusalOf(send({ response_format }))).toMatchObject({
        status: 502,
        code: "upstream_error",
      });
    }
    for (const { charged } of await payer.settled(formats.length)) expect(charged).toBe(0n);
  });

  test("that is no JSON, or not of this shape, is 502", async () => {
    const bodies = [
      "",
      "null",
      "[]",
      '"text"',
      "{}",
      '{"text":1}',
      "1\n00:00:00,000 --> 00:00:01,000\nHi\n",
    ];
    for (const body of [...bodies, "<html>", '{"text":"a"'])
      for (const type of ["application/json", "text/plain", "text/html"]) {
        const headers = { "content-type": type };
        gateway.upstream.replyWith(httpReply({ headers, body: [body], framing: "length" }));
        expect((await refusalOf(send())).status).toBe(502);
      }
    for (const { charged } of await payer.settled(27)) expect(charged).toBe(0n);
  });

  test("with invalid UTF-8 becomes text, and of another type it is read all the same", async () => {
    const body = Buffer.concat([
      Buffer.from('{"text":"a'),
      Buffer.of(0xff, 0xc3),
      Buffer.from('b"}'),
    ]);
    for (const type of ["application/json", "text/plain", "application/octet-stream"]) {
      const headers = { "content-type": type };
      gateway.upstream.replyWith(httpReply({ headers, body: [body], framing: "length" }));
      expect(await (await send()).json()).toMatchObject({ text: "a\ufffd\ufffdb" });
    }
  });

  test("with times that cannot be leaves them out", async () => {
    const segment = (start: unknown, end: unknown, text: unknown = " Hi.") => ({
      start,
      end,
      text,
    });
    const segments = [
      segment(-1, 1),
      segment(0, 1e9),
      segment("0", 1),
      segment(0, null),
      segment(0, 1, 5),
      null,
      7,
      segment(2, 1, " A\r\n\r\n2\n00:00:09,000 --> 00:00:10,000\nB"),
    ];
    gateway.upstream.replyWith(jsonReply({ body: { text: "Hi.", segments, language: 5 } }));
    expect(await (await send({ response_format: "srt" })).text()).toBe(
      "1\n00:00:02,000 --> 00:00:02,000\nA 2 00:00:09,000 -> 00:00:10,000 B\n",
    );
  });

  test("whose usage lies costs what was measured", async () => {
    const lies = [
      { type: "duration", seconds: 1e12 },
      { type: "duration", seconds: -5 },
      { type: "tokens", input_tokens: "many", output_tokens: null, total_tokens: 1e300 },
      "free",
    ];
    for (const usage of lies) {
      gateway.upstream.replyWith(jsonReply({ body: { text: TRANSCRIPT, usage, duration: 0 } }));
      expect(await (await send()).json()).toMatchObject({ usage: { seconds: 4 } });
    }
    for (const { charged } of await payer.settled(lies.length)) expect(charged).toBe(cost);
  });
});

describe("a stream", () => {
  const delta = (text: string) =>
    `data: ${JSON.stringify({ type: "transcript.text.delta", delta: text })}\n\n`;
  const flooding = (chunk: string) => [
    { send: headOf("text/event-stream") + delta("Hi") },
    { flood: 50 * mebibyte, chunk },
    { hang: true } as const,
  ];

  test.each([
    ["that never ends", delta("word ".repeat(10_000))],
    ["with an event that never ends", "a".repeat(65_536)],
  ])("%s ends with an error, and is free", async (_, chunk) => {
    gateway.upstream.replyWith(flooding(`data: ${chunk}`.slice(chunk.startsWith("data") ? 6 : 0)));
    const text = await (await send({ stream: "true" })).text();
    expect(text.length).toBeLessThan(20 * mebibyte);
    expect(text).toContain('data: {"error":');
    expect(text).not.toContain("transcript.text.done");
    expect((await payer.receipt()).charged).toBe(0n);
  });

  test("whose last event is longer than any transcript ends with an error", async () => {
    const text = "a".repeat(5 * mebibyte);
    gateway.upstream.replyWith(
      chatStream({
        events: [
          { type: "transcript.text.delta", delta: "a" },
          { type: "transcript.text.done", text },
        ],
      }),
    );
    const reply = await (await send({ stream: "true" })).text();
    expect(reply).toContain('data: {"error":');
    expect(reply).not.toContain("transcript.text.done");
  });

  test("of nonsense, or of none, is 502 before the first word", async () => {
    for (const body of ["", "data: no json\n\n", "data: 5\n\n", ": ping\n\n", "nothing at all"]) {
      const headers = { "content-type": "text/event-stream" };
      gateway.upstream.replyWith(httpReply({ headers, body: [body], framing: "close" }));
      expect((await refusalOf(send({ stream: "true" }))).status).toBe(502);
    }
    gateway.upstream.replyWith(failures.internal());
    expect((await refusalOf(send({ stream: "true" }))).status).toBe(502);
  });

  test("whose events have the wrong types or lying usage costs what was measured", async () => {
    gateway.upstream.replyWith(
      chatStream({
        events: [
          { type: "transcript.text.delta", delta: 5 },
          { type: "transcript.text.delta" },
          { type: "unknown", delta: "x" },
          { type: "transcript.text.delta", delta: "Hi" },
          { type: "transcript.text.done", text: null, usage: { type: "duration", seconds: 1e9 } },
        ],
      }),
    );
    expect(await (await send({ stream: "true" })).text()).toEndWith(
      'data: {"type":"transcript.text.done","text":"Hi","usage":{"type":"duration","seconds":4}}\n\n',
    );
    expect((await payer.receipt()).charged).toBe(cost);
  });
});
