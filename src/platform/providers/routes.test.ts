import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { jsonReply, operatorErrors } from "../../../test/fake/recordings.ts";
import { willingVendor } from "../../../test/fake/willing-vendor.ts";
import { waitUntil } from "../../../test/setup/money-home.ts";
import { refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({
  environment: { SVC_BREAKERS: "on", GROQ_API_KEY: "gsk-0123456789" },
  reply: willingVendor,
});

const literalKey = "sk-literal-0123456789";
const list = async () => (await operator.ask("GET /api/providers")).body.providers;
/** Without sums of calls: receipts of earlier tests may still arrive. */
const listSettings = async () =>
  (await list()).map((one: object) => ({ ...one, last_24h: undefined }));
const find = async (name: string) =>
  (await list()).find((one: { name: string }) => one.name === name);
const add = (body: object) => operator.ask("POST /api/providers", { body });
const change = (name: string, body: object) =>
  operator.ask("PATCH /api/providers/:name", { params: { name }, body });
const remove = (name: string, query = {}) =>
  operator.ask("DELETE /api/providers/:name", { params: { name }, query });
const trial = async (name: string, kind: string) =>
  (await operator.ask("POST /api/providers/:name/test", { params: { name }, body: { kind } })).body;
const own = (more: object = {}) => ({
  name: "mine",
  base_url: gateway.upstream.baseUrl,
  api_key: literalKey,
  allow_private: true,
  ...more,
});

describe("providers", () => {
  test("are listed with where the key is, and never with the key", async () => {
    const { body, response } = await operator.ask("GET /api/providers");
    expect(body.has_file).toBe(true);
    expect(body.providers[0]).toMatchObject({
      name: "fake",
      kind: "openai",
      api_key: { from: "variable", variable: "FAKE_KEY", is_set: true },
    });
    expect(await response.text()).not.toContain("vendor-secret");
  });

  test("one that refuses the key is told as out of service, and can be put back", async () => {
    const fake = { params: { name: "fake" }, body: {} };
    const reset = async () => (await operator.ask("POST /api/providers/:name/reset", fake)).body;
    // What other tests left.
    await reset();
    gateway.upstream.replyWith(operatorErrors.badKey());
    const messages = [{ role: "user", content: "hello" }];
    await gateway.call("/chat/completions", { model: "svc-3-flash", messages });
    // A probe confirms it first.
    await waitUntil("the probe", async () => (await find("fake")).targets[0].state === "open");
    const target = (await find("fake")).targets[0];
    expect(target).toMatchObject({ model: "upstream-chat", state: "open", reason: "auth" });
    expect(Date.parse(target.since)).toBeGreaterThan(0);
    expect(await reset()).toEqual({ targets: 1 });
    expect((await find("fake")).targets[0].state).toBe("closed");
  });

  test("a test goes call by call, and says in words what is wrong", async () => {
    const params = { name: "fake" };
    const planned = await operator.ask("GET /api/providers/:name/trials", { params });
    const kinds = planned.body.map((one: { kind: string }) => one.kind);
    expect(kinds).toEqual(["chat", "stream", "embeddings", "media", "speech"]);
    const ask = (kind: string) => trial("fake", kind);
    expect(await ask("chat")).toMatchObject({ kind: "chat", ok: true, problem: null });
    expect(gateway.upstream.requests).toHaveLength(1);
    gateway.upstream.replyWith(operatorErrors.badKey());
    const failed = await ask("chat");
    expect(failed).toMatchObject({ ok: false, problem: { trouble: "bad_key" } });
    expect(failed.problem.what).not.toBe("");
  });

  test("the steps of one test are one entry in the audit log; other calls one each", async () => {
    const params = { name: "fake" };
    const entries = async () =>
      (await operator.ask("GET /api/audit", { query: { action: "provider.test" } })).body.records;
    const ask = (kind: string, more: object = {}) =>
      operator.ask("POST /api/providers/:name/test", { params, body: { kind, ...more } });
    const before = (await entries()).length;
    for (const kind of ["chat", "stream", "embeddings"]) await ask(kind, { run: "one" });
    expect(await entries()).toHaveLength(before + 1);
    expect((await entries())[0]).toMatchObject({ subject: "fake", detail: {} });
    await ask("chat", { run: "two" });
    await ask("chat");
    await ask("chat");
    expect(await entries()).toHaveLength(before + 4);
    expect((await entries())[0].detail).toEqual({ kind: "chat" });
  });
});

describe("a model that the vendor does not list", () => {
  const params = { name: "ollama" };
  const listing = async () =>
    (await operator.ask("GET /api/providers/:name/listing", { params })).body;
  beforeEach(async () => {
    await add(own({ name: "ollama", vendor: "ollama" }));
    const body = { ids: ["big-chat", "loud-tts"] };
    await operator.ask("POST /api/providers/:name/models", { params, body });
    gateway.upstream.reset();
    gateway.upstream.replyWith(willingVendor);
  });
  afterEach(() => remove("ollama", { empties_models: "true" }));
  const withList = (ids: readonly string[]) =>
    gateway.upstream.replyWith((request) =>
      request.path.endsWith("/models")
        ? jsonReply({ body: { data: ids.map((id) => ({ id })) } })
        : willingVendor(request),
    );
  const gone = [{ model: "loud-tts", upstream: "loud-tts" }];

  test("is named with the model that is routed to it, and a test says so without failing", async () => {
    expect(await listing()).toEqual({ models: 4, unlisted: [] });
    withList(["big-chat", "new-tts"]);
    expect(await listing()).toEqual({ models: 2, unlisted: gone });
    const planned = await operator.ask("GET /api/providers/:name/trials", { params });
    expect(planned.body.at(-1)).toEqual({ kind: "models", model: null, key: null });
    const listed = { ok: true, result: "2 models listed", unlisted: gone };
    expect(await trial("ollama", "models")).toMatchObject(listed);
    expect(await trial("ollama", "speech")).toMatchObject({ ok: true, unlisted: [] });
  });

  test("is nobody's where there is no list to compare with", async () => {
    withList([]);
    expect(await listing()).toEqual({ models: null, unlisted: [] });
    gateway.upstream.replyWith(operatorErrors.badKey());
    expect(await listing()).toEqual({ models: null, unlisted: [] });
    const none = { ok: true, result: "no model list available", unlisted: [] };
    expect(await trial("ollama", "models")).toMatchObject(none);
  });

  test("is not looked for at a server whose list may be partial", async () => {
    const fake = { name: "fake" };
    const { body } = await operator.ask("GET /api/providers/:name/listing", { params: fake });
    expect(body).toEqual({ models: null, unlisted: [] });
    expect(gateway.upstream.requests).toEqual([]);
  });
});

describe("a provider that is added", () => {
  test("is called with its key, which is kept and shown nowhere", async () => {
    expect((await add(own())).body).toEqual({ name: "mine", warnings: [], tested: true });
    expect(await find("mine")).toMatchObject({
      base_url: gateway.upstream.baseUrl,
      api_key: { from: "store", variable: null, is_set: true },
    });
    await trial("mine", "models");
    expect(gateway.upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${literalKey}`);
    const { response } = await operator.ask("GET /api/audit");
    const audit = await response.text();
    expect(audit).toContain("provider.add");
    expect(audit).not.toContain(literalKey);
    expect((await add(own())).status).toBe(409);
    expect((await remove("mine")).body).toEqual({ name: "mine", routes: 0, emptied: [] });
    expect(await find("mine")).toBeUndefined();
  });

  test("offers models, and those that are chosen are served by it", async () => {
    await add(own());
    const params = { name: "mine" };
    const { body: offer } = await operator.ask("GET /api/providers/:name/offer", { params });
    expect(offer.unsupported).toEqual(["dall-e-3"]);
    const [first] = offer.proposals;
    expect(first.upstream).not.toBe("");
    const body = { ids: [first.id] };
    const made = await operator.ask("POST /api/providers/:name/models", { params, body });
    expect(made.body.served).toEqual([first.id]);
    const offered = { params: { model: first.id } };
    const { body: model } = await operator.ask("GET /api/catalog/:model", offered);
    expect(model.routes).toMatchObject([{ provider: "mine", model: first.upstream }]);
    expect((await remove("mine")).status).toBe(409);
    expect((await remove("mine", { empties_models: "true" })).body.emptied).toEqual([first.id]);
  });

  test("may be a known vendor whose variable is set", async () => {
    expect((await add({ name: "groq", vendor: "groq", skip_test: true })).status).toBe(200);
    const variable = { from: "variable", variable: "GROQ_API_KEY", hint: null, is_set: true };
    expect((await find("groq")).api_key).toEqual(variable);
    await remove("groq");
  });

  const bare = { base_url: undefined, api_key: undefined, allow_private: undefined };
  test.each<[what: string, more: object, field: string]>([
    ["a kind that is unknown", { ...bare, kind: "nonsense" }, "kind"],
    ["a vendor without its key", { ...bare, vendor: "mistral" }, "api_key"],
    ["a vendor that is not known", { ...bare, vendor: "nobody" }, "vendor"],
    ["a server without an address", bare, "base_url"],
    ["a missing option", { ...bare, vendor: "bedrock", api_key: "k" }, "options.region"],
    ["a private address that is not allowed", { allow_private: false }, "base_url"],
    ["a key of two lines", { api_key: "a\nb" }, "api_key"],
    ["a variable without braces", { api_key: "$KEY" }, "api_key"],
    ["a variable of the gateway's own", { api_key: "${SVC_SECRET}" }, "api_key"],
    ["a variable of another part", { api_key: "${AWS_SECRET_ACCESS_KEY}" }, "api_key"],
    [
      "such a variable as an option",
      { options: { image_urls: "${HOOK_TOKEN}" } },
      "options.image_urls",
    ],
    ["the embedded models' own name", { name: "engine" }, "name"],
  ])("is refused with the field that is wrong: %s", async (_, more, field) => {
    const before = await listSettings();
    expect(await refusal(add(own(more)))).toEqual([400, field]);
    expect(await listSettings()).toEqual(before);
  });
});

test("the last provider of a model is taken away only when that is said", async () => {
  await add(own());
  const params = { name: "mine" };
  await operator.ask("POST /api/catalog", {
    body: { id: "lonely", routes: [{ provider: "mine", model: "m" }] },
  });
  const { status, body } = await operator.ask("DELETE /api/providers/:name", { params });
  expect(status).toBe(409);
  expect(body.error.message).toContain("lonely");
  expect((await remove("nobody")).status).toBe(404);
  expect((await remove("mine", { empties_models: "true" })).status).toBe(200);
});

describe("a provider of a file", () => {
  test("names the file and the fields that it states", async () => {
    expect((await find("fake")).source).toEqual({
      kind: "file",
      file: "svc.yaml",
      fields: ["kind", "vendor", "base_url", "api_key", "allow_private", "image_urls"],
    });
  });

  test("can be changed and removed only there", async () => {
    for (const body of [
      { base_url: "https://elsewhere.example/v1" },
      { api_key: "sk-other" },
      { options: { image_urls: "false" } },
    ]) {
      const reply = await change("fake", body);
      expect(reply.status).toBe(409);
      expect(reply.body.error.message).toContain("svc.yaml");
      const [field = ""] = Object.keys(body);
      expect(reply.body.error.field).toBe(field === "options" ? "image_urls" : field);
    }
    const removed = await remove("fake", { empties_models: "true" });
    expect([removed.status, removed.body.error.message]).toEqual([
      409,
      "Provider fake is defined in svc.yaml. Change it there and apply the file.",
    ]);
  });
});

describe("a provider of the store", () => {
  beforeEach(() => add(own()));
  afterEach(() => remove("mine"));

  test("is changed field by field, and the key stays", async () => {
    const base_url = `${gateway.upstream.baseUrl}/other`;
    expect((await change("mine", { base_url, options: { image_urls: "true" } })).status).toBe(200);
    expect(await find("mine")).toMatchObject({
      base_url,
      allow_private: true,
      api_key: { from: "store" },
      options: [{ name: "image_urls", value: "true" }],
      source: { kind: "store", file: null, fields: [] },
    });
    await change("mine", { options: { image_urls: null } });
    expect((await find("mine")).options).toEqual([]);
  });

  test("has both values of a change in the audit log, and no earlier secret", async () => {
    const base_url = `${gateway.upstream.baseUrl}/other`;
    await change("mine", { base_url, paused: true, api_key: "${FAKE_KEY}", skip_test: true });
    const { body } = await operator.ask("GET /api/audit", { query: { action: "provider.update" } });
    expect(body.records[0].detail).toEqual({
      base_url,
      paused: true,
      api_key: "replaced",
      before: { base_url: gateway.upstream.baseUrl, paused: false },
    });
  });

  test("gets another key, or a variable instead of one", async () => {
    await change("mine", { api_key: "${FAKE_KEY}" });
    expect((await find("mine")).api_key).toMatchObject({ variable: "FAKE_KEY", is_set: true });
    const unset = { name: "mine", api_key: "${XAI_API_KEY}", skip_test: true };
    const body = await gateway.server.operations.providers.update(unset);
    expect(body.warnings).toMatchObject([{ message: expect.stringContaining("is not set") }]);
    await change("mine", { api_key: null });
    expect((await find("mine")).api_key).toBeNull();
  });

  test("is left as it is by a change that is wrong", async () => {
    const before = await find("mine");
    for (const [body, field] of [
      [{ base_url: "no address" }, "base_url"],
      [{ api_key: "${SVC_SECRET}" }, "api_key"],
      [{ api_key: "${AWS_SECRET_ACCESS_KEY}", skip_test: true }, "api_key"],
      [{ options: { image_urls: "${HOOK_TOKEN}" }, skip_test: true }, "options.image_urls"],
      [{ allow_private: false }, "base_url"],
      [{ options: { nonsense: "1" } }, "options.nonsense"],
    ] as const) {
      const reply = await change("mine", body);
      expect([reply.status, reply.body.error.field]).toEqual([400, field]);
    }
    expect(await find("mine")).toEqual(before);
    expect((await change("nobody", { allow_private: true })).status).toBe(404);
  });
});

test("vendors come with what a form needs of them", async () => {
  const { body } = await operator.ask("GET /api/vendors");
  const groq = body.find((one: { id: string }) => one.id === "groq");
  expect(groq).toMatchObject({
    title: "Groq",
    needs_key: true,
    variables: [{ name: "GROQ_API_KEY", is_set: true }],
  });
  const vertex = body.find((one: { id: string }) => one.id === "vertex");
  expect(vertex.options[0]).toMatchObject({ name: "project", needed: true });
});

describe("where no file defines a provider", () => {
  const { operator: person } = usePlatform({ environment: { SVC_CONFIG: "" } });

  test("advice speaks of this page and of no file", async () => {
    const added = await person.ask("POST /api/providers", {
      body: own({ name: "gone", base_url: "http://127.0.0.1:9/v1", skip_test: true }),
    });
    expect(added.status).toBe(200);
    const { body } = await person.ask("GET /api/providers/:name/offer", {
      params: { name: "gone" },
    });
    expect(body.problem.advice).toContain("Edit the provider to change it.");
    expect(body.problem.advice).not.toContain("svc.yaml");
  });
});
