import { beforeEach, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { machine, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };

const { gateway, operator, developer, viewer } = usePlatform({
  clock: { nowMs: () => clock.ms },
  reply: chatAnswers.plain(),
  members: ["developer", "viewer"],
});
beforeEach(() => {
  clock.ms = startMs;
});

const makeKey = (visitor: Visitor) => visitor.ask("POST /api/accounts/:account/playground-key");
const chat = (baseUrl: string, key: string) =>
  fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] }),
  });

test("a developer gets a key that calls the gateway for 15 minutes and no longer", async () => {
  const { status, body } = await makeKey(developer);
  expect(status).toBe(200);
  expect(Object.keys(body).toSorted()).toEqual(["base_url", "expires_at", "key"]);
  expect(body.base_url).toBe(gateway.baseUrl);
  expect(Date.parse(body.expires_at)).toBe(startMs + 15 * 60_000);
  expect((await chat(body.base_url, body.key)).status).toBe(200);
  clock.ms = startMs + 15 * 60_000 - 1;
  expect((await chat(body.base_url, body.key)).status).toBe(200);
  clock.ms = startMs + 15 * 60_000;
  expect((await chat(body.base_url, body.key)).status).toBe(401);
});

test("the account that the path names pays, and not another one", async () => {
  const other = await gateway.server.operations.accounts.create({ name: "poor" });
  const { body } = await operator.ask("POST /api/accounts/:account/playground-key", {
    params: { account: other.id },
  });
  expect((await chat(body.base_url, body.key)).status).toBe(402);
});

test("the key of a token ends when the token is revoked", async () => {
  const { body: token } = await operator.ask("POST /api/tokens", {
    body: { name: "ci", scopes: ["keys:write"] },
  });
  const { body } = await makeKey(machine(gateway.platformUrl, token.token));
  expect((await chat(body.base_url, body.key)).status).toBe(200);
  await operator.ask("DELETE /api/tokens/:id", { params: { id: token.id } });
  expect((await chat(body.base_url, body.key)).status).toBe(401);
});

test("the audit log says that a key was made, and never the key", async () => {
  const { body } = await makeKey(developer);
  const audit = await operator.ask("GET /api/audit");
  const text = JSON.stringify(audit.body);
  expect(text).toContain("key.temporary");
  expect(text).not.toContain(body.key);
});

test("the models say which endpoint they are for and what they take, and name no provider", async () => {
  await gateway.server.operations.models.deprecate({
    id: "svc-2-flash",
    retires: "2027-06-01",
    replacement: "svc-3-flash",
  });
  const { status, body } = await viewer.ask("GET /api/accounts/:account/playground-models");
  expect(status).toBe(200);
  const find = (id: string) => body.find((model: { readonly id: string }) => model.id === id);
  expect(find("svc-3-flash")).toEqual({
    aliases: [],
    id: "svc-3-flash",
    endpoint: "chat",
    input: "text",
    takes_images: true,
    max_output_tokens: 8192,
    status: "active",
    retires_at: null,
    replacement: null,
  });
  expect(find("multimodal-embedding-1")).toMatchObject({ endpoint: "embeddings", input: "media" });
  expect(find("svc-2.5-pro-tts")).toMatchObject({ endpoint: "speech", takes_images: false });
  expect(find("svc-2-flash")).toMatchObject({
    status: "deprecated",
    retires_at: expect.stringContaining("2027-06-01"),
    replacement: "svc-3-flash",
  });
  expect(find("unpriced")).toBeUndefined();
  expect(find("unrouted")).toBeUndefined();
  expect(JSON.stringify(body)).not.toContain("fake");
});
