/** What holds on every endpoint alike, as the clients of the format expect it. */

import { describe, expect, test } from "bun:test";
import {
  chatAnswers,
  chatStreams,
  embeddingsReply,
  operatorErrors,
  type Recording,
  rateLimits,
  speechReplies,
} from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

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

test("every reply has a request id of its own, whatever the caller or the vendor sent", async () => {
  const ids: (string | null)[] = [];
  const headers = { authorization: `Bearer ${gateway.key}`, "x-request-id": "req_chosen" };
  for (let round = 0; round < 3; round += 1) {
    for (const [, ask] of kinds) {
      const reply = await send(ask, { headers });
      expect(reply.status).toBe(200);
      ids.push(reply.headers.get("x-request-id"));
      await reply.arrayBuffer();
    }
    for (const [method, path] of [
      ["GET", "/v1/models"],
      ["GET", "/v1/models/svc-3-flash"],
      ["GET", "/healthz"],
      ["GET", "/readyz"],
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/embeddings"],
      ["POST", "/v1/audio/speech"],
      ["OPTIONS", "/v1/models"],
      ["PUT", "/v1/models"],
      ["GET", "/none"],
    ] as const) {
      const reply = await fetch(`${gateway.origin}${path}`, { method, headers });
      ids.push(reply.headers.get("x-request-id"));
    }
  }
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(new Set(ids).size).toBe(ids.length);
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

describe("an upstream's refusal of the operator never looks like the caller's fault:", () => {
  for (const [kind, ask] of kinds)
    test(kind, async () => {
      for (const record of Object.values(operatorErrors)) {
        const reply = await send({ ...ask, record });
        await expectRefusal(reply, { status: 502, type: "upstream_error" });
      }
      const limited = await send({ ...ask, record: () => rateLimits.seconds(7) });
      expect(limited.headers.get("retry-after")).toBe("7");
      expect(limited.headers.get("retry-after-ms")).toBe("7000");
      await expectRefusal(limited, { status: 429, code: "upstream_rate_limited" });
    });
});
