import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { hello } from "../../../test/setup/money-home.ts";
import {
  type Answer,
  joinMember,
  joinOperator,
  type Visitor,
} from "../../../test/setup/platform-home.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };
let gateway: TestGateway;
let developer: Visitor;
let viewer: Visitor;
let params: { readonly account: string };

beforeAll(async () => {
  gateway = await startTestGateway({ clock: { nowMs: () => clock.ms } });
  gateway.upstream.replyWith(chatAnswers.plain());
  params = { account: gateway.account };
  const operator = await joinOperator(gateway);
  developer = await joinMember(gateway, operator, { ...params, role: "developer" });
  viewer = await joinMember(gateway, operator, { ...params, role: "viewer" });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  clock.ms = startMs;
});

const create = (body: object) =>
  developer.ask("POST /api/accounts/:account/keys", { params, body });
const change = (id: string, body: object) =>
  developer.ask("PATCH /api/accounts/:account/keys/:id", { params: { ...params, id }, body });
const revoke = (id: string) =>
  developer.ask("DELETE /api/accounts/:account/keys/:id", { params: { ...params, id } });
const find = async (id: string) => {
  const { body } = await viewer.ask("GET /api/accounts/:account/keys", { params });
  return (body as readonly Answer["body"][]).find((key) => key.id === id);
};
const call = async (key: string) => {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await gateway.call("/chat/completions", hello, { headers });
  await reply.arrayBuffer();
  return reply.status;
};
const wrong = ({ status, body }: Answer) => ({ status, field: body.error?.field });

describe("a paused key", () => {
  const setPaused = (id: string, verb: "pause" | "resume", who = developer) =>
    who.ask(`POST /api/accounts/:account/keys/:id/${verb}`, { params: { ...params, id } });

  test("is rejected from the next call on, and works again once it is resumed", async () => {
    const { id, key } = (await create({ name: "paused", expires: "2027-04-01" })).body;
    expect(await call(key)).toBe(200);
    const paused = await setPaused(id, "pause");
    expect(paused.body).toMatchObject({ status: "paused", paused_at: "2027-03-15T12:00:00Z" });
    expect(await call(key)).toBe(401);
    // A second time keeps the first moment.
    clock.ms += 60_000;
    expect((await setPaused(id, "pause")).body.paused_at).toBe("2027-03-15T12:00:00Z");
    expect((await setPaused(id, "resume")).body).toMatchObject({
      status: "active",
      paused_at: null,
      expires_at: "2027-04-01T00:00:00Z",
    });
    expect(await call(key)).toBe(200);
  });

  test("is not for viewers, and a revoked or foreign one is refused", async () => {
    const { id } = (await create({ name: "mine" })).body;
    expect((await setPaused(id, "pause", viewer)).status).toBe(403);
    expect((await setPaused("key_none", "pause")).status).toBe(404);
    await revoke(id);
    expect((await setPaused(id, "pause")).status).toBe(409);
  });
});

describe("the expiration date", () => {
  test("is moved and taken away, and takes effect at once", async () => {
    const { id, key } = (await create({ name: "ends", expires: "2027-03-16" })).body;
    clock.ms = Date.parse("2027-03-16T00:00:00Z");
    expect(await call(key)).toBe(401);
    expect((await change(id, { expires: "2027-05-01" })).body).toMatchObject({
      status: "active",
      expires_at: "2027-05-01T00:00:00Z",
    });
    expect(await call(key)).toBe(200);
    expect((await change(id, { expires: "never" })).body.expires_at).toBeNull();
  });

  test("in the past, or that is none, is refused with its field, and nothing is changed", async () => {
    // Not back from where the test before left it: changes are limited per minute.
    clock.ms = Date.parse("2027-03-17T00:00:00Z");
    const { id } = (await create({ name: "kept", rpm: "5" })).body;
    for (const expires of ["2027-03-15", "soon", ""])
      expect(wrong(await change(id, { expires, rpm: "9" }))).toEqual({
        status: 400,
        field: "expires",
      });
    expect((await find(id))?.limits.rpm).toBe("5");
  });
});
