/** GET /v1/models: what is listed can be called, what each entry says, and who may see it. */

import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { expectRefusal, thrownBy } from "../../replies/refusal.ts";
import { standardManifest, startTestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const served = [
  "multimodal-embedding-1",
  "svc-2-flash",
  "svc-2.5-flash-tts",
  "svc-2.5-pro-tts",
  "svc-3-flash",
  "svc-embedding-2",
  "vendor/with-slash",
];

const gateway = useTestGateway();

const messages = [{ role: "user" as const, content: "Hi" }];
const get = (path: string, key = gateway.key) =>
  fetch(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });

async function idsOf(key: string): Promise<string[]> {
  const page = await gateway.client({ apiKey: key }).models.list();
  return page.data.map(({ id }) => id).toSorted();
}

async function keyFor(...models: readonly string[]): Promise<string> {
  const { key } = await gateway.server.operations.keys.create({ account: gateway.account, models });
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
      supported_endpoints: ["/v1/chat/completions", "/v1/responses", "/v1/messages"],
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      context_length: 1_048_576,
      max_completion_tokens: 8192,
      pricing: { prompt: "0.0000003", completion: "0.0000025", input_cache_read: "0.00000003" },
    });
    // What nobody has set is not in the list; a model that is free costs 0.
    expect(added("svc-2-flash")).toEqual({
      supported_endpoints: ["/v1/chat/completions", "/v1/responses", "/v1/messages"],
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
  await expectRefusal(reply, { status: 405 });
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

test("a model belongs to whom the operator says, and is as old as its entry", async () => {
  const own = await startTestGateway({
    manifest: standardManifest.replace("svc-3-flash: {", "$& owned_by: acme,"),
  });
  try {
    const { data } = await own.client().models.list();
    expect(data.filter(({ owned_by: owner }) => owner === "acme").map(({ id }) => id)).toEqual([
      "svc-3-flash",
    ]);
    const nowS = Date.now() / 1000;
    for (const { created } of data) {
      expect(created).toBeInteger();
      expect(created).toBeLessThanOrEqual(nowS);
      expect(created).toBeGreaterThan(nowS - 600);
    }
  } finally {
    await own.stop();
  }
});
