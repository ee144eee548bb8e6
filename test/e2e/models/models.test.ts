import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { chatAnswers, chatStreams, failures, speechReplies } from "../../fake/recordings.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { standardManifest, startTestGateway, type TestGateway } from "../../setup/harness.ts";

const served = [
  "multimodal-embedding-1",
  "svc-2-flash",
  "svc-2.5-flash-tts",
  "svc-2.5-pro-tts",
  "svc-3-flash",
  "svc-embedding-2",
  "vendor/with-slash",
];
const messages = [{ role: "user" as const, content: "Hi" }];
const bodies = {
  "/chat/completions": { messages },
  "/embeddings": { input: "x" },
  "/audio/speech": { input: "x", voice: "Kore" },
} as const;
type Path = keyof typeof bodies;
const paths = Object.keys(bodies) as Path[];
const homes: Readonly<Record<string, Path>> = {
  "svc-3-flash": "/chat/completions",
  "svc-embedding-2": "/embeddings",
  "multimodal-embedding-1": "/embeddings",
  "svc-2.5-flash-tts": "/audio/speech",
};

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const post = (path: Path, model: string, key = gateway.key) =>
  gateway.call(
    path,
    { model, ...bodies[path] },
    { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } },
  );
const get = (path: string, key = gateway.key) =>
  fetch(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });

async function idsOf(key: string): Promise<string[]> {
  const page = await gateway.client({ apiKey: key }).models.list();
  return page.data.map(({ id }) => id).toSorted();
}

async function keyFor(...models: readonly string[]): Promise<string> {
  const { key } = await gateway.server.operations.createKey({ account: gateway.account, models });
  return key;
}

describe("the list", () => {
  test("has every model that is priced and routed, and only those", async () => {
    expect(await idsOf(gateway.key)).toEqual(served);
  });

  test("has the shape of the contract, with created in seconds", async () => {
    const reply = await get("/models");
    expect(reply.headers.get("content-type")).toBe("application/json");
    const list = (await reply.json()) as { object: string; data: Record<string, unknown>[] };
    expect(list.object).toBe("list");
    for (const model of list.data) {
      expect(Object.keys(model).slice(0, 4)).toEqual(["id", "object", "created", "owned_by"]);
      expect(model).toMatchObject({ object: "model", owned_by: "svc" });
      expect(new Date(Number(model["created"]) * 1000).getUTCFullYear()).toBeGreaterThan(2024);
    }
  });

  test("says what each model is for, by the names that clients know", async () => {
    const { data } = (await (await get("/models")).json()) as { data: Record<string, unknown>[] };
    const shown = new Map(data.map((model) => [model["id"], model]));
    const contract = ["id", "object", "created", "owned_by"];
    const added = (id: string) =>
      Object.fromEntries(
        Object.entries(shown.get(id) ?? {}).filter(([name]) => !contract.includes(name)),
      );
    expect(added("svc-3-flash")).toEqual({
      supported_endpoints: ["/v1/chat/completions"],
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      context_length: 1_048_576,
      max_completion_tokens: 8192,
      pricing: { prompt: "0.0000003", completion: "0.0000025", input_cache_read: "0.00000003" },
    });
    // What nobody has set is not in the list; a model that is free costs 0.
    expect(added("svc-2-flash")).toEqual({
      supported_endpoints: ["/v1/chat/completions"],
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      pricing: { prompt: "0", completion: "0" },
    });
    expect(added("vendor/with-slash")["architecture"]).toEqual({
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
    });
    expect(added("svc-embedding-2")).toEqual({
      supported_endpoints: ["/v1/embeddings"],
      architecture: { input_modalities: ["text"], output_modalities: ["embeddings"] },
      context_length: 8192,
      pricing: { prompt: "0.00000002", completion: "0" },
    });
    expect(added("multimodal-embedding-1")).toEqual({
      supported_endpoints: ["/v1/embeddings"],
      architecture: { input_modalities: ["image", "video"], output_modalities: ["embeddings"] },
      pricing: { image: "0.0001", video_second: "0.0005" },
    });
    expect(added("svc-2.5-flash-tts")).toEqual({
      supported_endpoints: ["/v1/audio/speech"],
      architecture: { input_modalities: ["text"], output_modalities: ["audio"] },
      pricing: { prompt: "0.0000005", audio_output: "0.00001" },
    });
    for (const [id, model] of shown)
      expect(await (await get(`/models/${encodeURIComponent(String(id))}`)).json()).toEqual(model);
  });

  test("has only what the key may call", async () => {
    expect(await idsOf(await keyFor("svc-3-flash", "unpriced", "none-such"))).toEqual([
      "svc-3-flash",
    ]);
    expect(await idsOf(await keyFor("none-such"))).toEqual([]);
  });
});

describe("a model by its id", () => {
  test("is found through the SDK, with a slash in it too", async () => {
    for (const id of served)
      expect(await gateway.client().models.retrieve(id)).toMatchObject({ id, object: "model" });
    expect((await get("/models/vendor/with-slash")).status).toBe(200);
    expect((await get("/models/vendor%2Fwith-slash")).status).toBe(200);
  });

  test("is 404 when unknown, unpriced, unrouted or not allowed, in the same words", async () => {
    const narrow = await keyFor("svc-3-flash");
    const messagesSeen = new Set<string>();
    for (const [id, key] of [
      ["none-such", gateway.key],
      ["unpriced", gateway.key],
      ["unrouted", gateway.key],
      ["svc-2-flash", narrow],
    ] as const) {
      const thrown = await thrownBy(gateway.client({ apiKey: key }).models.retrieve(id));
      expect(thrown).toMatchObject({ status: 404, code: "model_not_found" });
      messagesSeen.add(thrown.message.replace(id, "ID"));
    }
    expect(messagesSeen.size).toBe(1);
  });
});

test("the voices are listed without a key, as Open WebUI asks for them", async () => {
  for (const init of [{}, { headers: { authorization: "Bearer wrong" } }]) {
    const reply = await fetch(`${gateway.baseUrl}/audio/voices`, init);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(await reply.json()).toEqual({
      voices: ["Kore", "Puck", "Charon", "Fenrir", "Aoede"].map((name) => ({ id: name, name })),
    });
  }
  const reply = await fetch(`${gateway.baseUrl}/audio/voices`, { method: "POST" });
  expect(await refusalOf(reply)).toMatchObject({ status: 405 });
});

test("listing and finding ask no upstream, and answer when it is gone", async () => {
  const own = await startTestGateway();
  try {
    await own.upstream.stop();
    const page = await own.client().models.list();
    expect(page.data.length).toBe(served.length);
    expect((await own.client().models.retrieve("svc-3-flash")).id).toBe("svc-3-flash");
    expect(own.upstream.requests).toBeEmpty();
    const chat = own.client().chat.completions.create({ model: "svc-3-flash", messages });
    expect(await thrownBy(chat)).toMatchObject({ status: 502 });
  } finally {
    // The upstream has stopped already: only the server is left.
    await own.server.stop();
    rmSync(own.dataDir, { recursive: true });
  }
});

describe("a call", () => {
  test("of an unknown, unpriced, unrouted or forbidden model gets one and the same answer", async () => {
    const narrow = await keyFor("svc-3-flash");
    for (const path of paths) {
      const answers = new Set<string>();
      for (const [id, key] of [
        ["none-such", gateway.key],
        ["unpriced", gateway.key],
        ["unrouted", gateway.key],
        ["svc-2-flash", narrow],
        ["svc-embedding-2", narrow],
      ] as const) {
        const refusal = await refusalOf(post(path, id, key));
        answers.add(JSON.stringify(refusal).replace(id, "ID"));
      }
      expect(answers.size).toBe(1);
      expect(JSON.parse([...answers][0] ?? "")).toMatchObject(
        path === "/chat/completions"
          ? { status: 403, code: "model_not_allowed", type: "permission_error", param: "model" }
          : { status: 400, code: "model_not_allowed", type: "invalid_request_error" },
      );
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("on another endpoint than the model's own is told where to go", async () => {
    for (const [id, home] of Object.entries(homes))
      for (const path of paths.filter((other) => other !== home)) {
        const refusal = await refusalOf(post(path, id));
        expect(refusal).toMatchObject({ status: 400, code: "wrong_endpoint", param: "model" });
        expect(refusal.message).toContain(`POST /v1${home}`);
      }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("without a model, or with one that is no text, is refused by name", async () => {
    for (const path of paths)
      for (const model of [undefined, null, "", 7, ["svc-3-flash"]])
        expect(await refusalOf(gateway.call(path, { ...bodies[path], model }))).toMatchObject({
          status: 400,
          code: "invalid_request",
          param: "model",
        });
  });
});

describe("a deprecated model", () => {
  let own: TestGateway;
  const retires = "2999-01-31T12:00:00Z";
  const chat = (fields: object = {}) =>
    own.call("/chat/completions", { model: "svc-2-flash", messages, ...fields });

  beforeAll(async () => {
    own = await startTestGateway();
    await own.server.operations.deprecateModel({
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
    const link = /^<(.+)>; rel="successor-version"$/.exec(reply.headers.get("link") ?? "");
    const successor = await fetch(link?.[1] ?? "", {
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

  test("still answers, and tells of it on replies, streams and errors alike", async () => {
    own.upstream.replyOnce(chatAnswers.plain());
    await expectTold(await chat());
    own.upstream.replyOnce(chatStreams.openai());
    await expectTold(await chat({ stream: true }));
    await expectTold(await chat({ temperature: 3 }));
    own.upstream.replyOnce(failures.internal());
    await expectTold(await chat());
    await expectTold(await own.call("/embeddings", { model: "svc-2-flash", input: "x" }));
    await expectTold(
      await fetch(`${own.baseUrl}/models/svc-2-flash`, {
        headers: { authorization: `Bearer ${own.key}` },
      }),
    );
  });

  test("is no affair of other models' replies", async () => {
    own.upstream.replyOnce(chatAnswers.plain());
    const reply = await own.call("/chat/completions", { model: "svc-3-flash", messages });
    for (const name of ["deprecation", "sunset", "link"])
      expect(reply.headers.get(name)).toBeNull();
  });
});

describe("a retired model", () => {
  let own: TestGateway;

  beforeAll(async () => {
    own = await startTestGateway();
    const { operations } = own.server;
    for (const [id, replacement] of [
      ["svc-2-flash", "svc-3-flash"],
      ["svc-2.5-flash-tts", "svc-2.5-pro-tts"],
    ] as const) {
      // The model answers until the very moment of its retirement.
      own.upstream.replyOnce(
        id === "svc-2-flash" ? chatAnswers.plain() : speechReplies.pcmChunked(),
      );
      expect((await call(id)).status).toBe(200);
      await operations.deprecateModel({ id, retires: "2999-01-01", replacement });
      await operations.retireModel({ id });
    }
    own.upstream.reset();
  });
  afterAll(() => own.stop());

  const call = (id: string) => {
    const path = id === "svc-2-flash" ? "/chat/completions" : "/audio/speech";
    return own.call(path, { model: id, ...bodies[path] });
  };

  test("is refused at once, 403 on chat and 400 elsewhere, with its successor's name", async () => {
    const chat = await refusalOf(call("svc-2-flash"));
    expect(chat).toMatchObject({ status: 403, code: "model_retired", param: "model" });
    expect(chat.message).toContain("svc-3-flash");
    const speech = await refusalOf(call("svc-2.5-flash-tts"));
    expect(speech).toMatchObject({ status: 400, code: "model_retired" });
    expect(speech.message).toContain("svc-2.5-pro-tts");
    expect(own.upstream.requests).toBeEmpty();
  });

  test("is gone from the list, and 404 by its id", async () => {
    const ids = (await own.client().models.list()).data.map(({ id }) => id);
    expect(ids.toSorted()).toEqual(
      served.filter((id) => id !== "svc-2-flash" && id !== "svc-2.5-flash-tts"),
    );
    expect(await thrownBy(own.client().models.retrieve("svc-2-flash"))).toMatchObject({
      status: 404,
      code: "model_not_found",
    });
  });

  test("is not told to a key that may not call it", async () => {
    const { key } = await own.server.operations.createKey({
      account: own.account,
      models: ["svc-3-flash"],
    });
    const reply = own.call(
      "/chat/completions",
      { model: "svc-2-flash", messages },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect(await refusalOf(reply)).toMatchObject({ status: 403, code: "model_not_allowed" });
  });
});

test("a model that is priced and routed by an apply can be called at once", async () => {
  const own = await startTestGateway();
  try {
    own.upstream.replyWith(chatAnswers.plain());
    const call = () => own.call("/chat/completions", { model: "unpriced", messages });
    expect((await call()).status).toBe(403);
    const text = standardManifest
      .replaceAll("UPSTREAM", own.upstream.baseUrl)
      .replace("unpriced: { endpoint: chat,", "$& price: { input: 0, output: 0 },");
    await own.server.operations.applyManifest({ text, dryRun: false });
    expect((await call()).status).toBe(200);
  } finally {
    await own.stop();
  }
});
