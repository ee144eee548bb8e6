/** The log of the gateway: a line for each failure, and in none of them what somebody said or a key. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { modelEndpoint } from "../../../src/gateway/pipeline.ts";
import { type ApiVersion, post, v1 } from "../../../src/gateway/versions.ts";
import {
  chatChunk,
  chatJson,
  chatStream,
  embeddingsReply,
  type Recording,
  speechReplies,
  vendorError,
} from "../../fake/recordings.ts";
import { cutAfter, type Reply } from "../../fake/script.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../setup/harness.ts";
import { leaver, openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";

/** Words that must never be in a log: whoever finds one has found what it stood in. */
const canary = {
  prompt: "canary-of-the-prompt",
  answer: "canary-of-the-answer",
  vendor: "canary-of-the-vendors-words",
  vendorKey: "sk-canary-of-the-vendors-key",
  name: "canary-of-a-name",
} as const;

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  spare: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  talker: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: chat }] }
  twice: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: first }, { provider: spare, model: second, weight: 0 }] }
  vectors: { endpoint: embeddings, input: text, price: { input: 1 }, routes: [{ provider: fake, model: embed }] }
  voice: { endpoint: speech, price: { input: 1, audio_output: 1 }, routes: [{ provider: fake, model: tts, voices: same }] }
`;

/** A version whose endpoint chokes on the prompt, as no code of ours should. */
const broken: ApiVersion = {
  prefix: "/broken",
  endpoints: (dependencies) => ({
    "/chat": post(
      modelEndpoint(dependencies, { endpoint: "chat" }, async ({ body }) =>
        JSON.parse(`${body["ask"]}`),
      ),
    ),
  }),
};

type Line = Readonly<Record<string, string | number>>;

let gateway: TestGateway;
let payer: Payer;
let text = "";
let isRunning = false;
/** The reply has begun: what breaks from here on breaks in the middle of it. */
let heard = Promise.withResolvers<void>();

async function stop(): Promise<void> {
  if (isRunning) await gateway.stop();
  isRunning = false;
}

async function start(level: string, options: TestGatewayOptions = {}): Promise<void> {
  gateway = await startTestGateway({
    manifest,
    versions: [v1, broken],
    writeLog: (line) => (text += line),
    ...options,
    environment: {
      SVC_LOG_LEVEL: level,
      SVC_FIRST_BYTE_S: "0.4",
      FAKE_KEY: canary.vendorKey,
      ...options.environment,
    },
  });
  isRunning = true;
  await begin();
}

/** A payer of its own, and an empty log, for the next test. */
async function begin(): Promise<void> {
  heard = Promise.withResolvers();
  payer = await openPayer(gateway);
  text = "";
}

/** One gateway for all tests around it. */
function useLevel(level: string): void {
  beforeAll(() => start(level));
  beforeEach(async () => {
    gateway.upstream.reset();
    await begin();
  });
  afterAll(() => stop());
}

/** All that was written; every line is one JSON object. */
function readLines(): readonly Line[] {
  const lines = text === "" ? [] : text.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

function expectNoCanary(): void {
  for (const word of [...Object.values(canary), payer.key, "canary"])
    expect(text).not.toContain(word);
}

const messages = [{ role: "user", content: canary.prompt }];
const chat = (more: object = {}, init: RequestInit = {}) =>
  payer.call("/chat/completions", { model: "talker", messages, ...more }, init);
const speak = async () => {
  const body = { model: "voice", input: canary.prompt, voice: "Kore" };
  const response = await payer.call("/audio/speech", body);
  heard.resolve();
  return response;
};
const drain = async (call: Promise<Response>) => {
  const response = await call;
  await response.bytes().catch(() => {});
  return response;
};
const said = (content: string, ...after: Parameters<typeof chatStream>[0]["events"]) =>
  chatStream({ events: [chatChunk({ delta: { role: "assistant", content } }), ...after] });
const brokenOff = (recording: Recording, parts: number) =>
  cutAfter({ recording, parts, by: "close", until: heard.promise });
const vendorWords = { message: `${canary.vendor} ${canary.prompt} ${canary.vendorKey}` };

interface Failure {
  readonly reply: () => Reply;
  readonly ask?: () => Promise<Response>;
  readonly line: Line;
}

const ofChat = { level: "warn", endpoint: "chat", model: "talker", provider: "fake", attempts: 1 };
const failed = { ...ofChat, code: "upstream_error", status: 502 };
const stream = async () => {
  const response = await chat({ stream: true });
  heard.resolve();
  return response;
};

/** What the upstream does, and what the one line of it says. */
const upstreamFailures: Readonly<Record<string, Failure>> = {
  "answers 500": { reply: () => vendorError(500, vendorWords), line: failed },
  "refuses our key and repeats it": {
    reply: () => vendorError(401, { ...vendorWords, code: canary.vendorKey }),
    line: { ...ofChat, code: "upstream_unavailable", status: 502 },
  },
  "says nothing": {
    reply: () => [{ hang: true }],
    line: { ...ofChat, code: "upstream_timeout", status: 504 },
  },
  "breaks off a stream": {
    reply: () => brokenOff(said(canary.answer), 1),
    ask: stream,
    line: failed,
  },
  "puts an error into a stream": {
    reply: () => said(canary.answer, { error: vendorWords }),
    ask: stream,
    line: failed,
  },
  "puts what is no JSON into a stream": {
    reply: () => said(canary.answer, `data: {"${canary.vendor}`),
    ask: stream,
    line: failed,
  },
  "breaks off a sound": {
    reply: () => brokenOff(speechReplies.pcmChunked(), 2),
    ask: speak,
    line: { ...failed, endpoint: "speech", model: "voice" },
  },
  "sends too few vectors": {
    reply: () => embeddingsReply({ vectors: [[1]] }),
    ask: () => payer.call("/embeddings", { model: "vectors", input: [canary.prompt, "b"] }),
    line: { ...failed, endpoint: "embeddings", model: "vectors" },
  },
  "fails, and so does the one after it": {
    reply: () => vendorError(500, vendorWords),
    ask: () => chat({ model: "twice" }),
    line: { ...failed, model: "twice", provider: "spare", attempts: 2 },
  },
};

/** What callers have to mend themselves: nothing for an operator to look into. */
const refusals: Readonly<Record<string, readonly [string, () => Promise<Response>]>> = {
  "a wrong key": [
    "invalid_api_key",
    () => chat({}, { headers: { authorization: `Bearer sk-svc-${canary.name}` } }),
  ],
  "a path that is not there": [
    "not_found",
    () => fetch(`${gateway.baseUrl}/${canary.name}?key=${payer.key}`),
  ],
  "a wrong method": ["method_not_allowed", () => fetch(`${gateway.baseUrl}/embeddings`)],
  "half a body": ["invalid_json", () => payer.call("/embeddings", `{"input":"${canary.prompt}`)],
  "a model that nobody knows": ["model_not_allowed", () => chat({ model: canary.name })],
  "a wrong field": ["invalid_request", () => chat({ temperature: canary.prompt })],
  "what the upstream refuses": [
    "upstream_rejected",
    () => {
      gateway.upstream.replyOnce(vendorError(400, vendorWords));
      return chat();
    },
  ],
};

describe("at level debug", () => {
  useLevel("debug");

  for (const [what, { reply, ask = () => chat(), line }] of Object.entries(upstreamFailures))
    test(`an upstream that ${what} is one line, with nothing of what was said`, async () => {
      gateway.upstream.replyWith(reply);
      const response = await drain(ask());
      await payer.settled(1);
      const [only, ...others] = readLines();
      expect(others).toEqual([]);
      expect(only).toMatchObject({
        ...line,
        message: "request failed",
        request_id: response.headers.get("x-request-id") ?? "",
        account_id: payer.id,
        key_id: payer.keyId,
      });
      expect(only?.["duration_ms"]).toBeNumber();
      expectNoCanary();
    });

  for (const [what, [code, ask]] of Object.entries(refusals))
    test(`${what} is one line`, async () => {
      gateway.upstream.replyWith(chatJson({ text: canary.answer }));
      expect((await drain(ask())).ok).toBe(false);
      expect(readLines()).toEqual([
        expect.objectContaining({ level: "debug", message: "request rejected", code }),
      ]);
      expectNoCanary();
    });

  test("a caller who leaves is one line", async () => {
    gateway.upstream.replyWith([{ hang: true }]);
    const { signal, leave } = leaver();
    const asked = gateway.upstream.nextRequest();
    const call = chat({ stream: true }, { signal });
    await asked;
    await leave(call);
    await payer.settled(1);
    await waitUntil("the line", () => readLines().length > 0);
    expect(readLines()).toEqual([
      expect.objectContaining({ level: "debug", message: "caller disconnected" }),
    ]);
    expectNoCanary();
  });

  test("what succeeds has no line at any level, also where another target had to make it good", async () => {
    gateway.upstream.replyOnce(vendorError(500, vendorWords));
    gateway.upstream.replyWith(chatJson({ text: canary.answer }));
    expect((await drain(chat({ model: "twice" }))).status).toBe(200);
    expect((await drain(chat())).status).toBe(200);
    await payer.settled(2);
    expect(readLines()).toEqual([]);
  });
});

describe("a failure of our own is a line at level error:", () => {
  afterEach(() => stop());

  test("one that nobody foresaw, by the place where it was thrown and not by its words", async () => {
    await start("debug");
    const response = await fetch(`${gateway.origin}/broken/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${payer.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "talker", ask: canary.prompt }),
    });
    expect(response.status).toBe(500);
    const [only, ...others] = readLines();
    expect(others).toEqual([]);
    expect(only).toMatchObject({
      level: "error",
      message: "request failed",
      code: "internal_error",
      status: 500,
      model: "talker",
      attempts: 0,
      request_id: response.headers.get("x-request-id") ?? "",
    });
    expect(only?.["detail"]).toStartWith("SyntaxError at ");
    expect(only?.["detail"]).toContain("failure-lines.test.ts");
    expectNoCanary();
  });

  test("a ledger that cannot be written, beside the line that says so of the ledger", async () => {
    const disk = new FaultyStore();
    await start("debug", { open: disk.open });
    gateway.upstream.replyWith(() => {
      disk.setReadOnly(true);
      return chatJson();
    });
    expect((await drain(chat())).status).toBe(503);
    const lines = readLines().filter(({ message }) => message === "request failed");
    expect(lines).toEqual([
      expect.objectContaining({ level: "error", code: "store_unavailable", provider: "fake" }),
    ]);
    expectNoCanary();
    disk.setReadOnly(false);
  });
});

test("a call that is cut off because the server stops is one line, at level warn", async () => {
  await start("debug", { environment: { SVC_GRACE_S: "0.05", SVC_FIRST_BYTE_S: "60" } });
  gateway.upstream.replyWith(cutAfter({ recording: said(canary.answer), parts: 1, by: "hang" }));
  const reader = new BodyReader(await stream());
  await reader.until(canary.answer);
  await stop();
  expect(readLines()).toEqual([
    expect.objectContaining({ level: "warn", message: "request failed", code: "shutting_down" }),
  ]);
  expectNoCanary();
});
