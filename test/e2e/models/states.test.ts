/** The providers' page, the catalog, the list of models and the command line show one state. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Restartable, startRestartable } from "../../console/setup/restartable.ts";
import { operatorErrors } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { joinOperator, type Visitor } from "../../setup/platform-home.ts";

let home: Restartable;
let operator: Visitor;
beforeAll(async () => {
  home = await startRestartable({
    SVC_BREAKERS: "on",
    SVC_RETRIES: "0",
    GROQ_API_KEY: "sk-good-1",
  });
  operator = await joinOperator(home.gateway);
});
afterAll(() => home.end());

const params = { name: "mine" };
const upstreams = ["big-chat", "other-chat"];
let turn = 0;
let ids: readonly string[] = [];
const hasBadKey = ({ headers }: RecordedRequest) =>
  String(headers["authorization"]).includes("sk-bad");
beforeEach(async () => {
  home.gateway.upstream.reset();
  home.gateway.upstream.replyWith((request) =>
    hasBadKey(request) ? operatorErrors.badKey() : willingVendor(request),
  );
});
afterEach(async () => {
  await operator.ask("DELETE /api/providers/:name", { params, query: { empties_models: "true" } });
});

const ok = async (name: string, body: object, more: object = {}) => {
  const answer = await operator.ask(name, { params: { ...params, ...more }, body });
  expect([name, answer.status, answer.body]).toMatchObject([name, 200, {}]);
};
const change = (body: object) => ok("PATCH /api/providers/:name", body);
async function connect(apiKey: string, test: object = { skip_test: true }): Promise<void> {
  const base_url = home.gateway.upstream.baseUrl;
  const body = { ...params, base_url, api_key: apiKey, allow_private: true, ...test };
  // As a command, which may name any variable.
  await home.gateway.server.operations.providers.add(body);
  // A model that was called stays: each test has models of its own.
  turn += 1;
  ids = upstreams.map((name) => `${name}-${turn}`);
  for (const [at, model] of upstreams.entries())
    await ok("POST /api/catalog", {
      id: ids[at],
      endpoint: "chat",
      price: { input: "0", output: "0" },
      routes: [{ provider: "mine", model }],
    });
}
const call = async () =>
  (
    await home.gateway.call("/chat/completions", {
      model: ids[0],
      messages: [{ role: "user", content: "Hi" }],
    })
  ).status;
const restart = async () => {
  await home.stop();
  await home.start();
};

interface Target {
  readonly model: string;
  readonly status: string;
}
interface Entry {
  readonly id: string;
  readonly state: string;
  readonly routes: readonly { readonly state: string }[];
}

/** The states of big-chat and other-chat, in each place that shows them. */
async function shown(): Promise<Readonly<Record<string, readonly (string | undefined)[]>>> {
  const { providers } = (await operator.ask("GET /api/providers")).body;
  const mine = providers.find(({ name }: { name: string }) => name === "mine");
  const { body: catalog } = await operator.ask("GET /api/catalog");
  const listed = await home.gateway.server.operations.models.list({});
  const find = (id: string) => catalog.find((one: Entry) => one.id === id);
  const worst: Record<string, number> = { failing: 0, untested: 1, paused: 2, serving: 3 };
  /** Of several keys the best one decides. */
  const best = (id: string) =>
    mine.targets
      .filter((target: Target) => target.model === id && target.status !== "paused")
      .toSorted((a: Target, b: Target) => (worst[b.status] ?? 0) - (worst[a.status] ?? 0))[0]
      ?.status ?? "paused";
  return {
    provider: upstreams.map(best),
    catalog: ids.map((id) => find(id)?.state),
    routes: ids.map((id) => find(id)?.routes[0]?.state),
    list: ids.map((id) => listed.find((one) => one.id === id)?.state ?? undefined),
  };
}
const everywhere = (states: readonly string[]) => ({
  provider: states,
  catalog: states,
  routes: states,
  list: states,
});
/** A breaker opens after a probe, and the store is written after the reply. */
async function comesTo(states: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (Bun.deepEquals(await shown(), everywhere(states))) return;
    await Bun.sleep(50);
  }
  expect(await shown()).toEqual(everywhere(states));
}

test("is untested until it is called, then serving, also after a restart; paused when paused", async () => {
  await connect("sk-good-0123456789");
  expect(await shown()).toEqual(everywhere(["untested", "untested"]));
  expect(await call()).toBe(200);
  expect(await shown()).toEqual(everywhere(["serving", "untested"]));
  await restart();
  expect(await shown()).toEqual(everywhere(["serving", "untested"]));
  await change({ paused: true });
  expect(await shown()).toEqual(everywhere(["paused", "paused"]));
  await restart();
  expect(await shown()).toEqual(everywhere(["paused", "paused"]));
  await change({ paused: false });
  expect(await shown()).toEqual(everywhere(["serving", "untested"]));
});

test("is failing once a call shows that the key is wrong, also after a restart", async () => {
  await connect("sk-bad-0123456789");
  expect(await call()).not.toBe(200);
  await comesTo(["failing", "untested"]);
  await restart();
  expect(await shown()).toEqual(everywhere(["failing", "untested"]));
  await change({ api_key: "sk-good-0123456789" });
  await comesTo(["serving", "untested"]);
});

test("is serving again after the first call that works", async () => {
  await connect("sk-good-0123456789");
  expect(await call()).toBe(200);
  home.gateway.upstream.replyWith(operatorErrors.badKey());
  expect(await call()).not.toBe(200);
  await comesTo(["failing", "untested"]);
  await restart();
  home.gateway.upstream.replyWith(willingVendor);
  expect(await call()).toBe(200);
  await comesTo(["serving", "untested"]);
});

test("is failing while the variable of its key is not set", async () => {
  await connect("${XAI_API_KEY}");
  expect(await shown()).toEqual(everywhere(["failing", "failing"]));
  await change({ api_key: "${FAKE_KEY}", skip_test: true });
  expect(await shown()).toEqual(everywhere(["untested", "untested"]));
});

test("of several keys, the best one decides", async () => {
  await connect("sk-good-0123456789");
  const key = { name: "second", api_key: "sk-bad-0123456789", skip_test: true };
  await ok("POST /api/providers/:name/keys", key);
  await ok("POST /api/providers/:name/test", { kind: "chat" });
  const { providers } = (await operator.ask("GET /api/providers")).body;
  const mine = providers.find(({ name }: { name: string }) => name === "mine");
  const statuses = mine.targets.filter(({ model }: Target) => model === "big-chat");
  expect(statuses.map((one: Target) => one.status)).toEqual(["failing", "serving"]);
  expect(await shown()).toEqual(everywhere(["serving", "untested"]));
  await ok("PATCH /api/providers/:name/keys/:key", { paused: true }, { key: "default" });
  // The vendor has rejected the key itself, whichever model was called.
  expect(await shown()).toEqual(everywhere(["failing", "failing"]));
});

describe("the state of a key", () => {
  const keys = async () => {
    const { providers } = (await operator.ask("GET /api/providers")).body;
    const mine = providers.find(({ name }: { name: string }) => name === "mine");
    return mine.keys.map((key: Readonly<Record<string, unknown>>) => [
      key["name"],
      key["status"],
      `${key["failing_models"]} of ${key["models"]}`,
    ]);
  };
  const testChat = (key: string) => ok("POST /api/providers/:name/test", { kind: "chat", key });

  test("is serving while one of its models fails, which is counted", async () => {
    await connect("sk-good-0123456789");
    expect(await keys()).toEqual([["default", "untested", "0 of 2"]]);
    ids = [ids[1] ?? ""];
    expect(await call()).toBe(200);
    home.gateway.upstream.replyWith(operatorErrors.badKey());
    await testChat("default");
    expect(await keys()).toEqual([["default", "serving", "1 of 2"]]);
    await restart();
    expect(await keys()).toEqual([["default", "serving", "1 of 2"]]);
  });

  test("is failing once all its models fail", async () => {
    await connect("${XAI_API_KEY}");
    expect(await keys()).toEqual([["default", "failing", "2 of 2"]]);
  });

  test("is failing once the vendor rejects it and nothing has worked with it", async () => {
    await connect("sk-good-0123456789");
    const key = { name: "second", api_key: "sk-bad-0123456789", skip_test: true };
    await ok("POST /api/providers/:name/keys", key);
    expect((await keys())[1]).toEqual(["second", "untested", "0 of 2"]);
    await testChat("second");
    expect((await keys())[1]).toEqual(["second", "failing", "2 of 2"]);
    await restart();
    expect((await keys())[1]).toEqual(["second", "failing", "2 of 2"]);
  });

  test("is failing at once where it is saved although the vendor rejected it", async () => {
    await connect("sk-bad-0123456789", { save_anyway: true });
    expect(await keys()).toEqual([["default", "failing", "2 of 2"]]);
    expect(await shown()).toEqual(everywhere(["failing", "failing"]));
    await restart();
    expect(await keys()).toEqual([["default", "failing", "2 of 2"]]);
    // The vendor accepts it later: a call that works is the end of it, for all models.
    home.gateway.upstream.replyWith(willingVendor);
    expect(await call()).toBe(200);
    await comesTo(["serving", "untested"]);
    expect(await keys()).toEqual([["default", "serving", "0 of 2"]]);
  });

  test("is failing at once where it is added or replaced by a rejected one", async () => {
    await connect("sk-good-0123456789");
    const bad = { api_key: "sk-bad-0123456789", save_anyway: true };
    await ok("POST /api/providers/:name/keys", { name: "second", ...bad });
    expect((await keys())[1]).toEqual(["second", "failing", "2 of 2"]);
    await ok("PATCH /api/providers/:name/keys/:key", bad, { key: "default" });
    expect((await keys())[0]).toEqual(["default", "failing", "2 of 2"]);
    await ok("DELETE /api/providers/:name/keys/:key", {}, { key: "second" });
    await change({ api_key: "sk-good-0123456789" });
    expect(await keys()).toEqual([["default", "serving", "0 of 2"]]);
    await change(bad);
    expect(await keys()).toEqual([["default", "failing", "2 of 2"]]);
  });
});

test("a target that is put back by hand is untested until a call shows how it is", async () => {
  const ofTarget = async () => {
    const { body } = await operator.ask("GET /api/catalog/:model", {
      params: { model: ids[0] ?? "" },
    });
    return body.state;
  };
  for (const body of [{}, { model: "big-chat" }]) {
    await connect("sk-bad-1");
    await operator.ask("POST /api/providers/:name/test", { params, body: { kind: "chat" } });
    expect(await ofTarget()).toBe("failing");
    await ok("POST /api/providers/:name/reset", body);
    expect(await ofTarget()).toBe("untested");
    await operator.ask("DELETE /api/providers/:name", {
      params,
      query: { empties_models: "true" },
    });
  }
});
