import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const page = "https://app.example";
const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };
const corsHeaders = [
  "access-control-allow-origin",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-expose-headers",
];

let named: TestGateway;
let open: TestGateway;
const standard = useTestGateway();

beforeAll(async () => {
  named = await startTestGateway({
    environment: { SVC_CORS_ORIGINS: `${page}, https://b.example` },
  });
  open = await startTestGateway({ environment: { SVC_CORS_ORIGINS: "*" } });
});
afterAll(() => Promise.all([named.stop(), open.stop()]));
beforeEach(() => named.upstream.reset());

const preflight = (gateway: TestGateway, origin: string, path = "/v1/chat/completions") =>
  fetch(`${gateway.origin}${path}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type, x-stainless-lang",
    },
  });

function expectAllowed(reply: Response, origin: string): void {
  expect(reply.status).toBe(204);
  expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
  expect(reply.headers.get("access-control-allow-methods")).toContain("POST");
  expect(reply.headers.get("access-control-allow-headers")).toBe(
    "authorization, content-type, x-stainless-lang",
  );
  expect(reply.headers.get("vary")).toBe("origin");
}

function expectForeign(reply: Response): void {
  for (const name of corsHeaders) expect(reply.headers.get(name)).toBeNull();
  expect(reply.headers.get("vary")).toBe("origin");
}

test("a preflight from an origin that the operator named is allowed on every path", async () => {
  for (const origin of [page, "https://b.example"])
    for (const path of ["/v1/chat/completions", "/v1/models", "/v1/models/x", "/v1/audio/speech"])
      expectAllowed(await preflight(named, origin, path), origin);
});

test("any other origin gets no permission, however near its name", async () => {
  for (const origin of ["https://evil.example", "http://app.example", `${page}.evil`, "null"]) {
    const reply = await preflight(named, origin);
    expect(reply.status).toBe(204);
    expectForeign(reply);
  }
});

test("unless told otherwise the console's own origin is allowed, and no other", async () => {
  const { port } = new URL(standard.platformUrl);
  for (const origin of [standard.platformUrl, `http://localhost:${port}`])
    expectAllowed(await preflight(standard, origin), origin);
  expectForeign(await preflight(standard, page));
});

test("naming origins takes the console's away", async () => {
  expectForeign(await preflight(named, named.platformUrl));
});

test("with * every origin is allowed", async () => {
  for (const origin of [page, "https://any.example", "null"])
    expectAllowed(await preflight(open, origin), origin);
});

test("replies, streams and errors are readable for the page, with the headers clients need", async () => {
  const headers = { origin: page };
  named.upstream.replyOnce(chatAnswers.plain());
  named.upstream.replyOnce(chatStreams.openai());
  const replies = [
    await named.call("/chat/completions", chat, { headers }),
    await named.call("/chat/completions", { ...chat, stream: true }, { headers }),
    await named.call("/chat/completions", { ...chat, temperature: 9 }, { headers }),
    await fetch(`${named.baseUrl}/models`, { headers }),
    await fetch(`${named.origin}/none`, { headers }),
    await fetch(`${named.baseUrl}/models`, { method: "PUT", headers }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 401, 404, 405]);
  for (const reply of replies) {
    expect(reply.headers.get("access-control-allow-origin")).toBe(page);
    const exposed = reply.headers.get("access-control-expose-headers")?.split(", ") ?? [];
    expect(exposed).toContain("x-request-id");
    expect(exposed).toContain("retry-after");
    expect(exposed).toContain("deprecation");
    await reply.arrayBuffer();
  }
});

test("a call from a foreign page is answered, but its page may not read the answer", async () => {
  named.upstream.replyOnce(chatAnswers.plain());
  const reply = await named.call("/chat/completions", chat, {
    headers: { origin: "https://evil.example" },
  });
  expect(reply.status).toBe(200);
  expectForeign(reply);
});

test("callers that are no page get no CORS headers at all", async () => {
  const reply = await fetch(`${open.origin}/healthz`);
  for (const name of [...corsHeaders, "vary"]) expect(reply.headers.get(name)).toBeNull();
});

test("a browser may keep a permission for ten minutes, and no foreign page gets one", async () => {
  const maxAge = async (origin: string) =>
    (await preflight(named, origin)).headers.get("access-control-max-age");
  expect(await maxAge(page)).toBe("600");
  expect(await maxAge("https://other.example")).toBeNull();
});
