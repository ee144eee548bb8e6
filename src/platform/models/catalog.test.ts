import { describe, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({
  isInStore: true,
  reply: chatAnswers.plain({ text: "hello" }),
});

const show = async (model: string) =>
  (await operator.ask("GET /api/catalog/:model", { params: { model } })).body;
const setRoutes = (model: string, routes: readonly object[]) =>
  operator.ask("PUT /api/catalog/:model/routes", { params: { model }, body: { routes } });
const call = (model: string) =>
  gateway.call("/chat/completions", { model, messages: [{ role: "user", content: "hello" }] });

describe("the catalogue", () => {
  test("says of each model whether it is served, or why not", async () => {
    const { body } = await operator.ask("GET /api/catalog");
    const why = (id: string) =>
      body.find((one: { id: string }) => one.id === id).not_served_because;
    expect(why("svc-3-flash")).toBeNull();
    expect(why("unpriced")).toBe("No price set.");
    expect(why("unrouted")).toBe("No route. Add one to serve this model.");
  });

  test("has the classes by which a model is priced", async () => {
    expect((await show("multimodal-embedding-1")).classes).toEqual([
      { name: "image", needed: true },
      { name: "video_second", needed: true },
    ]);
    expect((await show("svc-3-flash")).classes).toContainEqual({
      name: "cached_input",
      needed: false,
    });
  });

  test("knows a model with a slash in its id, and none that there is not", async () => {
    expect((await show("vendor/with-slash")).id).toBe("vendor/with-slash");
    const { status } = await operator.ask("GET /api/catalog/:model", { params: { model: "x/y" } });
    expect(status).toBe(404);
  });
});

describe("routes that are changed", () => {
  test("are in force with the next call", async () => {
    const route = { provider: "fake", model: "another-name", priority: 2, weight: 5 };
    const { body } = await setRoutes("vendor/with-slash", [route]);
    expect(body.routes[0]).toMatchObject(route);
    expect((await call("vendor/with-slash")).status).toBe(200);
    expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ model: "another-name" });
  });

  test("keep the voices of the target, and need them for another one", async () => {
    const known = { provider: "fake", model: "upstream-tts", weight: 3 };
    const kept = await setRoutes("svc-2.5-pro-tts", [known]);
    expect(kept.body.routes[0].voices).toMatchObject({ Kore: "a", Aoede: "e" });
    const other = { provider: "fake", model: "other" };
    const refused = await setRoutes("svc-2.5-pro-tts", [other]);
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain("voices");
    const told = await setRoutes("svc-2.5-pro-tts", [{ ...other, voices: "same" }]);
    expect(told.body.routes[0].voices).toBe("same");
  });

  const route = { provider: "fake", model: "m" };
  test.each([
    ["a provider that there is not", [{ provider: "nobody", model: "m" }]],
    ["the same target twice", [route, { ...route, priority: 2 }]],
  ])("are refused and left as they were: %s", async (_, routes) => {
    const before = await show("svc-2-flash");
    expect((await setRoutes("svc-2-flash", routes)).status).toBe(400);
    expect(await show("svc-2-flash")).toEqual(before);
  });
});

describe("a model that is created", () => {
  const create = (body: object) => operator.ask("POST /api/catalog", { body });
  const change = (model: string, body: object) =>
    operator.ask("PATCH /api/catalog/:model", { params: { model }, body });

  const mine = {
    max_output_tokens: 100,
    context_length: 5_000,
    timeouts: { idle: 60 },
    price: { input: "1", output: "2" },
    routes: [
      { provider: "fake", model: "a", cost: { input: "0.5" } },
      { provider: "fake", model: "b", priority: 2, weight: 3 },
    ],
  };

  test("serves the next call, with all that was said of it", async () => {
    const { status, body } = await create({ id: "mine", ...mine });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: "mine",
      endpoint: "chat",
      served: true,
      max_output_tokens: 100,
      context_length: 5_000,
      timeouts: { idle: 60, total: null },
      source: { kind: "store", file: null, fields: [] },
      routes: [
        { model: "a", priority: 1, weight: 1, cost: { input: "0.50" } },
        { model: "b", priority: 2, weight: 3, cost: null },
      ],
    });
    expect((await call("mine")).status).toBe(200);
    expect((await create({ id: "mine" })).status).toBe(409);
  });

  test("is changed field by field, and null removes one", async () => {
    await create({ id: "changed", ...mine });
    const { body } = await change("changed", {
      max_output_tokens: null,
      max_image_tokens: 9,
      timeouts: { idle: null, total: 90 },
    });
    expect(body).toMatchObject({
      max_output_tokens: null,
      max_image_tokens: 9,
      context_length: 5_000,
      timeouts: { connect: null, first_byte: null, idle: null, total: 90 },
      price: { input: "1.00", output: "2.00" },
    });
    const wrong = await change("changed", { max_audio_seconds: 5 });
    expect([wrong.status, wrong.body.error.field]).toEqual([400, "max_audio_seconds"]);
  });

  test("has a cost that is replaced, and one that is removed", async () => {
    await create({ id: "cost", ...mine });
    const { body } = await setRoutes("cost", [
      { provider: "fake", model: "a", cost: null },
      { provider: "fake", model: "b", cost: { output: "1" } },
    ]);
    expect(body.routes).toMatchObject([
      { model: "a", cost: null },
      { model: "b", priority: 2, cost: { output: "1.00" } },
    ]);
  });
});

describe("what a file states of a model", () => {
  const file = usePlatform();
  const ask = (
    name: "PATCH /api/catalog/:model" | "PUT /api/catalog/:model/routes",
    body: object,
  ) => file.operator.ask(name, { params: { model: "svc-3-flash" }, body });

  test("is refused with its name, the rest is changed", async () => {
    const refused = await ask("PATCH /api/catalog/:model", { max_output_tokens: 5 });
    expect([refused.status, refused.body.error]).toEqual([
      409,
      {
        code: "conflict",
        message:
          "Model svc-3-flash: field max_output_tokens is defined in svc.yaml. Change it there and apply the file.",
        field: "max_output_tokens",
      },
    ]);
    const routes = [{ provider: "fake", model: "another" }];
    const put = ask("PUT /api/catalog/:model/routes", { routes });
    expect(await refusal(put)).toEqual([409, "routes"]);
    const body = { model: "svc-3-flash", price: { input: "1", output: "1" } };
    const set = file.operator.ask("POST /api/prices", { body });
    expect(await refusal(set)).toEqual([409, "price"]);
    const changed = await ask("PATCH /api/catalog/:model", { max_image_tokens: 5 });
    expect(changed.body.max_image_tokens).toBe(5);
    const cost = [{ provider: "fake", model: "upstream-chat", cost: { input: "0.1" } }];
    const costed = await ask("PUT /api/catalog/:model/routes", { routes: cost });
    expect(costed.body.routes[0].cost).toEqual({ input: "0.10" });
    expect(costed.body.source.fields).toContain("routes");
  });
});

test("a model moves to another endpoint, and leaves behind what only the old one has", async () => {
  const body = { id: "moves", endpoint: "embeddings", input: "media" };
  expect((await operator.ask("POST /api/catalog", { body })).status).toBe(200);
  const moved = await operator.ask("PATCH /api/catalog/:model", {
    params: { model: "moves" },
    body: { endpoint: "chat" },
  });
  expect(moved.body).toMatchObject({ endpoint: "chat", input: "text" });
});

describe("a file's routes", () => {
  const file = usePlatform({
    manifest: `
providers:
  fake: { kind: openai, base_url: "https://example.com/v1" }
models:
  m: { endpoint: chat, routes: [{ provider: fake, model: one, cost: { input: 1 } }, { provider: fake, model: two }] }
`,
  });
  const put = (routes: readonly object[]) =>
    file.operator.ask("PUT /api/catalog/:model/routes", {
      params: { model: "m" },
      body: { routes },
    });

  test("stay as they are, and only a cost that it does not state can be set", async () => {
    const [one, two] = [
      { provider: "fake", model: "one" },
      { provider: "fake", model: "two" },
    ];
    const { status, body } = await put([one, { ...two, cost: { input: "0.5" } }]);
    expect(status).toBe(200);
    expect(body.routes).toMatchObject([
      { ...one, cost: { input: "1.00" }, cost_in_file: true },
      { ...two, cost: { input: "0.50" }, cost_in_file: false },
    ]);
    expect((await put([{ ...one, cost: { input: "2" } }, two])).status).toBe(409);
    expect((await put([one, { ...two, weight: 9 }])).status).toBe(409);
  });
});

describe("a model that goes", () => {
  const deprecate = (body: object) =>
    operator.ask("POST /api/catalog/:model/deprecate", { params: { model: "svc-2-flash" }, body });

  test("is refused with a wrong field; is deprecated, told with who still calls it, and retired", async () => {
    const past = await deprecate({ retires: "2020-01-01", replacement: "svc-3-flash" });
    expect([past.status, past.body.error.field]).toEqual([400, "retires"]);
    const other = await deprecate({ retires: "2999-01-01", replacement: "svc-embedding-2" });
    expect(other.status).toBe(400);
    const { body } = await deprecate({ retires: "2999-01-01", replacement: "svc-3-flash" });
    expect(body).toMatchObject({
      status: "deprecated",
      retires_at: "2999-01-01T00:00:00Z",
      replacement: "svc-3-flash",
    });
    const reply = await call("svc-2-flash");
    expect(reply.headers.has("deprecation")).toBe(true);
    await reply.text();
    const { body: told } = await operator.ask("GET /api/models/:model/callers", {
      params: { model: "svc-2-flash" },
    });
    expect(told).toMatchObject({ status: "deprecated", receipts: 1 });
    expect(told.callers[0]).toMatchObject({ account: gateway.account, account_name: "test" });
    const retired = await operator.ask("POST /api/catalog/:model/retire", {
      params: { model: "svc-2-flash" },
    });
    expect(retired.body).toMatchObject({ status: "retired", served: false });
    expect((await call("svc-2-flash")).status).toBe(403);
  });

  test("is not retired before it was deprecated", async () => {
    const { status } = await operator.ask("POST /api/catalog/:model/retire", {
      params: { model: "svc-3-flash" },
    });
    expect(status).toBe(409);
  });
});
