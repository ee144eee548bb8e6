import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { jsonReply } from "../../../test/fake/http/reply.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../test/fake/upstream.ts";
import { failureOf } from "../../../test/providers/failure-of.ts";
import { CallSignal } from "../../call/signal.ts";
import { Dialer, type Pin } from "./dial.ts";
import { baseHeaders, send } from "./http.ts";
import { readReply } from "./reply.ts";

let upstream: FakeUpstream;
let pin: Pin;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  pin = new Dialer({ provider: "acme", allowPrivate: true }).pin(upstream.baseUrl);
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.reset();
  upstream.replyWith(jsonReply({ body: { ok: true } }));
});

interface Asked {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask({ path = "/v1/x", headers = {}, body }: Asked = {}) {
  const all = { ...baseHeaders(pin), ...headers };
  return readReply(
    await send({ provider: "acme", pin, path, headers: all, body, signal: new CallSignal() }),
  );
}

test("a request has its headers once each, and a length if it has a body", async () => {
  await ask({ headers: { authorization: "Bearer key" }, body: '{"text":"Grüße"}' });
  await ask();
  const [posted, got] = upstream.requests;
  expect(posted).toMatchObject({ method: "POST", path: "/v1/x", body: '{"text":"Grüße"}' });
  expect(posted?.headers).toEqual({
    host: pin.host,
    "content-type": "application/json",
    "user-agent": "svc-gateway",
    accept: "*/*",
    "accept-encoding": "identity",
    authorization: "Bearer key",
    "content-length": "18",
  });
  expect(got).toMatchObject({ method: "GET", body: "" });
  expect(got?.headers["content-length"]).toBeUndefined();
});

test("headers that all calls share can be of the runtime's kind", async () => {
  const headers = new Headers({ ...baseHeaders(pin), "x-api-key": "key" });
  for (let turn = 0; turn < 2; turn++) {
    const signal = new CallSignal();
    await readReply(await send({ provider: "acme", pin, path: "/v1/x", headers, signal }));
  }
  expect(upstream.requests.map((request) => request.headers["x-api-key"])).toEqual(["key", "key"]);
});

describe("a header cannot end its line", () => {
  for (const [name, headers] of [
    ["CR and LF in a value", { authorization: "Bearer key\r\nx-evil: 1" }],
    ["a bare LF in a value", { authorization: "Bearer key\nx-evil: 1" }],
    ["a bare CR in a value", { authorization: "Bearer key\rx-evil: 1" }],
    ["a whole request in a value", { a: "b\r\n\r\nGET /evil HTTP/1.1\r\n\r\n" }],
    ["a NUL in a value", { authorization: "Bearer key\0" }],
    ["a character that becomes LF in Latin-1", { authorization: "Bearer key\u010ax-evil: 1" }],
    ["a value that is not ASCII", { authorization: "Bearer schlüssel" }],
    ["CR and LF in a name", { "x-a: 1\r\nx-evil": "1" }],
    ["a colon in a name", { "x-a: 1": "1" }],
    ["a space in a name", { "x a": "1" }],
    ["no name", { "": "1" }],
  ] as const)
    test(name, async () => {
      const failure = await failureOf(ask({ headers }));
      expect(failure).toMatchObject({ code: "upstream_unavailable" });
      expect(String(Reflect.get(Object(failure), "detail"))).not.toContain("Bearer");
      await ask();
      expect(upstream.requests.map(({ path }) => path)).toEqual(["/v1/x"]);
    });
});

describe("a path says what a URL with it says", () => {
  const pathOf = async (path: string) => {
    await ask({ path });
    return upstream.requests.at(-1)?.path;
  };
  const parsed = (path: string) => {
    const { pathname, search } = new URL(`http://acme.example${path}`);
    return pathname + search;
  };

  test("with any character in the path or the query", async () => {
    const codes = [...Array(256).keys(), 0x10a, 0x20ac, 0x1f44b];
    for (const char of codes.map((code) => String.fromCodePoint(code)))
      for (const path of [`/v1/a${char}b`, `/v1/a?b=${char}c`, `/v1/${char}/c`])
        expect(await pathOf(path)).toBe(parsed(path));
  });

  test("with what leads up, out or on to another line", async () => {
    for (const path of [
      "/v1/../admin",
      "/v1/./a/..",
      "/v1/%2e%2E/admin",
      "/v1/.hidden",
      "/v1/a..b",
      "/v1/x?a=/../b",
      "/v1/a#b?c",
      "/v1/a HTTP/1.1\r\nx-evil: 1\r\n\r\nGET /evil",
      "/v1/models/a%20b:generateContent?alt=sse",
      "/v1/{a}|^`\"'<b>\\c",
      "//evil.example/v1",
    ])
      expect(await pathOf(path)).toBe(parsed(path));
    expect(upstream.requests.map(({ headers }) => headers["x-evil"])).not.toContain("1");
  });
});

describe("a status is told whatever it is", () => {
  for (const status of [204, 304, 404, 600, 999])
    for (const encoding of ["gzip", "identity"])
      test(`${status}, ${encoding}`, async () => {
        const body = encoding === "gzip" ? gzipSync("{}").toString("latin1") : "{}";
        const [length, rest] = status === 204 || status === 304 ? [0, ""] : [body.length, body];
        const head = `HTTP/1.1 ${status} X\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${length}\r\n\r\n`;
        upstream.replyOnce(Buffer.from(head + rest, "latin1"));
        const signal = new CallSignal();
        const headers = baseHeaders(pin);
        const sending = send({ provider: "acme", pin, path: "/", headers, signal });
        const failure = await failureOf(sending);
        if (status === 204) expect((await sending).status).toBe(204);
        else
          expect(failure).toHaveProperty(
            "detail",
            expect.stringContaining(`acme returned ${status}`),
          );
      });
});

test("a reply that is not HTTP is told as such", async () => {
  upstream.replyOnce([{ send: "SSH-2.0-OpenSSH_9.6\r\n" }, { hang: true }]);
  expect(await failureOf(ask())).toMatchObject({
    code: "upstream_error",
    detail: "acme: the reply is not valid HTTP (MalformedReply)",
  });
});
