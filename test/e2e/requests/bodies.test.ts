/** Bodies: their form, type and size. What cannot be served is refused before it costs much. */

import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { chatAnswers, embeddingsReply } from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

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

describe("on every endpoint, refused in the one shape, not to be retried, and never sent upstream:", () => {
  const limitBytes = 32 * 1024 * 1024;
  const invalidJson = { status: 400, code: "invalid_json", param: null };
  const noObject = { status: 400, code: "invalid_request" };
  const wrongType = { status: 415, code: "unsupported_media_type" };
  const tooLarge = {
    status: 413,
    code: "request_too_large",
    message: "The body must not be larger than 32 MiB.",
  };
  const typed = (type: string) => ({ headers: { "content-type": type } });

  for (const path of ["/chat/completions", "/embeddings", "/audio/speech"]) {
    const refused = async (expected: object, body: BodyInit, init: RequestInit = {}) => {
      const reply = await gateway.call(path, "", { body, ...init });
      expect(reply.headers.get("x-should-retry")).toBe("false");
      const type = "invalid_request_error";
      await expectRefusal(reply, { type, ...expected });
      expect(gateway.upstream.requests).toBeEmpty();
    };

    test(`${path}: what is not JSON`, async () => {
      for (const body of [
        "",
        " ",
        "{",
        '{"model":',
        "nonsense",
        '{"a":1}{"b":2}',
        "{'a':1}",
        "\ud800",
      ])
        await refused(invalidJson, body);
    });

    test(`${path}: what is not an object`, async () => {
      for (const body of ["[]", "null", "7", '"text"', "true", '[{"model":"svc-3-flash"}]'])
        await refused(noObject, body);
      await refused({ ...noObject, param: "model" }, "{}");
    });

    test(`${path}: another content type than JSON`, async () => {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
      ])
        await refused(wrongType, "{}", typed(type));
    });

    test(`${path}: more than 32 MiB, with a length and without`, async () => {
      const body = " ".repeat(limitBytes + 1);
      await refused(tooLarge, body);
      // All endpoints gather a body without a length in one place.
      if (path === "/embeddings") await refused(tooLarge, chunked(body));
    });

    test(`${path}: a wrong key, method or path`, async () => {
      await refused({ status: 401 }, "{}", { headers: { authorization: "Bearer x" } });
      await refused({ status: 405 }, "{}", { method: "PUT" });
      const reply = await gateway.call(`${path}/none`, "{}");
      expect(reply.headers.get("x-should-retry")).toBe("false");
      await expectRefusal(reply, { status: 404, type: "invalid_request_error" });
    });
  }
});

test("JSON is accepted under every spelling of its type, and without one", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  const body = JSON.stringify(hello);
  for (const type of [
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "Application/JSON",
    "application/json ;a=b",
    "application/json;",
  ])
    expect((await send(body, { "content-type": type })).status).toBe(200);
  const untyped = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}` },
    body: Buffer.from(body),
  });
  expect(untyped.status).toBe(200);
});

describe("the size of a body", () => {
  const limitBytes = 32 * 1024 * 1024;
  const bodyOf = (sizeBytes: number) => {
    const empty = JSON.stringify({ ...hello, padding: "" });
    return JSON.stringify({ ...hello, padding: "x".repeat(sizeBytes - empty.length) });
  };

  test("may be exactly 32 MiB, with a length and without", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const body = bodyOf(limitBytes);
    expect(Buffer.byteLength(body)).toBe(limitBytes);
    for (const sent of [body, chunked(body)]) expect((await send(sent)).status).toBe(200);
    const image = withImage(31 * 1024 * 1024);
    expect((await send(chunked(image))).status).toBe(200);
    const sizes = gateway.upstream.requests.slice(2).map(({ body: sent }) => sent.length);
    expect(Math.min(...sizes)).toBeGreaterThan(31 * 1024 * 1024);
  });

  test("that is too large is refused before the body is sent", async () => {
    const { hostname, port } = new URL(gateway.origin);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${limitBytes + 1}\r\n\r\n{`,
    );
    const [bytes] = (await once(socket, "data")) as [Buffer];
    expect(bytes.toString()).toStartWith("HTTP/1.1 413 ");
    socket.destroy();
  });
});

describe("a large body", () => {
  test("of much text is served, with a length and without", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const body = withContent('say "[{:,"\\ '.repeat(100_000));
    for (const sent of [body, chunked(body)]) expect((await send(sent)).status).toBe(200);
    const [first, second] = gateway.upstream.requests.map(({ json }) => json);
    expect(second).toEqual(first);
    expect(first).toMatchObject({ messages: JSON.parse(body).messages });
  });

  test("that is nested without end, or has values without end, is refused by its form", async () => {
    const size = 2 * 1024 * 1024;
    const bodies = ["[".repeat(size), `{"x":${"[],".repeat(size / 3)}`, '{"a":'.repeat(size / 5)];
    for (const body of bodies)
      for (const sent of [body, chunked(body)]) {
        const refusal = await expectRefusal(send(sent), {
          status: 400,
          code: "invalid_request",
          param: null,
        });
        expect(refusal.message).toContain("1000 levels deep");
      }
  });

  test("that is no JSON is told so", async () => {
    const body = withContent("x".repeat(200_000)).slice(0, -1);
    for (const sent of [body, chunked(body)])
      await expectRefusal(send(sent), { status: 400, code: "invalid_json" });
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
  const refusal = await expectRefusal(send(packed, { "content-encoding": "gzip" }), {
    status: 415,
    code: "unsupported_media_type",
  });
  expect(refusal.message).toContain("Content-Encoding");
});

test("a body that is said to be as it is, in whatever letters, is told of its bad JSON", async () => {
  for (const encoding of ["identity", "Identity", "IDENTITY"])
    for (const sent of ["{", chunked("{")])
      await expectRefusal(send(sent, { "content-encoding": encoding }), {
        status: 400,
        code: "invalid_json",
      });
});

test("text has a bound of its own below that of the body", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  await expectRefusal(send(withContent("x".repeat(17 * 1024 * 1024))), {
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
    if (bytes === 3) expect((await send(withContent(of(15)))).status).toBe(200);
    // The end is missing: whoever parses it says something else.
    const cut = withContent(of(24)).slice(0, -1);
    await expectRefusal(send(cut), { status: 400, code: "context_length_exceeded", param: null });
  }
});

test("a small body that is nested deeply is refused where it would be written out again", async () => {
  const body = `{"model":"svc-3-flash","x":${"[".repeat(20_000)}${"]".repeat(20_000)},"messages":[]}`;
  await expectRefusal(send(body, { "idempotency-key": "nested" }), {
    status: 400,
    code: "invalid_request",
  });
});

test("a body with fields without end is refused before anything is done with them", async () => {
  const fields = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`x${at}`, null]));
  await expectRefusal(gateway.call("/chat/completions", { ...hello, ...fields }), {
    status: 400,
    code: "invalid_request",
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
