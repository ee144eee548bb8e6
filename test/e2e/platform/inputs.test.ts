/** What people type: invisible characters, names and bodies that the platform refuses. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "../../../src/base/ids.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { join, joinOperator, type Visitor } from "../../setup/platform-home.ts";

let gateway: TestGateway;
let operator: Visitor;
let params: { readonly account: string };
beforeAll(async () => {
  gateway = await startTestGateway();
  operator = await joinOperator(gateway);
  params = { account: gateway.account };
});
afterAll(() => gateway.stop());

describe("what nobody can see is taken", () => {
  const hidden = ["\x1b[2Jx", "x\u202ey", "x\u200by", "x\ny", "x\u009b2K"];

  test("in no name of a key, a person or a token", async () => {
    const { body: key } = await operator.ask("POST /api/accounts/:account/keys", {
      params,
      body: { name: "fine", rpm: "7" },
    });
    for (const name of hidden) {
      const answers = [
        await operator.ask("POST /api/accounts/:account/keys", { params, body: { name } }),
        await operator.ask("PATCH /api/accounts/:account/keys/:id", {
          params: { ...params, id: key.id },
          body: { name, rpm: "8" },
        }),
        await operator.ask("PATCH /api/me", { body: { name } }),
        await operator.ask("POST /api/accounts/:account/tokens", {
          params,
          body: { name, role: "viewer", scopes: ["usage:read"] },
        }),
      ];
      for (const { status, body } of answers) {
        expect(status).toBe(400);
        expect(body.error.message).toContain("must not contain invisible characters");
        expect(body.error.field).toBe("name");
      }
    }
    const { body: keys } = await operator.ask("GET /api/accounts/:account/keys", { params });
    const left = keys.find(({ id }: { id: string }) => id === key.id);
    expect(left).toMatchObject({ name: "fine", limits: { rpm: "7" } });
    expect(JSON.stringify(keys)).not.toContain("\u202e");
  });

  test("in no models of a key", async () => {
    const body = { name: "x", models: ["svc-3-flash\x1b[2J"] };
    const answer = await operator.ask("POST /api/accounts/:account/keys", { params, body });
    expect([answer.status, answer.body.error.field]).toEqual([400, "models"]);
  });

  test("in no reference or note of an entry", async () => {
    for (const text of hidden)
      for (const field of ["reference", "note"]) {
        const { status, body } = await operator.ask("POST /api/accounts/:account/entries", {
          params,
          body: { kind: "credit", usd: "1", [field]: text },
        });
        expect([status, body.error?.field]).toEqual([400, field]);
      }
  });

  test("in no email, and one that is written in two ways is one", async () => {
    const invite = (email: string) =>
      operator.ask("POST /api/accounts/:account/invites", {
        params,
        body: { role: "viewer", email },
      });
    for (const email of ["a\u202e@example.com", "a\u200b@example.com", "a\x1b[2J@example.com"]) {
      const { status, body } = await invite(email);
      expect([status, body.error?.field]).toEqual([400, "email"]);
    }
    const { body } = await invite("jose\u0301@example.com");
    const member = await join(gateway.platformUrl, body.link, { email: "JOS\u00c9@example.com" });
    const { body: session } = await member.ask("GET /api/session");
    expect(session.user.email).toBe("jos\u00e9@example.com");
  });
});

test("an account cannot be named like the id of one", async () => {
  const create = (name: string) => operator.ask("POST /api/accounts", { body: { name } });
  for (const name of [gateway.account, newId("acct"), `acct_${"AF09".repeat(8)}`]) {
    const { status, body } = await create(name);
    expect([status, body.error.field]).toEqual([400, "name"]);
    const made = gateway.server.operations.accounts.create({ name });
    await expect(made).rejects.toThrow("account id");
  }
  expect((await create("acct_mine")).status).toBe(200);
});

describe("a body", () => {
  const send = (body: string, type: string) =>
    fetch(`${gateway.platformUrl}/api/me`, {
      method: "PATCH",
      headers: { ...operator.headers, "content-type": type },
      body,
    });

  test("is JSON in whichever letters its type is written", async () => {
    const body = JSON.stringify({ name: "Grace" });
    expect((await send(body, "APPLICATION/JSON")).status).toBe(200);
    expect((await send(body, "Application/Json ; Charset=UTF-8")).status).toBe(200);
    expect((await send(body, "application/jsonx")).status).toBe(415);
  });

  test("that is too large is refused in words", async () => {
    for (const name of ["x".repeat(2 * 1024 * 1024), "é".repeat(1024 * 1024)]) {
      const reply = await send(JSON.stringify({ name }), "application/json");
      expect(reply.status).toBe(413);
      expect(await reply.json()).toEqual({
        error: { code: "too_large", message: "The body must not exceed 2 MB." },
      });
    }
    const most = "x".repeat(2 * 1024 * 1024 - '{"name":""}'.length);
    expect((await send(JSON.stringify({ name: most }), "application/json")).status).toBe(400);
  });
});

test("a long reply is packed for who takes it, and for nobody else", async () => {
  const read = (accepted: string, path: string) =>
    fetch(`${gateway.platformUrl}${path}`, {
      headers: { cookie: operator.cookie, "accept-encoding": accepted },
      decompress: false,
    });
  const long = "/api/usage?range=7d";
  const packed = await read("br, gzip", long);
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  const plain = await read("br, gzip;q=0", long);
  expect(plain.headers.get("content-encoding")).toBeNull();
  const unpacked = JSON.parse(
    new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()))),
  );
  // Each report is made at its own time.
  expect(unpacked).toEqual({ ...(await plain.json()), as_of: expect.any(String) });
  expect((await read("gzip", "/api/session")).headers.get("content-encoding")).toBeNull();
});
