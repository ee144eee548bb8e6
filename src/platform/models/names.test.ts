import { beforeAll, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({
  isInStore: true,
  reply: chatAnswers.plain({ text: "hello" }),
});

const route = { provider: "fake", model: "upstream-chat" };
const price = { input: "1", output: "2" };
const create = (id: string, more: object = {}) =>
  operator.ask("POST /api/catalog", { body: { id, price, routes: [route], ...more } });
const show = (model: string) => operator.ask("GET /api/catalog/:model", { params: { model } });
const patch = (model: string, body: object) =>
  operator.ask("PATCH /api/catalog/:model", { params: { model }, body });
const rename = (model: string, body: object) =>
  operator.ask("POST /api/catalog/:model/rename", { params: { model }, body });
const remove = (model: string) => operator.ask("DELETE /api/catalog/:model", { params: { model } });
const call = (model: string) =>
  gateway.call("/chat/completions", { model, messages: [{ role: "user", content: "hello" }] });

describe("aliases", () => {
  test("are set, replaced and removed with the model", async () => {
    const { body } = await create("named", { aliases: ["one", "two"] });
    expect(body.aliases).toEqual(["one", "two"]);
    expect((await patch("named", { aliases: ["two", "three"] })).body.aliases).toEqual([
      "two",
      "three",
    ]);
    expect((await patch("named", { owned_by: "acme" })).body.aliases).toEqual(["two", "three"]);
    expect((await patch("named", { aliases: [] })).body.aliases).toEqual([]);
  });

  test("stand for one model only, and are no id of another", async () => {
    await create("first", { aliases: ["shared"] });
    await create("second");
    for (const [name, words] of [
      ["shared", "already an alias of first"],
      ["first", "the id of another model"],
      ["second", "already a name of second"],
    ] as const) {
      const { status, body } = await patch("second", { aliases: [name] });
      expect([status, body.error.field]).toEqual([409, "aliases"]);
      expect(body.error.message).toContain(words);
    }
    const taken = await create("shared");
    expect(taken.status).toBe(409);
    expect(taken.body.error).toMatchObject({
      field: "id",
      message: '"shared" is an alias of first.',
    });
  });

  test("are valid ids, each once", async () => {
    await create("checked");
    for (const aliases of [["no spaces"], ["a", "a"]]) {
      expect(await refusal(patch("checked", { aliases }))).toEqual([400, "aliases"]);
    }
  });
});

describe("a model that was never called", () => {
  test("is renamed with its price, its routes and the keys that can use it", async () => {
    await create("old-name", { aliases: ["nick"] });
    const key = await gateway.server.operations.keys.create({
      account: gateway.account,
      models: ["old-name", "svc-3-flash"],
    });
    const { status, body } = await rename("old-name", { id: "new-name", keep_alias: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: "new-name",
      aliases: ["nick", "old-name"],
      price: { input: "1.00", output: "2.00" },
    });
    expect(body.routes[0]).toMatchObject(route);
    expect((await show("old-name")).status).toBe(404);
    const keys = await gateway.server.operations.keys.list({ account: gateway.account });
    expect(keys.find(({ id }) => id === key.id)?.models).toEqual(["new-name", "svc-3-flash"]);
    const limited = { authorization: `Bearer ${key.key}`, "content-type": "application/json" };
    const question = { model: "old-name", messages: [{ role: "user", content: "hello" }] };
    const answer = await gateway.call("/chat/completions", question, { headers: limited });
    expect((await answer.json()).model).toBe("old-name");
  });

  test("is deleted, and a new model of the same id starts without its prices", async () => {
    await create("gone", { aliases: ["gone-too"] });
    expect((await remove("gone")).body).toEqual({ id: "gone", keys: [] });
    expect((await show("gone")).status).toBe(404);
    const { body } = await operator.ask("POST /api/catalog", {
      body: { id: "gone", routes: [route] },
    });
    expect(body).toMatchObject({ price: null, state: "needs_price", aliases: [] });
    const set = { model: "gone", price: { input: "5", output: "6" } };
    await operator.ask("POST /api/prices", { body: set });
    expect((await show("gone")).body.price).toEqual({ input: "5.00", output: "6.00" });
    expect((await call("gone")).status).toBe(200);
    expect((await call("gone-too")).status).toBe(403);
  });

  test("tells which keys still name it", async () => {
    await create("limited");
    const { id } = await gateway.server.operations.keys.create({
      account: gateway.account,
      name: "ci",
      models: ["limited"],
    });
    expect((await remove("limited")).body.keys).toEqual([{ id, name: "ci" }]);
  });

  test("stays while another one names it as its replacement, which follows a new name", async () => {
    await create("outgoing");
    await create("incoming");
    await operator.ask("POST /api/catalog/:model/deprecate", {
      params: { model: "outgoing" },
      body: { retires: "2099-01-01", replacement: "incoming" },
    });
    const { status, body } = await remove("incoming");
    expect(status).toBe(409);
    expect(body.error.message).toContain("replaces outgoing");
    await rename("incoming", { id: "arrived" });
    expect((await show("outgoing")).body.replacement).toBe("arrived");
  });
});

describe("a model that was called", () => {
  test("keeps its id and stays, and the refusal names the way", async () => {
    await create("busy");
    expect((await call("busy")).status).toBe(200);
    const renamed = await rename("busy", { id: "busy-2" });
    expect(renamed.status).toBe(409);
    expect(renamed.body.error.message).toContain('Add "busy-2" as an alias instead.');
    const removed = await remove("busy");
    expect(removed.status).toBe(409);
    expect(removed.body.error.message).toContain("Deprecate and retire it instead.");
  });

  test("counts, too, when it was called by an alias", async () => {
    await create("aliased", { aliases: ["by-alias"] });
    await call("by-alias");
    expect((await remove("aliased")).status).toBe(409);
  });
});

test("a new id that is taken, invalid or the same is refused by field", async () => {
  await create("stays");
  for (const [id, status] of [
    ["svc-3-flash", 409],
    ["no spaces", 400],
    ["stays", 400],
  ] as const) {
    expect(await refusal(rename("stays", { id }))).toEqual([status, "id"]);
  }
});

describe("a model that svc.yaml declares", () => {
  const { operator: owner } = usePlatform({
    manifest: `
engine: {}
models: { in-file: { endpoint: chat, price: { input: 1, output: 2 } } }`,
  });
  const add = (id: string) => owner.ask("POST /api/catalog", { body: { id, price } });
  beforeAll(() => add("svc-3-flash"));

  const refusals = (model: string) =>
    Promise.all([
      owner.ask("DELETE /api/catalog/:model", { params: { model } }),
      owner.ask("POST /api/catalog/:model/rename", { params: { model }, body: { id: "other" } }),
    ]);

  test("is neither deleted nor renamed, and the refusal names the file", async () => {
    const words = "Model in-file is defined in svc.yaml. Change it there and apply the file.";
    for (const { status, body } of await refusals("in-file"))
      expect([status, body.error.message]).toEqual([409, words]);
  });

  test("with an engine section is not either: the next start would add it again", async () => {
    for (const { status, body } of await refusals("svc-3-flash")) {
      expect(status).toBe(409);
      expect(body.error.message).toStartWith(
        "Model svc-3-flash is declared by the engine section of svc.yaml",
      );
    }
    const { body } = await owner.ask("GET /api/catalog");
    expect(body.map(({ id }: { id: string }) => id).toSorted()).toEqual(["in-file", "svc-3-flash"]);
  });

  test("leaves the others free", async () => {
    await add("own");
    const params = { model: "own" };
    const renamed = await owner.ask("POST /api/catalog/:model/rename", {
      params,
      body: { id: "mine" },
    });
    expect(renamed.status).toBe(200);
    const gone = await owner.ask("DELETE /api/catalog/:model", { params: { model: "mine" } });
    expect(gone.status).toBe(200);
  });
});
