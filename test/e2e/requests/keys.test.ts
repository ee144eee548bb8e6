/** Keys: which are accepted, and that a refusal repeats nothing of one. */

import { beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const chat = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };
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
      const refusal = await refusalOf(reply.clone());
      expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key", param: null });
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
    expect(await refusalOf(reply)).toMatchObject({ status: 401 });
  });

  test("revoked in the running server is refused from the very next request on", async () => {
    const { id, key } = await newKey();
    const client = gateway.client({ apiKey: key });
    expect((await client.chat.completions.create(chat)).object).toBe("chat.completion");
    await gateway.server.operations.keys.revoke({ id });
    const thrown = await thrownBy(client.chat.completions.create(chat));
    expect(thrown).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("with a list of models calls those and no others", async () => {
    const { key } = await newKey({ models: ["svc-3-flash"] });
    const client = gateway.client({ apiKey: key });
    expect((await client.chat.completions.create(chat)).model).toBe("svc-3-flash");
    const thrown = await thrownBy(
      client.chat.completions.create({ ...chat, model: "svc-2-flash" }),
    );
    expect(thrown).toMatchObject({ status: 403, code: "model_not_allowed" });
    expect(gateway.upstream.requests.length).toBe(1);
  });

  test("in place of a model is not repeated", async () => {
    const { key } = gateway;
    const refusals = [
      await refusalOf(gateway.call("/chat/completions", { ...chat, model: key })),
      await refusalOf(gateway.call(`/models/${key}`, undefined, { method: "GET", body: null })),
    ];
    for (const { message } of refusals) {
      expect(message).not.toContain(key.slice(0, 12));
      expect(message).toContain("sk-svc-…");
    }
  });
});
