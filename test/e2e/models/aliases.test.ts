/** Aliases of a model: how they are called, listed, limited and billed. */

import { describe, expect, test } from "bun:test";
import { chatAnswers, chatStream, openaiEvents } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { joinOperator, type Visitor } from "../../setup/platform-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ isInStore: true });

const messages = [{ role: "user", content: "Hi" }];
const chat = (model: string, more: object = {}, key = gateway.key) =>
  gateway.call(
    "/chat/completions",
    { model, messages, ...more },
    { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } },
  );
const operations = () => gateway.server.operations;
const alias = (id: string, name: string) => operations().catalog.addAlias({ id, alias: name });

let operator: Visitor | undefined;
async function receiptOf(response: Response) {
  operator ??= await joinOperator(gateway);
  const id = response.headers.get("x-request-id") ?? "";
  return (await operator.ask("GET /api/requests/:id", { params: { id } })).body;
}

describe("an alias", () => {
  test("is answered under the name that was asked for; the receipt names the model", async () => {
    await alias("svc-3-flash", "gpt-4o-mini");
    gateway.upstream.replyWith(chatAnswers.plain({ text: "hello" }));
    const response = await chat("gpt-4o-mini");
    expect(response.status).toBe(200);
    expect((await response.json()).model).toBe("gpt-4o-mini");
    expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ model: "upstream-chat" });
    expect((await receiptOf(response)).model).toBe("svc-3-flash");
    const direct = await chat("svc-3-flash");
    expect((await direct.json()).model).toBe("svc-3-flash");
  });

  test("is in every chunk of a stream, and in the reply of embeddings", async () => {
    await alias("svc-3-flash", "streamed");
    await alias("svc-embedding-2", "vectors");
    gateway.upstream.replyWith(chatStream({ events: openaiEvents({ pieces: ["a", "b"] }) }));
    const text = await (await chat("streamed", { stream: true })).text();
    const chunks = text
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)));
    expect(chunks.length).toBeGreaterThan(1);
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(["streamed"]));
    gateway.upstream.replyWith(willingVendor);
    const embedded = await gateway.call("/embeddings", { model: "vectors", input: "x" });
    expect((await embedded.json()).model).toBe("vectors");
    expect((await receiptOf(embedded)).model).toBe("svc-embedding-2");
  });

  test("is resolved before the list of models that a key can use", async () => {
    await alias("svc-2-flash", "free");
    gateway.upstream.replyWith(chatAnswers.plain());
    const keyFor = async (model: string) =>
      operations().keys.create({ account: gateway.account, models: [model] });
    const { key } = await keyFor("svc-2-flash");
    expect((await chat("free", {}, key)).status).toBe(200);
    const { key: other } = await keyFor("svc-3-flash");
    expect(await refusalOf(chat("free", {}, other))).toMatchObject({
      status: 403,
      code: "model_not_allowed",
    });
    // A key that is limited to an alias is limited to its model.
    const { key: named, models } = await keyFor("free");
    expect(models).toEqual(["svc-2-flash"]);
    expect((await chat("free", {}, named)).status).toBe(200);
  });

  test("is listed with the data of its model, for keys that can use that", async () => {
    await alias("vendor/with-slash", "slash");
    const list = await (await gateway.call("/models", undefined, { method: "GET" })).json();
    const byId = new Map(list.data.map((one: { id: string }) => [one.id, one]));
    const { id: _, ...model } = byId.get("vendor/with-slash") as { id: string };
    expect(byId.get("slash")).toEqual({ id: "slash", ...model });
    const one = await gateway.call("/models/slash", undefined, { method: "GET" });
    expect(await one.json()).toEqual({ id: "slash", ...model });
  });

  test("is unknown once it is removed", async () => {
    await alias("svc-3-flash", "short-lived");
    await operations().catalog.removeAlias({ id: "svc-3-flash", alias: "short-lived" });
    expect(await refusalOf(chat("short-lived"))).toMatchObject({ code: "model_not_allowed" });
  });
});
