import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { chatAnswers } from "../../fake/recordings.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };
const postPaths = ["/v1/chat/completions", "/v1/embeddings", "/v1/audio/speech"];
const getPaths = ["/v1/models", "/v1/models/svc-3-flash", "/healthz", "/readyz"];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.reset();
  gateway.upstream.replyWith(chatAnswers.plain());
});

const listWith = (headers: Record<string, string>) =>
  fetch(`${gateway.baseUrl}/models`, { headers });
const newKey = (options: { expires?: string; models?: string[] } = {}) =>
  gateway.server.operations.createKey({ account: gateway.account, ...options });
const authorized = () => ({ authorization: `Bearer ${gateway.key}` });

/** Sends bytes as they are, where fetch would tidy them, and reads until the server closes. */
function sendRaw(origin: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(origin).port), host: "127.0.0.1" });
    let reply = "";
    socket.on("data", (bytes: Buffer) => {
      reply += bytes.toString("utf8");
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(reply));
    socket.write(text);
  });
}

describe("a key", () => {
  test("that is missing, malformed, unknown, revoked or expired gets one and the same 401", async () => {
    const revoked = await newKey();
    await gateway.server.operations.revokeKey({ id: revoked.id });
    const expired = await newKey({ expires: new Date(Date.now() + 20).toISOString() });
    while ((await listWith({ authorization: `Bearer ${expired.key}` })).ok);
    const other = await startTestGateway();
    await other.stop();
    const headers = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: "Bearer none" },
      { authorization: `Bearer ${gateway.key.slice(0, -1)}` },
      { authorization: `Bearer ${gateway.key}x` },
      { authorization: `Bearer ${gateway.key} ${gateway.key}` },
      { authorization: `Bearer${gateway.key}` },
      { authorization: `Basic ${gateway.key}` },
      { authorization: gateway.key },
      { "api-key": gateway.key },
      { authorization: `Bearer ${gateway.key.toLowerCase()}` },
      { authorization: `Bearer ${other.key}` },
      { authorization: `Bearer ${revoked.key}` },
      { authorization: `Bearer ${expired.key}` },
    ];
    const bodies = new Set<string>();
    for (const one of headers) {
      const reply = await listWith(one as Record<string, string>);
      expect(reply.headers.get("x-should-retry")).toBe("false");
      const refusal = await refusalOf(reply.clone());
      expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key", param: null });
      // LiteLLM and what is built on it know a wrong key by these words alone.
      expect(refusal.message).toStartWith("Incorrect API key provided");
      bodies.add(await reply.text());
    }
    expect(bodies.size).toBe(1);
  });

  test("that is wrong is never echoed, in the body or in a header", async () => {
    const secret = `sk-svc-${"Zq9".repeat(15)}z`;
    for (const path of postPaths) {
      const reply = await fetch(`${gateway.origin}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: "{}",
      });
      expect(reply.status).toBe(401);
      const said = `${await reply.text()}${JSON.stringify([...reply.headers])}`;
      expect(said).not.toContain("Zq9");
    }
  });

  test("is read whatever the case of its scheme, with odd spacing and beside other headers", async () => {
    for (const authorization of [
      `bearer ${gateway.key}`,
      `BEARER ${gateway.key}`,
      `Bearer   ${gateway.key}  `,
    ])
      expect((await listWith({ authorization })).status).toBe(200);
    const extra = { "api-key": "another", "openai-organization": "org", "x-stainless-lang": "js" };
    expect((await listWith({ ...authorized(), ...extra })).status).toBe(200);
  });

  test("is checked before anything of the body is looked at", async () => {
    const reply = fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "not json",
    });
    expect(await refusalOf(reply)).toMatchObject({ status: 401 });
  });

  test("revoked in the running server is refused from the very next request on", async () => {
    const { id, key } = await newKey();
    const client = gateway.client({ apiKey: key });
    expect((await client.chat.completions.create(chat)).object).toBe("chat.completion");
    await gateway.server.operations.revokeKey({ id });
    const thrown = await thrownBy(client.chat.completions.create(chat));
    expect(thrown).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("with a list of models calls those and no others", async () => {
    const { key } = await newKey({ models: ["svc-3-flash"] });
    const client = gateway.client({ apiKey: key });
    expect((await client.chat.completions.create(chat)).model).toBe("svc-3-flash");
    const thrown = await thrownBy(
      client.chat.completions.create({ ...chat, model: "svc-2-flash" }),
    );
    expect(thrown).toMatchObject({ status: 403, code: "model_not_allowed" });
    expect(gateway.upstream.requests.length).toBe(1);
  });
});

describe("errors of the door", () => {
  test("an unknown path is 404, with or without a key", async () => {
    for (const path of [
      "/",
      "/v1",
      "/v1/responses",
      "/v2/models",
      "/v1/chat",
      "/admin",
      "/metrics",
    ])
      for (const headers of [authorized(), {}])
        expect(await refusalOf(fetch(`${gateway.origin}${path}`, { headers }))).toMatchObject({
          status: 404,
          code: "not_found",
        });
  });

  test("a wrong method is 405 and names the right ones", async () => {
    for (const [path, method, allow] of [
      ...postPaths.map((path) => [path, "GET", "POST, OPTIONS"] as const),
      ...getPaths.map((path) => [path, "POST", "GET, HEAD, OPTIONS"] as const),
      ["/v1/models", "DELETE", "GET, HEAD, OPTIONS"],
      ["/v1/embeddings", "PUT", "POST, OPTIONS"],
    ] as const) {
      const reply = await fetch(`${gateway.origin}${path}`, { method, headers: authorized() });
      expect(reply.headers.get("allow")).toBe(allow);
      expect(await refusalOf(reply)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  });

  test("a body of another type is 415; JSON with parameters, or untyped, is taken", async () => {
    const send = (type: string) =>
      gateway.call("/chat/completions", chat, { headers: { "content-type": type } });
    for (const type of ["text/plain", "multipart/form-data; boundary=x", "application/jsonp"])
      expect(await refusalOf(send(type))).toMatchObject({
        status: 415,
        code: "unsupported_media_type",
      });
    for (const type of [
      "application/json; charset=utf-8",
      "APPLICATION/JSON",
      "application/json ;a=b",
    ])
      expect((await send(type)).status).toBe(200);
    const untyped = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: authorized(),
      body: Buffer.from(JSON.stringify(chat)),
    });
    expect(untyped.status).toBe(200);
  });

  test("a body that is no JSON object is 400 on every endpoint", async () => {
    for (const path of ["/chat/completions", "/embeddings", "/audio/speech"]) {
      for (const text of ["", "{", "{'a':1}", "nonsense"])
        expect(await refusalOf(gateway.call(path, text))).toMatchObject({
          status: 400,
          code: "invalid_json",
        });
      for (const text of ["[]", "null", "7", '"x"'])
        expect(await refusalOf(gateway.call(path, text))).toMatchObject({
          status: 400,
          code: "invalid_request",
        });
    }
  });

  test("a body above 32 MiB is 413, whether its length is told or not", async () => {
    const text = Buffer.alloc(32 * 1024 * 1024 + 1, " ");
    const chunked = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(text.subarray(1)),
      pull(controller) {
        controller.enqueue(text.subarray(0, 1));
        controller.close();
      },
    });
    for (const body of [text, chunked]) {
      const reply = fetch(`${gateway.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { ...authorized(), "content-type": "application/json" },
        body,
      });
      expect(await refusalOf(reply)).toMatchObject({ status: 413, code: "request_too_large" });
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });
});

describe("paths", () => {
  test("with slashes too many reach the same routes", async () => {
    for (const path of ["//v1//models", "/v1/models/", "/v1/models//", "/v1//models?limit=1"])
      expect((await fetch(`${gateway.origin}${path}`, { headers: authorized() })).status).toBe(200);
    for (const path of ["//v1//chat///completions", "/v1/chat/completions/"]) {
      const reply = await fetch(`${gateway.origin}${path}`, {
        method: "POST",
        headers: authorized(),
        body: Buffer.from(JSON.stringify(chat)),
      });
      expect(reply.status).toBe(200);
    }
  });

  test("that are broken or climb are answered in the one shape, whatever the Host", async () => {
    const ask = (path: string, host: string) =>
      sendRaw(
        gateway.origin,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.key}\r\nConnection: close\r\n\r\n`,
      );
    for (const host of ["x", "", "a b", "//", "[:::", "evil/v1/models?", "h:99999999"]) {
      for (const path of ["/v1/models/%ZZ", "/v1/models/..", "/v1/models/%2e%2e", "/../../etc"])
        expect(await ask(path, host)).toMatch(
          /^HTTP\/1.1 404 [^]*x-request-id: req_[^]*not_found"/i,
        );
      for (const path of ["//v1//models", "/v1/models/", "/v1/models/svc-3-flash", "/v1/models"])
        expect(await ask(path, host)).toStartWith("HTTP/1.1 200 ");
    }
  });

  test("of the platform are not on the gateway, nor the gateway's on the platform", async () => {
    const session = (await (await fetch(`${gateway.platformUrl}/api/session`)).json()) as {
      gateway_url: string;
    };
    expect(session.gateway_url).toBe(gateway.baseUrl);
    expect((await fetch(`${gateway.origin}/`)).status).toBe(404);
    for (const path of [...postPaths, "/v1/models", "/readyz"])
      for (const method of ["GET", "POST"])
        expect(
          (await fetch(`${gateway.platformUrl}${path}`, { method, headers: authorized() })).status,
        ).toBe(404);
    for (const host of ["a b", "//", ""]) {
      const text = `GET /none HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect(await sendRaw(gateway.platformUrl, text)).toMatch(/^HTTP\/1\.1 (404|421) /);
    }
  });
});

test("HEAD answers as GET does, without a body", async () => {
  for (const path of getPaths) {
    const reply = await fetch(`${gateway.origin}${path}`, {
      method: "HEAD",
      headers: authorized(),
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get("x-request-id")).toStartWith("req_");
    expect(await reply.text()).toBe("");
  }
  expect((await fetch(`${gateway.baseUrl}/models`, { method: "HEAD" })).status).toBe(401);
});

test("health, healthz and readyz answer without a key", async () => {
  for (const path of ["/health", "/healthz", "/readyz"]) {
    const reply = await fetch(`${gateway.origin}${path}`);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ status: "ok" });
  }
});

test("every reply has a request id of its own", async () => {
  const ids: (string | null)[] = [];
  for (let round = 0; round < 3; round += 1)
    for (const [method, path] of [
      ...getPaths.map((path) => ["GET", path] as const),
      ...postPaths.map((path) => ["POST", path] as const),
      ["OPTIONS", "/v1/models"],
      ["PUT", "/v1/models"],
      ["GET", "/none"],
    ] as const) {
      const reply = await fetch(`${gateway.origin}${path}`, { method, headers: authorized() });
      ids.push(reply.headers.get("x-request-id"));
    }
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{16,}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
