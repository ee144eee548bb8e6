/** Models: what is listed can be called, whose they are, and dates that move them by themselves. */

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setSystemTime,
  test,
} from "bun:test";
import {
  chatAnswers,
  chatStreams,
  embeddingsReply,
  type Recording,
  speechReplies,
} from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { BodyReader, parseStream, textOf } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { standardManifest, startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    manifest: standardManifest.replace("svc-3-flash: {", "$& owned_by: acme,"),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const messages = [{ role: "user", content: "Hi" }];
const base64 = Buffer.from(fixtureBytes("h264-1s.mp4")).toString("base64");

interface Call {
  readonly path: string;
  readonly fields: object;
  readonly record: () => Recording;
}

const oneVector = () => embeddingsReply({ vectors: [[0.5, 1]] });
const chat: Call = { path: "/chat/completions", fields: { messages }, record: chatAnswers.plain };
const speech: Call = {
  path: "/audio/speech",
  fields: { input: "Hello", voice: "Kore" },
  record: speechReplies.pcmChunked,
};
const textCall: Call = { path: "/embeddings", fields: { input: "x" }, record: oneVector };
const mediaCall: Call = {
  path: "/embeddings",
  fields: { input: { video: { bytesBase64Encoded: base64 } } },
  record: oneVector,
};
const calls = [chat, textCall, mediaCall, speech];

async function statusOf(model: string, { path, fields, record }: Call): Promise<number> {
  gateway.upstream.reset();
  gateway.upstream.replyWith(record());
  const reply = await gateway.call(path, { model, ...fields });
  await reply.arrayBuffer();
  return reply.status;
}

test("every listed id can be called, on one endpoint and with one kind of input", async () => {
  const { data } = await gateway.client().models.list();
  expect(data.length).toBe(7);
  for (const { id } of data) {
    const statuses: number[] = [];
    for (const call of calls) statuses.push(await statusOf(id, call));
    expect({ id, statuses: statuses.toSorted() }).toEqual({ id, statuses: [200, 400, 400, 400] });
  }
});

test("a model belongs to whom the operator says, and is as old as its entry", async () => {
  const { data } = await gateway.client().models.list();
  expect(data.filter(({ owned_by: owner }) => owner === "acme").map(({ id }) => id)).toEqual([
    "svc-3-flash",
  ]);
  const nowS = Date.now() / 1000;
  for (const { created } of data) {
    expect(created).toBeInteger();
    expect(created).toBeLessThanOrEqual(nowS);
    expect(created).toBeGreaterThan(nowS - 600);
  }
});

describe("dates move a model, without a restart and without anybody's doing:", () => {
  let own: TestGateway;
  const nowMs = Date.now();
  const deprecatedAtMs = nowMs + 5_000;
  const retiresAtMs = nowMs + 10_000;

  beforeAll(async () => {
    own = await startTestGateway();
  });
  afterAll(() => own.stop());
  beforeEach(() => {
    own.upstream.reset();
    own.upstream.replyWith(chatAnswers.plain());
    setSystemTime(nowMs);
  });
  afterEach(() => setSystemTime());

  const call = (model: string, fields: object = {}) =>
    own.call("/chat/completions", { model, messages, ...fields });
  const idsOf = async () => (await own.client().models.list()).data.map(({ id }) => id);
  const deprecate = (id: string) =>
    own.server.operations.deprecateModel({
      id,
      from: new Date(deprecatedAtMs).toISOString(),
      retires: new Date(retiresAtMs).toISOString(),
      replacement: "svc-3-flash",
    });

  test("active, then deprecated, then retired, each the moment its date has come", async () => {
    const id = "svc-2-flash";
    await deprecate(id);
    for (const atMs of [nowMs, deprecatedAtMs - 1]) {
      setSystemTime(atMs);
      const active = await call(id);
      expect([active.status, active.headers.get("deprecation")]).toEqual([200, null]);
      expect(await own.client().models.retrieve(id)).not.toHaveProperty("deprecated");
    }

    for (const atMs of [deprecatedAtMs, retiresAtMs - 1]) {
      setSystemTime(atMs);
      const reply = await call(id);
      expect(reply.status).toBe(200);
      expect(reply.headers.get("deprecation")).toBe(`@${Math.floor(deprecatedAtMs / 1000)}`);
      expect(reply.headers.get("sunset")).toBe(new Date(retiresAtMs).toUTCString());
      expect(await own.client().models.retrieve(id)).toHaveProperty("deprecated", true);
      expect(await idsOf()).toContain(id);
    }

    setSystemTime(retiresAtMs);
    own.upstream.reset();
    const refusal = await refusalOf(call(id));
    expect(refusal).toMatchObject({ status: 403, code: "model_retired", param: "model" });
    expect(refusal.message).toContain("svc-3-flash");
    expect(await idsOf()).not.toContain(id);
    expect(own.upstream.requests).toBeEmpty();
    await expect(own.server.operations.retireModel({ id })).rejects.toThrow("retired already");
  });

  test("a stream that began before goes on to its end", async () => {
    const id = "vendor/with-slash";
    await deprecate(id);
    const rest = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    own.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: rest.promise }));
    const body = new BodyReader(await call(id, { stream: true }));
    await body.until("Hello");
    setSystemTime(retiresAtMs);
    const { status } = await call(id);
    rest.resolve();
    expect(status).toBe(403);
    const stream = parseStream(await body.rest());
    expect([textOf(stream), stream.isDone]).toEqual(["Hello! How can I help?", true]);
  });
});
