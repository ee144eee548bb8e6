/** What replies carry beside their words, in every dialect: ids, limits, the lifecycle of a model. */

import { beforeAll, describe, expect, test } from "bun:test";
import { fullCounts } from "../providers/calls.ts";
import { framed } from "../providers/stage.ts";
import { type Caller, forms, reply, Stage } from "./stage.ts";
import { oldOf, type Pair, plainScenes, sceneName, scenes, vendors } from "./vendors.ts";

const stage = new Stage();
const retires = "2999-01-31T12:00:00Z";

beforeAll(async () => {
  const { models } = stage.gateway.server.operations;
  for (const vendor of vendors)
    await models.deprecate({ id: oldOf(vendor), retires, replacement: vendor.name });
});

const answered = (pair: Pair, form: (typeof forms)[number]) =>
  reply(pair, form, {
    pieces: [{ text: "Hi" }],
    finish: "stop",
    usage: fullCounts(pair.wire.can),
  });

/** A request that names what cannot be. */
const wrong = { temperature: 99 };

for (const pair of scenes)
  describe(sceneName(pair), () => {
    requestIdCases(pair);
    lifecycleCases(pair);
  });

for (const pair of plainScenes)
  describe(sceneName(pair), () => {
    refusalCases(pair);
    limitCases(pair);
    keyCases(pair);
  });

function requestIdCases(pair: Pair): void {
  for (const form of forms)
    test(`${form}: the x-request-id is that of the receipt`, async () => {
      const caller = await stage.caller(pair);
      stage.answer(pair, answered(pair, form));
      const response = await caller.send({}, form);
      await response.text();
      expect(response.headers.get("x-request-id")).toBe((await caller.payer.receipt()).id);
    });
}

function refusalCases(pair: Pair): void {
  test("an invalid field is a 400 that names it, before the upstream is called or money is held", async () => {
    const caller = await stage.caller(pair);
    for (const form of forms)
      expect(await caller.refusal(wrong, form)).toMatchObject({
        status: 400,
        code: "invalid_request",
        param: "temperature",
      });
    expect(stage.calls).toEqual([]);
    expect(await caller.payer.receipts()).toEqual([]);
  });

  test("an unknown model is refused with the name of the field", async () => {
    const caller = await stage.caller(pair);
    const refusal = await caller.refusal({ model: "no-such-model" }, "whole");
    expect(refusal.param).toBe("model");
    expect([403, 404, 400]).toContain(refusal.status);
  });
}

function lifecycleCases(pair: Pair): void {
  const expectTold = async (response: Response) => {
    await response.text();
    expect(response.headers.get("deprecation")).toMatch(/^@\d{10}$/);
    expect(response.headers.get("sunset")).toBe(new Date(retires).toUTCString());
    expect(response.headers.get("link")).toBe(
      `<${stage.gateway.baseUrl}/models/${pair.vendor.name}>; rel="successor-version"`,
    );
  };

  test("a deprecated model is marked on replies, streams and errors", async () => {
    const caller = await stage.caller(pair);
    const model = oldOf(pair.vendor);
    for (const form of forms) {
      stage.answer(pair, answered(pair, form));
      await expectTold(await caller.send({ model }, form));
      await expectTold(await caller.send({ model, ...wrong }, form));
      const failed = pair.wire.error("serverError", { words: "", streamed: form === "streamed" });
      if (failed === undefined) throw new Error("the vendor never fails");
      stage.answer(pair, failed);
      await expectTold(await caller.send({ model }, form));
    }
    stage.answer(pair, answered(pair, "whole"));
    const other = await caller.send({}, "whole");
    expect(other.headers.get("deprecation")).toBeNull();
  });
}

function limitCases(pair: Pair): void {
  const limited = async (limits: Readonly<Record<string, string>>): Promise<Caller> => {
    const caller = await stage.caller(pair);
    const { keys } = stage.gateway.server.operations;
    await keys.setLimits({ id: caller.payer.keyId, ...limits });
    return caller;
  };

  for (const form of forms)
    test(`${form}: the limit of requests per minute applies, and every reply shows what remains`, async () => {
      const caller = await limited({ rpm: "2", tpm: "100000" });
      stage.answer(pair, answered(pair, form));
      const first = await caller.send({}, form);
      await first.text();
      expect(first.headers.get("x-ratelimit-limit-requests")).toBe("2");
      expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("1");
      await (await caller.send({}, form)).text();
      const refused = await caller.send({}, form);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      const error = pair.driver.fromError(await refused.json());
      expect([refused.status, error.code]).toEqual([429, "rate_limit_exceeded"]);
      await caller.payer.settled(2);
    });

  test("the limit of tokens per minute counts the tokens used", async () => {
    const caller = await limited({ tpm: "3000" });
    const usage = { input: 2_500, output: 40 };
    stage.answer(pair, reply(pair, "whole", { pieces: [{ text: "Hi" }], finish: "stop", usage }));
    await caller.hear(
      { cap: 50, turns: [{ by: "user", content: ["word ".repeat(1_000)] }] },
      "whole",
    );
    const refusal = await caller.refusal({ cap: 1_000 }, "whole");
    expect(refusal).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(refusal.message).toContain("3,000 tokens per minute");
  });

  test("a concurrency limit of one allows one call at a time", async () => {
    const caller = await limited({ concurrency: "1" });
    const gate = Promise.withResolvers<void>();
    const usage = { input: 9, output: 1 };
    const said = reply(pair, "whole", { pieces: [{ text: "Hi" }], finish: "stop", usage });
    stage.answer(pair, [{ until: gate.promise }, { send: framed(said).bytes }]);
    const arrived = stage.nextCall();
    const first = caller.hear({}, "whole");
    await arrived;
    expect(await caller.refusal({}, "whole")).toMatchObject({ status: 429 });
    gate.resolve();
    await first;
    stage.answer(pair, said);
    await caller.hear({}, "whole");
    await caller.payer.settled(2);
  });
}

function keyCases(pair: Pair): void {
  test("a wrong key, a revoked one and a suspended account are refused in the dialect's form", async () => {
    const caller = await stage.caller(pair);
    const { operations } = stage.gateway.server;
    const { driver } = pair;
    const wrongKey = await caller.send({}, "whole", { headers: driver.headers("sk-wrong") });
    expect([wrongKey.status, driver.fromError(await wrongKey.json()).code]).toEqual([
      401,
      "invalid_api_key",
    ]);
    await operations.accounts.suspend({ account: caller.payer.id });
    expect(await caller.refusal({}, "whole")).toMatchObject({
      status: 402,
      code: "account_suspended",
    });
  });

  test("bodies that are not JSON, not objects or of another type are refused in the dialect's form", async () => {
    const caller = await stage.caller(pair);
    const { driver } = pair;
    for (const [body, status, type] of [
      ["{", 400, "application/json"],
      ["[]", 400, "application/json"],
      ["{}", 400, "application/json"],
      ["{}", 415, "text/plain"],
    ] as const) {
      const headers = { "content-type": type };
      const response = await caller.send({}, "whole", { body, headers });
      expect({ body, status: response.status }).toEqual({ body, status });
      driver.fromError(await response.json());
    }
    const { headers } = { headers: driver.headers(caller.payer.key) };
    const wrongMethod = await fetch(`${stage.gateway.baseUrl}${driver.path}`, { headers });
    expect(wrongMethod.status).toBe(405);
    driver.fromError(await wrongMethod.json());
  });
}
