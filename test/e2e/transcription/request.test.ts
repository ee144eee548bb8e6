/** What is refused before an upstream is asked, with the field's name. */

import { beforeEach, describe, expect, test } from "bun:test";
import { transcriptionReplies } from "../../fake/recordings.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { refusalOf } from "../../replies/refusal.ts";
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
beforeEach(() => gateway.upstream.replyWith(transcriptionReplies.asAsked));

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
  });
const send = (fields: FormFields) =>
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
    expect(await refusalOf(send(fields))).toMatchObject({ status, param });
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
    expect(await refusalOf(post("{}", json))).toMatchObject({ status: 415 });
    expect(await refusalOf(post("x", { "content-type": "audio/wav" }))).toMatchObject({
      status: 415,
    });
    for (const type of ["multipart/form-data", "multipart/form-data; boundary=b"])
      expect(await refusalOf(post("--b\r\n\r\n", { "content-type": type }))).toMatchObject({
        status: 400,
        code: "invalid_request",
      });
    const packed = {
      "content-type": "multipart/form-data; boundary=b",
      "content-encoding": "gzip",
    };
    expect(await refusalOf(post("x", packed))).toMatchObject({ status: 415 });
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
      expect(await refusalOf(post(body, multipart))).toMatchObject({
        status: 400,
        code: "invalid_request",
        param,
      });
    for (const boundary of ["", '""', "x".repeat(200), "other"])
      expect(
        await refusalOf(
          post(written(), { "content-type": `multipart/form-data; boundary=${boundary}` }),
        ),
      ).toMatchObject({ status: 400, code: "invalid_request" });
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("larger than 32 MiB gets 413, with a length or without", async () => {
    const type = { "content-type": "multipart/form-data; boundary=b" };
    expect((await refusalOf(post(new Uint8Array(33 * 1024 * 1024), type))).status).toBe(413);
    let pieces = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pieces++ === 40) controller.close();
        else controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    expect((await refusalOf(post(stream, type))).status).toBe(413);
  });

  test("of 24 MiB is served, and its bytes are free again afterwards", async () => {
    const wav = new Uint8Array(24 * 1024 * 1024);
    wav.set(fixtureBytes("speech.wav").subarray(0, 40));
    new DataView(wav.buffer).setUint32(40, 0, true);
    for (let round = 0; round < 4; round++) {
      const reply = await send({ file: fileOf(wav) });
      expect(await reply.json()).toMatchObject({ usage: { seconds: 787 } });
    }
  });
});
