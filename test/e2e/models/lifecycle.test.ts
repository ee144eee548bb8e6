/** Deprecation and retirement: what callers are told, and dates that move a model by themselves. */

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
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader, parseStream, textOf } from "../../replies/event-stream.ts";
import { expectRefusal, thrownBy } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const messages = [{ role: "user", content: "Hi" }];

describe("a deprecated model", () => {
  let own: TestGateway;
  const retires = "2999-01-31T12:00:00Z";
  beforeAll(async () => {
    own = await startTestGateway();
    await own.server.operations.models.deprecate({
      id: "svc-2-flash",
      retires,
      replacement: "vendor/with-slash",
    });
  });
  afterAll(() => own.stop());
  beforeEach(() => own.upstream.reset());

  /** The three headers; the link is followed, because a link that leads nowhere helps nobody. */
  async function expectTold(reply: Response): Promise<void> {
    expect(reply.headers.get("deprecation")).toMatch(/^@\d{10}$/);
    expect(reply.headers.get("sunset")).toBe(new Date(retires).toUTCString());
    const url = `${own.baseUrl}/models/vendor%2Fwith-slash`;
    expect(reply.headers.get("link")).toBe(`<${url}>; rel="successor-version"`);
    const successor = await fetch(url, {
      headers: { authorization: `Bearer ${own.key}` },
    });
    expect(await successor.json()).toMatchObject({ id: "vendor/with-slash" });
    await reply.arrayBuffer();
  }

  test("is flagged in the list and by its id, and the others are not", async () => {
    const { data } = await own.client().models.list();
    const flagged = data.filter((model) => "deprecated" in model);
    expect(flagged.map(({ id }) => id)).toEqual(["svc-2-flash"]);
    const expected = {
      deprecated: true,
      retires_at: Date.parse(retires) / 1000,
      replacement: "vendor/with-slash",
    };
    expect(flagged[0]).toMatchObject(expected);
    const shown = await own.client().models.retrieve("svc-2-flash");
    expect(shown).toMatchObject(expected);
    expect(shown).toEqual(flagged[0] as typeof shown);
    expect((shown as { deprecated_at?: number }).deprecated_at).toBeInteger();
  });

  test("still answers, and tells of it on every endpoint", async () => {
    own.upstream.replyOnce(chatAnswers.plain());
    await expectTold(await own.call("/chat/completions", { model: "svc-2-flash", messages }));
    await expectTold(await own.call("/embeddings", { model: "svc-2-flash", input: "x" }));
    await expectTold(
      await fetch(`${own.baseUrl}/models/svc-2-flash`, {
        headers: { authorization: `Bearer ${own.key}` },
      }),
    );
  });
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
  const deprecate = (id: string, replacement = "svc-3-flash") =>
    own.server.operations.models.deprecate({
      id,
      from: new Date(deprecatedAtMs).toISOString(),
      retires: new Date(retiresAtMs).toISOString(),
      replacement,
    });

  test("active, then deprecated, then retired, each the moment its date has come", async () => {
    const [id, voice] = ["svc-2-flash", "svc-2.5-flash-tts"] as const;
    const { key } = await own.server.operations.keys.create({
      account: own.account,
      models: ["svc-3-flash"],
    });
    await deprecate(id);
    await deprecate(voice, "svc-2.5-pro-tts");
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
    const refusal = await expectRefusal(call(id), {
      status: 403,
      code: "model_retired",
      param: "model",
    });
    expect(refusal.message).toContain("svc-3-flash");
    const spoken = own.call("/audio/speech", { model: voice, input: "x", voice: "Kore" });
    const told = await expectRefusal(spoken, { status: 400, code: "model_retired" });
    expect(told.message).toContain("svc-2.5-pro-tts");
    // A key that may not call it is not told.
    const headers = { authorization: `Bearer ${key}` };
    const narrow = own.call("/chat/completions", { model: id, messages }, { headers });
    await expectRefusal(narrow, { status: 403, code: "model_not_allowed" });
    const gone = { status: 404, code: "model_not_found" };
    expect(await thrownBy(own.client().models.retrieve(id))).toMatchObject(gone);
    expect(await idsOf()).not.toContain(id);
    expect(own.upstream.requests).toBeEmpty();
    await expect(own.server.operations.models.retire({ id })).rejects.toThrow("already retired");
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
