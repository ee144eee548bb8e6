/** What is refused before an upstream is asked, and what upstreams that send nonsense or lies get. */

import { beforeEach, describe, expect, test } from "bun:test";
import { httpReply, jsonReply } from "../../fake/http/reply.ts";
import { chatStream } from "../../fake/openai/chat-stream.ts";
import { failures, TRANSCRIPT, transcriptionReplies } from "../../fake/recordings.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";
import { type FormFields, formOf, speechFile } from "./form.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: w }] }
  chat: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: fake, model: c }] }
`;
const gateway = useTestGateway({ manifest });
let payer: Payer;
beforeEach(async () => {
  gateway.upstream.replyWith(transcriptionReplies.asAsked);
  payer = await openPayer(gateway);
});

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${payer.key}`, ...headers },
  });
const send = (fields: FormFields = {}) =>
  post(formOf({ model: "whisper", file: speechFile(), ...fields }));
const fileOf = (content: string | Uint8Array<ArrayBuffer>) => new File([content], "a.wav");

describe("a request", () => {
  const wrong: readonly (readonly [FormFields, number, string])[] = [
    [{ model: undefined }, 400, "model"],
    [{ model: "" }, 400, "model"],
    [{ model: "unknown" }, 400, "model"],
    [{ model: "chat" }, 400, "model"],
    [{ model: ["whisper", "whisper"] }, 400, "model"],
    [{ file: undefined }, 400, "file"],
    [{ file: "text" }, 400, "file"],
    [{ file: fileOf("") }, 400, "file"],
    [{ file: fileOf("no audio at all") }, 400, "file"],
    [{ file: fileOf(fixtureBytes("tiny.png")) }, 400, "file"],
    [{ file: fileOf(fixtureBytes("speech.m4a").slice(0, 3000)) }, 400, "file"],
    [{ file: fileOf(new Uint8Array(25 * 1024 * 1024 + 1)) }, 413, "file"],
    [{ response_format: "docx" }, 400, "response_format"],
    [{ response_format: "diarized_json" }, 400, "response_format"],
    [{ temperature: "2" }, 400, "temperature"],
    [{ temperature: "warm" }, 400, "temperature"],
    [{ language: "1" }, 400, "language"],
    [{ prompt: "x".repeat(10_001) }, 400, "prompt"],
    [{ prompt: "x".repeat(70_000) }, 400, "prompt"],
    [{ stream: "yes" }, 400, "stream"],
    [{ stream: "true", response_format: "srt" }, 400, "stream"],
    [{ "timestamp_granularities[]": "word" }, 400, "timestamp_granularities"],
    [
      { response_format: "verbose_json", "timestamp_granularities[]": "line" },
      400,
      "timestamp_granularities[0]",
    ],
  ];
  test.each(wrong)("with %o gets %d and the name of the field", async (fields, status, param) => {
    await expectRefusal(send(fields), { status, param });
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("with fields that nobody knows is served", async () => {
    const proto = { ["__proto__[]"]: "x" };
    const extra = {
      ...proto,
      user: "me",
      "include[]": "logprobs",
      chunking_strategy: "auto",
      language: "",
    };
    expect((await send({ ...extra, other: fileOf("a file") })).status).toBe(200);
  });

  test("of another type gets 415, and one that is malformed 400", async () => {
    const json = { "content-type": "application/json" };
    await expectRefusal(post("{}", json), { status: 415 });
    await expectRefusal(post("x", { "content-type": "audio/wav" }), { status: 415 });
    for (const type of ["multipart/form-data", "multipart/form-data; boundary=b"])
      await expectRefusal(post("--b\r\n\r\n", { "content-type": type }), {
        status: 400,
        code: "invalid_request",
      });
    const packed = {
      "content-type": "multipart/form-data; boundary=b",
      "content-encoding": "gzip",
    };
    await expectRefusal(post("x", packed), { status: 415 });
  });

  const disposition = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  /** Model first, or last, with further parts between them. */
  const written = (options: { further?: string; end?: string; isFileFirst?: boolean } = {}) => {
    const { further = "", end = "--b--\r\n", isFileFirst = false } = options;
    const wav = Buffer.from(fixtureBytes("speech.wav")).toString("latin1");
    const model = `--b\r\n${disposition("model")}\r\n\r\nwhisper\r\n`;
    const file = `--b\r\n${disposition("file")}; filename="a.wav"\r\n\r\n${wav}\r\n`;
    const body = isFileFirst ? file + further + model : model + further + file;
    return new Uint8Array(Buffer.from(body + end, "latin1"));
  };
  const multipart = { "content-type": "multipart/form-data; boundary=b" };

  test("may have its file first or last, and come in single bytes", async () => {
    for (const isFileFirst of [true, false])
      expect((await post(written({ isFileFirst }), multipart)).status).toBe(200);
    const bytes = written();
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) return controller.close();
        // The file in one piece: single bytes are for what has to be understood.
        const end = at > 200 && at < bytes.length - 100 ? bytes.length - 100 : at + 1;
        controller.enqueue(bytes.subarray(at, end));
        at = end;
      },
    });
    expect(await (await post(stream, multipart)).json()).toMatchObject({ usage: { seconds: 4 } });
  });

  test("whose form is cut, nested, encoded or ambiguous gets 400", async () => {
    const field = (head: string) => `--b\r\n${head}\r\n\r\nx\r\n`;
    const nested = field(`${disposition("file")}\r\nContent-Type: multipart/mixed; boundary=c`);
    for (const [body, param] of [
      [written({ end: "" }), null],
      [written({ end: "--b" }), null],
      [written({ end: "--b-" }), null],
      [written({ further: field(`${disposition("file")}; filename="b.wav"`) }), "file"],
      [written({ further: field(disposition("model")) }), "model"],
      [written({ further: nested }), "file"],
      [written({ further: field("X: y") }), null],
      [
        written({ further: field(`${disposition("a")}\r\nContent-Transfer-Encoding: base64`) }),
        null,
      ],
      [written({ further: field(disposition("a")).repeat(100_000) }), null],
    ] as const)
      await expectRefusal(post(body, multipart), { status: 400, code: "invalid_request", param });
    for (const boundary of ["", '""', "x".repeat(200), "other"])
      expect(
        await refusalOf(
          post(written(), { "content-type": `multipart/form-data; boundary=${boundary}` }),
        ),
      ).toMatchObject({ status: 400, code: "invalid_request" });
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

/** Nano-USD: four seconds. */
const cost = 400_000n;
const mebibyte = 1024 * 1024;

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
      await expectRefusal(send({ response_format }), { status: 502, code: "upstream_error" });
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
