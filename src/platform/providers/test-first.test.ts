/** Keys and addresses are tried before they are saved; keys of one provider; pauses. */

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { jsonReply, operatorErrors } from "../../../test/fake/recordings.ts";
import type { RecordedRequest } from "../../../test/fake/upstream.ts";
import { willingVendor } from "../../../test/fake/willing-vendor.ts";
import { type Answer, refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const goodKey = "sk-good-0123456789abcd";
const badKey = "sk-bad-0123456789-wxyz";

const params = { name: "mine" };
const byKey = (request: RecordedRequest) =>
  String(request.headers["authorization"]).includes("sk-bad")
    ? operatorErrors.badKey()
    : willingVendor(request);
const { gateway, operator } = usePlatform({ environment: { SVC_BREAKERS: "on" }, reply: byKey });
afterEach(async () => {
  const query = { empties_models: "true" };
  await operator.ask("DELETE /api/providers/:name", { params, query });
});

const usable = { api_key: goodKey, allow_private: true };
const add = (more: object = {}) =>
  operator.ask("POST /api/providers", {
    body: { ...params, ...usable, base_url: gateway.upstream.baseUrl, ...more },
  });
const change = (body: object) => operator.ask("PATCH /api/providers/:name", { params, body });
const find = async () =>
  (await operator.ask("GET /api/providers")).body.providers.find(
    (one: { name: string }) => one.name === "mine",
  );
const addKey = (body: object) => operator.ask("POST /api/providers/:name/keys", { params, body });
const changeKey = (key: string, body: object) =>
  operator.ask("PATCH /api/providers/:name/keys/:key", { params: { ...params, key }, body });
const removeKey = (key: string) =>
  operator.ask("DELETE /api/providers/:name/keys/:key", { params: { ...params, key } });
const serve = () =>
  operator.ask("POST /api/providers/:name/models", { params, body: { ids: ["big-chat"] } });
const sent = () => gateway.upstream.requests.map(({ headers }) => headers["authorization"]);

describe("a new provider", () => {
  test("with a key that works is saved, untested until its models are called", async () => {
    const { status, body } = await add();
    expect([status, body.tested]).toEqual([200, true]);
    expect(sent()).toEqual([`Bearer ${goodKey}`]);
    expect(await find()).toMatchObject({
      status: "untested",
      keys: [
        { name: "default", weight: 1, status: "serving", secret: { from: "store", hint: "abcd" } },
      ],
    });
  });

  test("with a rejected key is not saved, and the error names the field", async () => {
    const { status, body } = await add({ api_key: badKey });
    expect([status, body.error.code, body.error.field]).toEqual([400, "test_failed", "api_key"]);
    expect(body.error.message).toContain("mine rejected the key (401");
    expect(body.error.message).not.toContain(badKey);
    expect(await find()).toBeUndefined();
  });

  test("is saved without a test where that is asked for", async () => {
    const { body } = await add({ api_key: badKey, skip_test: true });
    expect(body).toEqual({ name: "mine", warnings: [], tested: false });
    expect(gateway.upstream.requests).toEqual([]);
    expect((await find()).status).toBe("untested");
  });

  test("with a rejected key is failing where it is saved anyway", async () => {
    const { status, body } = await add({ api_key: badKey, save_anyway: true });
    expect([status, body.tested]).toEqual([200, false]);
    expect(sent()).toEqual([`Bearer ${badKey}`]);
    expect(await find()).toMatchObject({ status: "failing", keys: [{ status: "failing" }] });
  });

  test("that works after all is saved as tested, also where it is to be saved anyway", async () => {
    expect((await add({ save_anyway: true })).body.tested).toBe(true);
  });

  test("without a key that cannot be reached is failing where it is saved anyway", async () => {
    const base_url = "http://127.0.0.1:9/v1";
    await add({ base_url, api_key: "", save_anyway: true });
    expect((await find()).status).toBe("failing");
  });

  test("that cannot be reached is an error about its address", async () => {
    const { body } = await add({ base_url: "http://127.0.0.1:9/v1" });
    expect([body.error.code, body.error.field]).toEqual(["test_failed", "base_url"]);
  });

  test("of one's own that lists no models is saved, but not as tested", async () => {
    gateway.upstream.replyWith(jsonReply({ status: 404, body: { detail: "Not Found" } }));
    const { status, body } = await add();
    expect([status, body.tested]).toEqual([200, false]);
  });

  test("of a known vendor must answer at its list of models", async () => {
    gateway.upstream.replyWith(jsonReply({ status: 404, body: { detail: "Not Found" } }));
    const { body } = await add({ vendor: "vllm" });
    expect([body.error.code, body.error.field]).toEqual(["test_failed", "base_url"]);
  });
});

describe("a vendor whose list of models is open to anybody", () => {
  const offered = ["acme/chat-1", "acme/chat-1:free"];
  const open = ({ path }: RecordedRequest, call: () => ReturnType<typeof jsonReply>) =>
    path.endsWith("/models")
      ? jsonReply({ body: { data: offered.map((id) => ({ id })) } })
      : call();
  const models = () =>
    gateway.upstream.requests
      .filter(({ path }) => path.endsWith("/chat/completions"))
      .map(({ body }) => JSON.parse(body.toString()).model);

  test("is asked for one call, to a free model, which shows that the key works", async () => {
    gateway.upstream.replyWith((request) => open(request, () => willingVendor(request)));
    const { status, body } = await add({ vendor: "openrouter" });
    expect([status, body.tested]).toEqual([200, true]);
    expect(models()).toEqual(["acme/chat-1:free"]);
  });

  test("does not accept a wrong key for its open list", async () => {
    gateway.upstream.replyWith((request) => open(request, () => operatorErrors.badKey()));
    const { status, body } = await add({ vendor: "openrouter", api_key: badKey });
    expect([status, body.error.code, body.error.field]).toEqual([400, "test_failed", "api_key"]);
    expect(await find()).toBeUndefined();
  });

  test("is saved as untested where the call fails for another reason than the key", async () => {
    const missing = () => jsonReply({ status: 404, body: { error: { message: "No endpoints." } } });
    gateway.upstream.replyWith((request) => open(request, missing));
    const { status, body } = await add({ vendor: "openrouter" });
    expect([status, body.tested]).toEqual([200, false]);
    expect((await find()).status).toBe("untested");
  });
});

describe("a changed provider", () => {
  test("keeps its old key and its routes where the new key is rejected", async () => {
    await add();
    await serve();
    gateway.upstream.reset();
    gateway.upstream.replyWith(byKey);
    const before = await find();
    const { status, body } = await change({ api_key: badKey });
    expect([status, body.error.code, body.error.field]).toEqual([400, "test_failed", "api_key"]);
    expect(sent()).toEqual([`Bearer ${badKey}`]);
    expect(await find()).toEqual(before);
    // One small call to a model that is routed: a list alone may be open to anybody.
    expect(gateway.upstream.requests[0]?.path).toContain("/chat/completions");
  });

  test("serves with the new key at once, and its target is known to work", async () => {
    await add();
    await serve();
    expect((await find()).targets).toMatchObject([{ model: "big-chat", status: "untested" }]);
    const { body } = await change({ api_key: `${goodKey}-2` });
    expect(body.tested).toBe(true);
    expect(await find()).toMatchObject({
      status: "serving",
      models: [{ id: "big-chat" }],
      targets: [{ model: "big-chat", status: "serving" }],
    });
  });

  test("is saved anyway where that is asked for, and is untested then", async () => {
    await add();
    await serve();
    await change({ api_key: `${goodKey}-2` });
    await change({ base_url: "http://127.0.0.1:9/v1", api_key: goodKey, skip_test: true });
    expect(await find()).toMatchObject({ base_url: "http://127.0.0.1:9/v1", status: "untested" });
  });

  describe("whose address is another host", () => {
    const heard: string[] = [];
    const stranger = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ headers }) {
        heard.push(headers.get("authorization") ?? "none");
        return Response.json({ object: "list", data: [{ id: "big-chat", object: "model" }] });
      },
    });
    const base_url = `http://127.0.0.1:${stranger.port}/v1`;
    beforeEach(() => void heard.splice(0));
    afterAll(() => stranger.stop(true));

    test("gets no stored key", async () => {
      await add();
      const before = await find();
      for (const skip_test of [false, true])
        for (const api_key of [undefined, "<stored>", " <stored>\n"]) {
          expect(await refusal(change({ base_url, skip_test, api_key }))).toEqual([400, "api_key"]);
        }
      expect([heard, await find()]).toEqual([[], before]);
    });

    test("gets no stored option, and no name for a stored one is a value", async () => {
      const add = await operator.ask("POST /api/providers", {
        body: {
          name: "amazon",
          kind: "bedrock",
          options: { region: "us-east-1", access_key_id: "AKIA", secret_access_key: "s" },
          skip_test: true,
        },
      });
      expect(add.status).toBe(200);
      const mark = "<stored>";
      for (const options of [{}, { access_key_id: mark, secret_access_key: mark }]) {
        expect(
          await refusal(
            operator.ask("PATCH /api/providers/:name", {
              params: { name: "amazon" },
              body: { base_url, allow_private: true, options, skip_test: true },
            }),
          ),
        ).toEqual([400, "options.access_key_id"]);
      }
      expect(await refusal(addKey({ name: "second", api_key: mark, skip_test: true }))).toEqual([
        400,
        "api_key",
      ]);
    });

    test("gets a key that is entered again, or none, and no variable", async () => {
      await add();
      expect((await change({ base_url, api_key: goodKey })).status).toBe(200);
      expect(heard).toEqual([`Bearer ${goodKey}`]);
      const back = { base_url: gateway.upstream.baseUrl, skip_test: true };
      expect((await change({ ...back, api_key: "${FAKE_KEY}" })).status).toBe(200);
      expect((await change({ base_url, skip_test: true })).body.error.field).toBe("api_key");
      expect((await change({ base_url, skip_test: true, api_key: null })).status).toBe(200);
      expect(heard).toEqual([`Bearer ${goodKey}`]);
    });

    test("gets none of several keys", async () => {
      await add();
      await addKey({ name: "second", api_key: `${goodKey}-2` });
      const { status, body } = await change({ base_url, api_key: goodKey });
      expect([status, body.error.field]).toEqual([400, "base_url"]);
      expect(body.error.message).toContain("second");
      expect(heard).toEqual([]);
    });
  });

  test("is failing after a test that failed", async () => {
    await add();
    await serve();
    gateway.upstream.replyWith(operatorErrors.badKey());
    await operator.ask("POST /api/providers/:name/test", { params, body: { kind: "chat" } });
    expect(await find()).toMatchObject({ status: "failing", targets: [{ status: "failing" }] });
  });

  test("is paused and resumed without a test", async () => {
    await add();
    gateway.upstream.reset();
    await change({ paused: true });
    expect(await find()).toMatchObject({ paused: true, status: "paused" });
    await change({ paused: false });
    expect(await find()).toMatchObject({ paused: false, status: "untested" });
    expect(gateway.upstream.requests).toEqual([]);
  });
});

describe("the keys of a provider", () => {
  beforeEach(() => add());
  const names = async () =>
    (await find()).keys.map(({ name, weight, paused }: { [key: string]: unknown }) => [
      name,
      weight,
      paused,
    ]);

  test("are added, weighted, renamed, paused and removed", async () => {
    expect((await addKey({ name: "second", api_key: `${goodKey}-2`, weight: 2 })).status).toBe(200);
    expect(await names()).toEqual([
      ["default", 1, false],
      ["second", 2, false],
    ]);
    await changeKey("default", { weight: 5 });
    await changeKey("second", { name: "backup", weight: 0, paused: true });
    expect(await names()).toEqual([
      ["default", 5, false],
      ["backup", 0, true],
    ]);
    await changeKey("backup", { paused: false });
    await removeKey("default");
    expect(await names()).toEqual([["backup", 0, false]]);
    const text = await (await operator.ask("GET /api/providers")).response.text();
    expect(text).not.toContain("sk-good");
  });

  test("that are rejected are not saved", async () => {
    const { body } = await addKey({ name: "second", api_key: badKey });
    expect([body.error.code, body.error.field]).toEqual(["test_failed", "api_key"]);
    expect(await names()).toHaveLength(1);
    await addKey({ name: "second", api_key: badKey, skip_test: true });
    const replaced = await changeKey("default", { api_key: badKey });
    expect(replaced.body.error.code).toBe("test_failed");
    expect((await find()).keys[0].secret.hint).toBe("abcd");
  });

  test("keep their weights where the default key is replaced with the provider", async () => {
    await addKey({ name: "second", api_key: `${goodKey}-2` });
    await changeKey("default", { weight: 5 });
    expect((await change({ api_key: badKey })).body.error.code).toBe("test_failed");
    expect((await change({ api_key: `${goodKey}-3` })).body.tested).toBe(true);
    expect((await find()).keys).toMatchObject([
      { name: "default", weight: 5, secret: { hint: "cd-3" }, status: "serving" },
      { name: "second", weight: 1, secret: { hint: "cd-2" } },
    ]);
    await change({ api_key: null });
    expect(await names()).toEqual([["second", 1, false]]);
  });

  const named = (api_key: string) => () => addKey({ name: "x", api_key });
  const foreign = "${AWS_SECRET_ACCESS_KEY}";
  test.each<[what: string, ask: () => Promise<Answer>, status: number, field: string]>([
    ["a name that is taken", () => addKey({ name: "default", api_key: goodKey }), 409, "name"],
    ["a name with spaces", () => addKey({ name: "a b", api_key: goodKey }), 400, "name"],
    ["a key of two lines", named("a\nb"), 400, "api_key"],
    ["a variable of the gateway's own", named("${SVC_SECRET}"), 400, "api_key"],
    ["a variable of another part", named(foreign), 400, "api_key"],
    ["such a variable again", () => changeKey("default", { api_key: foreign }), 400, "api_key"],
    ["a negative weight", () => changeKey("default", { weight: -1 }), 400, "weight"],
    ["a key that is not there", () => changeKey("nobody", { weight: 1 }), 404, "key"],
    ["a key to remove that is not there", () => removeKey("nobody"), 404, "key"],
  ])("are refused with the field that is wrong: %s", async (_, ask, status, field) => {
    expect(await refusal(ask())).toEqual([status, field]);
    expect(await names()).toEqual([["default", 1, false]]);
  });

  test("are exported as references and applied again without a change", async () => {
    await addKey({ name: "second", api_key: "${FAKE_KEY}", weight: 2 });
    const { operations } = gateway.server;
    const { yaml } = await operations.manifest.export({});
    expect(yaml).toContain("key: ${FAKE_KEY}");
    expect(yaml).not.toContain("sk-good");
    const again = await operations.manifest.apply({ text: yaml, dryRun: true });
    expect(again.differences).toEqual([]);
  });
});
