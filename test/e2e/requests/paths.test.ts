/** Paths and methods: what is served where, and how all else is refused. */

import { beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { OpenAI } from "openai";
import { chatAnswers, embeddingsReply, speechReplies } from "../../fake/recordings.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const chat = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };
const postPaths = ["/v1/chat/completions", "/v1/embeddings", "/v1/audio/speech"];
const getPaths = ["/v1/models", "/v1/models/svc-3-flash", "/healthz", "/readyz"];
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

describe("a path", () => {
  test("that is unknown is 404, with or without a key", async () => {
    for (const path of ["/", "/v1", "/v1/batches", "/v2/models", "/v1/chat", "/admin", "/metrics"])
      for (const headers of [authorized(), {}])
        await expectRefusal(fetch(`${gateway.origin}${path}`, { headers }), {
          status: 404,
          code: "not_found",
          type: "invalid_request_error",
        });
  });

  test("that is not served gets a hint which are", async () => {
    const refused = { status: 404, code: "not_found", type: "invalid_request_error" };
    const words = "/v1/chat/completions, /v1/responses, /v1/responses/{id}";
    await expectRefusal(gateway.call("/batches", chat), {
      ...refused,
      message: expect.stringContaining(words),
    });
    const bare = await refusalOf(fetch(`${gateway.origin}/chat/completions`, { method: "POST" }));
    expect(bare.message).toContain("The base URL must end in /v1.");
  });

  test("with extra slashes reaches the same route", async () => {
    for (const path of ["//v1//models", "/v1/models/", "/v1/models//", "/v1//models?limit=1"])
      expect((await fetch(`${gateway.origin}${path}`, { headers: authorized() })).status).toBe(200);
    for (const path of ["//v1//chat///completions", "/v1/chat/completions/"]) {
      const reply = await fetch(`${gateway.origin}${path}`, {
        method: "POST",
        headers: authorized(),
        body: Buffer.from(JSON.stringify({ ...chat, model: "vendor/with-slash" })),
      });
      expect(await reply.json()).toHaveProperty("model", "vendor/with-slash");
      expect(gateway.upstream.requests.at(-1)?.json).toHaveProperty("model", "upstream-slash");
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

test("a base URL with a slash at its end serves the SDK on every endpoint", async () => {
  const sdk = new OpenAI({ baseURL: `${gateway.baseUrl}/`, apiKey: gateway.key, maxRetries: 0 });
  expect((await sdk.chat.completions.create(chat)).object).toBe("chat.completion");
  gateway.upstream.replyOnce(embeddingsReply({ vectors: [[0.5, 1]] }));
  expect((await sdk.embeddings.create({ model: "svc-embedding-2", input: "x" })).data.length).toBe(
    1,
  );
  gateway.upstream.replyOnce(speechReplies.pcmChunked());
  expect(
    (await sdk.audio.speech.create({ model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" }))
      .status,
  ).toBe(200);
  expect((await sdk.models.list()).data.length).toBeGreaterThan(0);
  expect((await sdk.models.retrieve("vendor/with-slash")).id).toBe("vendor/with-slash");
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
    await expectRefusal(reply, { status: 405, code: "method_not_allowed" });
  }
  const stored = `${gateway.origin}/v1/responses/resp_1`;
  const refusal = await refusalOf(await fetch(stored, { method: "PUT", headers: authorized() }));
  expect(refusal.message).toBe("Method not allowed. Use GET, HEAD, DELETE or POST.");
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
