import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { httpReply } from "../../fake/http/reply.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  inside: { kind: openai, base_url: "http://api.acme.example/v1", api_key: "\${FAKE_KEY}" }
models:
  plain: { endpoint: chat, price: { input: 1, output: 1 }, max_output_tokens: 100, routes: [{ provider: fake, model: x }] }
  inward: { endpoint: chat, price: { input: 1, output: 1 }, max_output_tokens: 100, routes: [{ provider: inside, model: x }] }
`;

const gateway = useTestGateway({ manifest, lookup: async () => ["127.0.0.1"] });

const messages = [{ role: "user", content: "hello" }];
const ask = (model: string, init?: RequestInit) =>
  gateway.call("/chat/completions", { model, messages }, init);

test("an upstream hears what we say, and nothing of the caller's headers", async () => {
  gateway.upstream.replyWith(chatJson());
  await ask("plain", {
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      cookie: "session=1",
      "x-forwarded-for": "1.2.3.4",
      "x-api-key": "caller",
      "proxy-authorization": "Basic eA==",
      te: "trailers",
      "openai-organization": "org-of-the-caller",
      "user-agent": "caller/1.0",
      "accept-encoding": "gzip, br",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    },
  });
  const [request] = gateway.upstream.requests;
  const { host, "content-length": length, ...rest } = request?.headers ?? {};
  expect(host).toBe(new URL(gateway.upstream.baseUrl).host);
  expect(Number(length)).toBe(Buffer.byteLength(request?.body ?? ""));
  expect(rest).toEqual({
    accept: "*/*",
    "accept-encoding": "identity",
    authorization: "Bearer vendor-secret",
    "content-type": "application/json",
    "user-agent": "svc-gateway",
  });
});

test("a caller sees our headers, and none of the upstream's", async () => {
  gateway.upstream.replyWith(
    httpReply({
      headers: {
        "content-type": "application/json",
        "x-vendor-secret": "tell nobody",
        "access-control-allow-origin": "*",
        "retry-after": "5",
        "transfer-encoding-note": "chunked",
        "strict-transport-security": "max-age=1",
      },
      body: [chatJson().parts[0] ?? ""],
      framing: "length",
    }),
  );
  const reply = await ask("plain");
  expect(reply.status).toBe(200);
  const names = [...reply.headers.keys()].filter((name) => !name.startsWith("x-ratelimit-"));
  expect(names.toSorted()).toEqual(["content-length", "content-type", "date", "x-request-id"]);
});

test("a small reply that unpacks into a huge one is broken off, and memory stays low", async () => {
  const piece = Buffer.alloc(16 * 1024 * 1024, 32);
  const packed = gzipSync(Buffer.concat(Array.from({ length: 32 }, () => piece)));
  expect(packed.length).toBeLessThan(1024 * 1024);
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  gateway.upstream.replyWith(httpReply({ headers, body: [packed], framing: "length" }));
  Bun.gc(true);
  const beforeBytes = process.memoryUsage().rss;
  const reply = await ask("plain");
  expect(reply.status).toBe(502);
  expect(((await reply.json()) as { error: { code: string } }).error.code).toBe("upstream_error");
  // Half a gigabyte was packed; a reply may have 64 MiB.
  expect(process.memoryUsage().rss - beforeBytes).toBeLessThan(400 * 1024 * 1024);
});

test("a public-looking name that leads to this machine is refused, and the caller is not told where", async () => {
  const reply = await ask("inward");
  const { error } = (await reply.json()) as { error: { code: string; message: string } };
  expect([reply.status, error.code]).toEqual([502, "upstream_unavailable"]);
  expect(error.message).not.toMatch(/localhost|::1|127|private/);
});
