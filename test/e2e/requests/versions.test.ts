import { describe, expect, test } from "bun:test";
import { modelEndpoint } from "../../../src/gateway/pipeline.ts";
import { type ApiVersion, get, mount, post, v1 } from "../../../src/gateway/versions.ts";
import { chatJson } from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

/** A next version that breaks: other paths, and another form of the same call. */
const v2: ApiVersion = {
  prefix: "/v2",
  endpoints: (dependencies) => ({
    "/answers": post(
      modelEndpoint(dependencies, { endpoint: "chat" }, async (served) => {
        const { exchange, body, model } = served;
        served.end();
        return exchange.json(JSON.stringify({ version: 2, model: model.id, asked: body["ask"] }));
      }),
    ),
    "/models/*": get((exchange) =>
      exchange.json(JSON.stringify({ version: 2, id: exchange.rest })),
    ),
  }),
};

const gateway = useTestGateway({ versions: [v1, v2] });

const ask = (path: string, body?: unknown, key = gateway.key) =>
  fetch(`${gateway.origin}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });

describe("a second major version", () => {
  test("answers under its own prefix, behind the same keys and models", async () => {
    const reply = await ask("/v2/answers", { model: "svc-3-flash", ask: "why" });
    expect(await reply.json()).toEqual({ version: 2, model: "svc-3-flash", asked: "why" });
    expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
    const body = { model: "svc-3-flash" };
    await expectRefusal(ask("/v2/answers", body, "sk-svc-wrong"), { status: 401 });
    await expectRefusal(ask("/v2/answers", { model: "none" }), { status: 403 });
    await expectRefusal(ask("/v2/answers"), { status: 405 });
    expect(await (await ask("//v2/models/a%2Fb/")).json()).toEqual({ version: 2, id: "a/b" });
  });

  test("leaves the first as it is", async () => {
    gateway.upstream.replyWith(chatJson());
    const whole = await gateway.client().chat.completions.create({
      model: "svc-3-flash",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(whole.object).toBe("chat.completion");
    expect((await gateway.client().models.list()).data.length).toBeGreaterThan(3);
    expect((await gateway.client().models.retrieve("svc-3-flash")).id).toBe("svc-3-flash");
  });

  test("shares no path with it", async () => {
    for (const path of ["/v1/answers", "/v2/chat/completions", "/v3/models", "/answers"])
      await expectRefusal(ask(path), { status: 404, code: "not_found" });
  });

  test("cannot take a prefix that is taken", () => {
    expect(() => mount([v1, v1], {} as Parameters<typeof mount>[1])).toThrow("mounted twice");
  });
});
