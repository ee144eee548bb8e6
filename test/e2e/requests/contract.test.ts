/** What holds on every endpoint alike, as the clients of the format expect it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import {
  chatAnswers,
  chatStreams,
  embeddingsReply,
  operatorErrors,
  type Recording,
  rateLimits,
  speechReplies,
} from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

interface Ask {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly record: () => Recording;
  /** How the content type of the answer begins. */
  readonly type: string;
}

const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };
const embedding = { model: "svc-embedding-2", input: "x" };
const speech = { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" };
const oneVector = () => embeddingsReply({ vectors: [[0.5, 1]] });

/** One good call of each kind. */
const asks: Readonly<Record<string, Ask>> = {
  chat: {
    path: "/chat/completions",
    body: chat,
    record: chatAnswers.plain,
    type: "application/json",
  },
  "streamed chat": {
    path: "/chat/completions",
    body: { ...chat, stream: true },
    record: chatStreams.openai,
    type: "text/event-stream",
  },
  embeddings: {
    path: "/embeddings",
    body: embedding,
    record: oneVector,
    type: "application/json",
  },
  speech: {
    path: "/audio/speech",
    body: speech,
    record: speechReplies.pcmChunked,
    type: "audio/wav",
  },
};
const kinds = Object.entries(asks);

const send = (
  { path, body, record }: Ask,
  { more = {}, ...init }: RequestInit & { readonly more?: object } = {},
) => {
  gateway.upstream.replyOnce(record());
  return gateway.call(path, { ...body, ...more }, init);
};

describe("no Accept header is refused:", () => {
  const accepts = ["*/*", "application/json", "text/event-stream", "text/html", "image/png", "x;;"];
  for (const [kind, ask] of kinds)
    test(`${kind} is answered in the one type it has, whatever is asked for`, async () => {
      for (const accept of accepts) {
        const reply = await send(ask, { headers: { accept } });
        expect({ accept, status: reply.status }).toEqual({ accept, status: 200 });
        expect(reply.headers.get("content-type")).toStartWith(ask.type);
        await reply.arrayBuffer();
      }
    });

  test("models are listed and shown, and errors told, in JSON", async () => {
    for (const path of ["/models", "/models/svc-3-flash", "/models/none", "/none"])
      for (const accept of accepts) {
        const reply = await fetch(`${gateway.baseUrl}${path}`, {
          headers: { accept, authorization: `Bearer ${gateway.key}` },
        });
        expect(reply.status).toBe(path.endsWith("none") ? 404 : 200);
        expect(reply.headers.get("content-type")).toBe("application/json");
      }
  });
});

test("a base URL with a slash at its end serves the SDK on every endpoint", async () => {
  const sdk = new OpenAI({ baseURL: `${gateway.baseUrl}/`, apiKey: gateway.key, maxRetries: 0 });
  const hello = { model: chat.model, messages: [{ role: "user" as const, content: "Hi" }] };
  gateway.upstream.replyOnce(chatAnswers.plain());
  expect((await sdk.chat.completions.create(hello)).object).toBe("chat.completion");
  gateway.upstream.replyOnce(oneVector());
  expect((await sdk.embeddings.create(embedding)).data.length).toBe(1);
  gateway.upstream.replyOnce(speechReplies.pcmChunked());
  expect((await sdk.audio.speech.create(speech)).status).toBe(200);
  expect((await sdk.models.list()).data.length).toBeGreaterThan(0);
  expect((await sdk.models.retrieve("vendor/with-slash")).id).toBe("vendor/with-slash");
});

test("every good answer has a request id of its own, and none of the caller or the vendor", async () => {
  const ids: string[] = [];
  for (const [, ask] of [...kinds, ...kinds]) {
    const reply = await send(ask, { headers: { "x-request-id": "req_chosen" } });
    ids.push(reply.headers.get("x-request-id") ?? "");
    await reply.arrayBuffer();
  }
  expect(new Set(ids).size).toBe(kinds.length * 2);
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
});

test("headers that clients add change nothing, on any endpoint", async () => {
  const headers = {
    "api-key": "another",
    "openai-organization": "org",
    "openai-project": "project",
    "openai-beta": "assistants=v2",
    "x-stainless-lang": "js",
    "x-stainless-retry-count": "1",
    "http-referer": "https://app.example",
    "x-title": "app",
    "content-type": "application/json; charset=utf-8",
  };
  for (const [, ask] of kinds) {
    const plain = gateway.upstream.requests.length;
    await (await send(ask)).arrayBuffer();
    const reply = await send(ask, { headers });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
    const [first, second] = gateway.upstream.requests.slice(plain);
    expect(second?.body).toBe(first?.body ?? "");
    expect(Object.keys(second?.headers ?? {})).toEqual(Object.keys(first?.headers ?? {}));
  }
});

test("body fields that nobody knows change nothing, on any endpoint", async () => {
  const more = { nobody_knows: { deep: [1] }, extra_body: {}, "": 0, stream_format: "audio" };
  for (const [, ask] of kinds) {
    const reply = await send(ask, { more });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
    expect(gateway.upstream.requests.at(-1)?.body).not.toContain("nobody_knows");
  }
});

describe("refused at the door, in the one shape, with the type that SDKs look at:", () => {
  const paths = ["/chat/completions", "/embeddings", "/audio/speech"];
  const invalid = { type: "invalid_request_error" };
  for (const path of paths)
    test(path, async () => {
      const refused = async (status: number, reply: Response | Promise<Response>) => {
        const given = await reply;
        expect(given.headers.get("x-should-retry")).toBe("false");
        expect(await refusalOf(given)).toMatchObject({ status, ...invalid });
      };
      for (const text of ["", "{", "[]", "null", '"x"', "{}"])
        await refused(400, gateway.call(path, text));
      await refused(415, gateway.call(path, "{}", { headers: { "content-type": "text/plain" } }));
      await refused(413, gateway.call(path, " ".repeat(32 * 1024 * 1024 + 1)));
      await refused(401, gateway.call(path, "{}", { headers: { authorization: "Bearer x" } }));
      await refused(405, gateway.call(path, "{}", { method: "PUT" }));
      await refused(404, gateway.call(`${path}/none`, "{}"));
      expect(gateway.upstream.requests).toBeEmpty();
    });

  test("a path that is not served is told which are", async () => {
    const { status, message } = await refusalOf(gateway.call("/completions", { prompt: "Hi" }));
    expect(status).toBe(404);
    expect(message).toContain("/v1/chat/completions, /v1/embeddings, /v1/audio/speech, /v1/models");
    const bare = await refusalOf(fetch(`${gateway.origin}/chat/completions`, { method: "POST" }));
    expect(bare.message).toContain("The base URL ends in /v1.");
  });

  test("/responses, which one SDK calls unless told otherwise, is a plain 404", async () => {
    const refusal = await refusalOf(gateway.call("/responses", { model: chat.model, input: "Hi" }));
    expect(refusal).toMatchObject({ status: 404, code: "not_found", ...invalid });
  });
});

describe("an upstream's refusal of the operator never looks like the caller's fault:", () => {
  for (const [kind, ask] of kinds)
    test(kind, async () => {
      for (const record of Object.values(operatorErrors)) {
        const reply = await send({ ...ask, record });
        expect(await refusalOf(reply)).toMatchObject({ status: 502, type: "upstream_error" });
      }
      const limited = await send({ ...ask, record: () => rateLimits.seconds(7) });
      expect(limited.headers.get("retry-after")).toBe("7");
      expect(limited.headers.get("retry-after-ms")).toBe("7000");
      expect(await refusalOf(limited)).toMatchObject({
        status: 429,
        code: "upstream_rate_limited",
      });
    });
});

describe("a caller who leaves a stream while the upstream is at work aborts its work:", () => {
  // Whole replies are worked on to their end: money-leaving.test.ts.
  const isStreamed = (path: string) => !path.endsWith("/embeddings");
  for (const [kind, { path, body }] of kinds.filter(([, { path }]) => isStreamed(path)))
    test(kind, async () => {
      gateway.upstream.replyOnce([{ hang: true }]);
      const arrival = gateway.upstream.nextRequest();
      const caller = new AbortController();
      const reply = gateway
        .call(path, { ...body, stream: true }, { signal: caller.signal })
        .catch(() => "left");
      const request = await arrival;
      caller.abort();
      expect(await reply).toBe("left");
      await request.closed;
      expect(request.abortedByClient).toBe(true);
    });
});
