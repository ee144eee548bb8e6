/** Bodies that are large, marked or packed: what cannot be served is refused before it costs much. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { chatAnswers, embeddingsReply } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const hello = { model: "svc-3-flash", messages: [{ role: "user", content: "hi" }] };
const withContent = (content: string) =>
  JSON.stringify({ ...hello, messages: [{ role: "user", content }] });
/** A chat with an image of so many bytes. */
const withImage = (sizeBytes: number) => {
  const url = `data:image/png;base64,${Buffer.alloc((sizeBytes / 4) * 3).toString("base64")}`;
  const content = [{ type: "image_url", image_url: { url } }];
  return JSON.stringify({ ...hello, messages: [{ role: "user", content }] });
};
const send = (body: BodyInit, headers: Record<string, string> = {}) =>
  gateway.call("/chat/completions", "", { body, headers });
/** Sent in chunks, without a length. The stream of a Blob is not: the runtime knows its length. */
const chunked = (text: string) => {
  let rest: Uint8Array = new TextEncoder().encode(text);
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (rest.length === 0) return controller.close();
      controller.enqueue(rest.slice(0, chunkBytes));
      rest = rest.subarray(chunkBytes);
    },
  });
};
const chunkBytes = 64 * 1024;

test("what these tests send in chunks has no length on the wire", async () => {
  const echo = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) =>
      Response.json({
        length: request.headers.get("content-length"),
        coding: request.headers.get("transfer-encoding"),
        text: await request.text(),
      }),
  });
  try {
    for (const text of ["{}", "x€".repeat(100_000)]) {
      const reply = await fetch(echo.url, { method: "POST", body: chunked(text) });
      expect(await reply.json()).toEqual({ length: null, coding: "chunked", text });
    }
  } finally {
    await echo.stop(true);
  }
});

describe("a large body", () => {
  test("of much text is served, with a length and without", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const body = withContent('say "[{:,"\\ '.repeat(400_000));
    for (const sent of [body, chunked(body)]) expect((await send(sent)).status).toBe(200);
    const [first, second] = gateway.upstream.requests.map(({ json }) => json);
    expect(second).toEqual(first);
    expect(first).toMatchObject({ messages: JSON.parse(body).messages });
  });

  test("that is nested without end, or has values without end, is refused by its form", async () => {
    const size = 8 * 1024 * 1024;
    const bodies = ["[".repeat(size), `{"x":${"[],".repeat(size / 3)}`, '{"a":'.repeat(size / 5)];
    for (const body of bodies)
      for (const sent of [body, chunked(body)]) {
        const refusal = await refusalOf(send(sent));
        expect(refusal).toMatchObject({ status: 400, code: "invalid_request", param: null });
        expect(refusal.message).toContain("1000 levels deep");
      }
  });

  test("that is no JSON is told so", async () => {
    const body = withContent("x".repeat(200_000)).slice(0, -1);
    for (const sent of [body, chunked(body)])
      expect(await refusalOf(send(sent))).toMatchObject({ status: 400, code: "invalid_json" });
  });
});

test("a byte order mark before the JSON is passed over, however the body comes", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  for (const text of [JSON.stringify(hello), withContent("x".repeat(100_000))])
    for (const sent of [`\u{feff}${text}`, chunked(`\u{feff}${text}`)])
      expect((await send(sent)).status).toBe(200);
});

test("a packed body is refused in words, not as bad JSON", async () => {
  const packed = gzipSync(JSON.stringify(hello));
  const refusal = await refusalOf(send(packed, { "content-encoding": "gzip" }));
  expect(refusal).toMatchObject({ status: 415, code: "unsupported_media_type" });
  expect(refusal.message).toContain("Content-Encoding");
});

test("a body that is said to be as it is, in whatever letters, is told of its bad JSON", async () => {
  for (const encoding of ["identity", "Identity", "IDENTITY"])
    for (const sent of ["{", chunked("{")])
      expect(await refusalOf(send(sent, { "content-encoding": encoding }))).toMatchObject({
        status: 400,
        code: "invalid_json",
      });
});

test("text has a bound of its own below that of the body", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  expect((await send(withContent("x".repeat(15 * 1024 * 1024)))).status).toBe(200);
  expect(await refusalOf(send(withContent("x".repeat(17 * 1024 * 1024))))).toMatchObject({
    status: 400,
    code: "context_length_exceeded",
    param: "messages",
  });
});

test("text that is not ASCII is refused before it is parsed, and as much of it as fits is served", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  for (const [character, bytes] of [
    ["é", 2],
    ["漢", 3],
    ["😀", 4],
  ] as const) {
    const of = (mebibytes: number) => character.repeat((mebibytes * 1024 * 1024) / bytes);
    expect((await send(withContent(of(15)))).status).toBe(200);
    // The end is missing: whoever parses it says something else.
    const cut = withContent(of(24)).slice(0, -1);
    expect(await refusalOf(send(cut))).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      param: null,
    });
  }
});

test("a small body that is nested deeply is refused where it would be written out again", async () => {
  const body = `{"model":"svc-3-flash","x":${"[".repeat(20_000)}${"]".repeat(20_000)},"messages":[]}`;
  expect(await refusalOf(send(body, { "idempotency-key": "nested" }))).toMatchObject({
    status: 400,
    code: "invalid_request",
  });
});

describe("many bodies at once", () => {
  /** Sends headers and so many bytes of a body of 31 MB, and then nothing more. */
  function sendPart(bytes: number) {
    const opened = Promise.withResolvers<Bun.Socket<undefined>>();
    const replied = Promise.withResolvers<string>();
    let left = Buffer.alloc(bytes, " ");
    const push = (socket: Bun.Socket<undefined>) => {
      while (left.length > 0) {
        const written = socket.write(left);
        left = left.subarray(written);
        if (written === 0) return;
      }
    };
    const url = new URL(gateway.baseUrl);
    void Bun.connect({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        open(socket) {
          socket.write(
            `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${31 * 1024 * 1024}\r\n\r\n`,
          );
          push(socket);
          opened.resolve(socket);
        },
        drain: push,
        data: (_, data) => replied.resolve(data.toString()),
        close: () => replied.resolve(""),
      },
    });
    return { opened: opened.promise, replied: replied.promise };
  }

  test("of one key are refused when they are too many, and served when those have gone", async () => {
    const open = Array.from({ length: 3 }, () => sendPart(30 * 1024 * 1024));
    // Two of 31 MiB fit into what a key may send at once; the third does not.
    const reply = await Promise.race(open.map(({ replied }) => replied));
    expect(reply).toStartWith("HTTP/1.1 429 ");
    expect(reply).toContain("rate_limit_exceeded");
    expect(reply.toLowerCase()).toContain("retry-after");
    // A small one of the same key is served beside them.
    gateway.upstream.replyOnce(chatAnswers.plain());
    expect((await send(JSON.stringify(hello))).status).toBe(200);
    for (const { opened } of open) (await opened).end();
    await Promise.all(open.map(({ replied }) => replied));
    gateway.upstream.replyWith(chatAnswers.plain());
    const large = withImage(30 * 1024 * 1024);
    await waitUntil("a large one to be served", async () => (await send(large)).status === 200);
  });

  test("leave nothing behind when their calls have ended", async () => {
    const small = await startTestGateway({ environment: { SVC_MAX_BODIES_MB: "64" } });
    try {
      small.upstream.replyWith(chatAnswers.plain());
      const body = withImage(20 * 1024 * 1024);
      // Four of them one after the other are more than the gateway may hold at once.
      for (let at = 0; at < 4; at++)
        expect((await small.call("/chat/completions", body)).status).toBe(200);
    } finally {
      await small.stop();
    }
  });

  test("of one key that are admitted leave room for more of the same key", async () => {
    const gate = Promise.withResolvers<void>();
    const { bytes } = chatAnswers.plain();
    gateway.upstream.replyWith([{ until: gate.promise }, { send: bytes }]);
    const body = withImage(28 * 1024 * 1024);
    const calls: Promise<Response>[] = [];
    for (let at = 0; at < 3; at++) {
      const arrived = gateway.upstream.nextRequest();
      calls.push(send(body));
      await arrived;
    }
    gate.resolve();
    for (const call of calls) expect((await call).status).toBe(200);
  });

  test("in single bytes are gathered as they come", async () => {
    gateway.upstream.replyOnce(chatAnswers.plain());
    const bytes = new TextEncoder().encode(withContent("Grüße ".repeat(500)));
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, ++at));
      },
    });
    expect((await send(body)).status).toBe(200);
    const [request] = gateway.upstream.requests;
    expect(request?.json).toMatchObject({
      messages: JSON.parse(new TextDecoder().decode(bytes)).messages,
    });
  });
});

test("runs of combining marks cost no more than other text", async () => {
  const marks = `a${"\u0301\u0316".repeat(250_000)}`;
  gateway.upstream.replyWith(chatAnswers.plain());
  expect((await send(withContent(marks))).status).toBe(200);
  const tools = [{ type: "function", function: { name: "f", description: marks } }];
  expect((await send(JSON.stringify({ ...hello, tools }))).status).toBe(200);
  gateway.upstream.replyWith(embeddingsReply({ vectors: [[1]] }));
  const body = { model: "svc-embedding-2", input: marks };
  expect((await gateway.call("/embeddings", body)).status).toBe(200);
});
