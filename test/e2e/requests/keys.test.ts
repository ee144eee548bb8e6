/** Keys: which are accepted, and that a refusal repeats nothing of one. */

import { beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { hello, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const postPaths = ["/v1/chat/completions", "/v1/embeddings", "/v1/audio/speech"];

const listWith = (headers: Record<string, string>) =>
  fetch(`${gateway.baseUrl}/models`, { headers });
const newKey = (options: { expires?: string; models?: string[] } = {}) =>
  gateway.server.operations.keys.create({ account: gateway.account, ...options });
const authorized = () => ({ authorization: `Bearer ${gateway.key}` });

describe("a key", () => {
  test("that is malformed, unknown, revoked or expired gets one and the same 401, and so does none", async () => {
    const revoked = await newKey();
    await gateway.server.operations.keys.revoke({ id: revoked.id });
    const expired = await newKey({ expires: new Date(Date.now() + 20).toISOString() });
    while ((await listWith({ authorization: `Bearer ${expired.key}` })).ok);
    const other = await startTestGateway();
    await other.stop();
    const missing = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: `Bearer${gateway.key}` },
      { authorization: `Basic ${gateway.key}` },
      { authorization: gateway.key },
      { "api-key": gateway.key },
    ];
    const wrong = [
      { authorization: "Bearer none" },
      { authorization: `Bearer ${gateway.key.slice(0, -1)}` },
      { authorization: `Bearer ${gateway.key}x` },
      { authorization: `Bearer ${gateway.key} ${gateway.key}` },
      { authorization: `Bearer ${gateway.key.toLowerCase()}` },
      { authorization: `Bearer ${other.key}` },
      { authorization: `Bearer ${revoked.key}` },
      { authorization: `Bearer ${expired.key}` },
    ];
    const bodies = { missing: new Set<string>(), wrong: new Set<string>() };
    for (const one of [...missing, ...wrong]) {
      const reply = await listWith(one as Record<string, string>);
      expect(reply.headers.get("x-should-retry")).toBe("false");
      const refusal = await expectRefusal(reply.clone(), {
        status: 401,
        code: "invalid_api_key",
        param: null,
      });
      // LiteLLM and what is built on it know a wrong key by these words alone.
      expect(refusal.message).toStartWith("Incorrect API key provided");
      const isMissing = missing.includes(one);
      expect(refusal.message.includes("has no bearer key")).toBe(isMissing);
      bodies[isMissing ? "missing" : "wrong"].add(await reply.text());
    }
    expect([bodies.missing.size, bodies.wrong.size]).toEqual([1, 1]);
  });

  test("that is wrong is never echoed, in the body or in a header", async () => {
    const secret = `sk-svc-${"Zq9".repeat(15)}z`;
    for (const path of postPaths) {
      const reply = await fetch(`${gateway.origin}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: "{}",
      });
      expect(reply.status).toBe(401);
      const said = `${await reply.text()}${JSON.stringify([...reply.headers])}`;
      expect(said).not.toContain("Zq9");
    }
  });

  test("is read whatever the case of its scheme, with odd spacing and beside other headers", async () => {
    for (const authorization of [
      `bearer ${gateway.key}`,
      `BEARER ${gateway.key}`,
      `Bearer   ${gateway.key}  `,
    ])
      expect((await listWith({ authorization })).status).toBe(200);
    const extra = { "api-key": "another", "openai-organization": "org", "x-stainless-lang": "js" };
    expect((await listWith({ ...authorized(), ...extra })).status).toBe(200);
  });

  test("is checked before anything of the body is looked at", async () => {
    const reply = fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "not json",
    });
    await expectRefusal(reply, { status: 401 });
  });

  test("in place of a model is not repeated", async () => {
    const { key } = gateway;
    const refusals = [
      await refusalOf(gateway.call("/chat/completions", { ...hello, model: key })),
      await refusalOf(gateway.call(`/models/${key}`, undefined, { method: "GET", body: null })),
    ];
    for (const { message } of refusals) {
      expect(message).not.toContain(key.slice(0, 12));
      expect(message).toContain("sk-svc-…");
    }
  });
});

const keys = () => gateway.server.operations.keys;
const chatWith = (key: string, headers: Record<string, string> = {}) =>
  gateway.call("/chat/completions", hello, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
const codeOf = async (key: string) => (await refusalOf(await chatWith(key))).code;

describe("a key whose secret was rotated is one key, which", () => {
  test("has one limit and one budget for both secrets", async () => {
    const limited = await openPayer(gateway);
    await keys().setLimits({ id: limited.keyId, rpm: "2" });
    const second = await keys().rotate({ id: limited.keyId });
    for (const key of [limited.key, second.key]) expect((await chatWith(key)).status).toBe(200);
    for (const key of [limited.key, second.key])
      expect(await codeOf(key)).toBe("rate_limit_exceeded");

    const poor = await openPayer(gateway, { budget: "0.000001" });
    const third = await keys().rotate({ id: poor.keyId });
    for (const key of [poor.key, third.key]) expect(await codeOf(key)).toBe("budget_exceeded");
  });

  test("pays once for an Idempotency-Key, whichever secret it comes with", async () => {
    const payer = await openPayer(gateway);
    const once = { "idempotency-key": "order-1" };
    expect((await chatWith(payer.key, once)).status).toBe(200);
    const { key } = await keys().rotate({ id: payer.keyId });
    const again = await chatWith(payer.key, once);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    await again.arrayBuffer();
    // The reply is sealed with the secret that asked for it; nobody else gets it, and nobody pays.
    const other = await chatWith(key, once);
    expect(other.headers.get("x-original-request-id")).toStartWith("req_");
    await expectRefusal(other, { status: 409, code: "idempotency_key_reused" });
    await payer.settled(1);
    expect(gateway.upstream.requests).toHaveLength(1);
  });
});

describe("a paused key", () => {
  test("gets a 401 that names the reason, on every endpoint, with either secret", async () => {
    const payer = await openPayer(gateway);
    const { key: second } = await keys().rotate({ id: payer.keyId });
    await keys().pause({ id: payer.keyId });
    for (const key of [payer.key, second])
      for (const path of ["/chat/completions", "/embeddings", "/audio/speech"]) {
        const headers = { authorization: `Bearer ${key}` };
        const refusal = await expectRefusal(await gateway.call(path, hello, { headers }), {
          status: 401,
          code: "invalid_api_key",
        });
        // The first words are what LiteLLM knows a wrong key by.
        expect(refusal.message).toStartWith("Incorrect API key provided: this key is paused.");
      }
    const models = await fetch(`${gateway.baseUrl}/models`, {
      headers: { authorization: `Bearer ${second}` },
    });
    expect(models.status).toBe(401);
    await keys().resume({ id: payer.keyId });
    expect((await chatWith(second)).status).toBe(200);
  });

  test("among many calls at once none begins after it was paused, and each served one has a receipt", async () => {
    const payer = await openPayer(gateway);
    let isPaused = false;
    const served: number[] = [];
    const call = async () => {
      const wasPaused = isPaused;
      const reply = await chatWith(payer.key);
      await reply.arrayBuffer();
      if (wasPaused) expect(reply.status).toBe(401);
      else if (reply.status === 200) served.push(1);
      else expect(reply.status).toBe(401);
    };
    const early = Array.from({ length: 100 }, call);
    const pausing = keys()
      .pause({ id: payer.keyId })
      .then(() => {
        isPaused = true;
      });
    const meanwhile = Array.from({ length: 100 }, call);
    await pausing;
    await Promise.all([...early, ...meanwhile, ...Array.from({ length: 100 }, call)]);
    expect(await payer.settled(served.length)).toHaveLength(served.length);
  });
});
