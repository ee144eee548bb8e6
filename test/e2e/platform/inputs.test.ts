/** What people type: invisible characters, names and bodies that the platform refuses. */

import { describe, expect, test } from "bun:test";
import { newId } from "../../../src/base/ids.ts";
import { join, refusal } from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const { gateway, operator } = usePlatform({ isInStore: true });

describe("what nobody can see is taken in no", () => {
  const hidden = ["\x1b[2Jx", "x\u202ey", "x\u200by", "x\ny", "x\u009b2K"];
  const keys = "/api/accounts/:account/keys";
  const token = { role: "viewer", scopes: ["usage:read"] };
  const credit = { kind: "credit", usd: "1" };

  test.each<readonly [what: string, route: string, field: string, body: object]>([
    ["name of a key", `POST ${keys}`, "name", {}],
    ["model of a key", `POST ${keys}`, "models", { name: "x" }],
    ["name of a person", "PATCH /api/me", "name", {}],
    ["name of a token", "POST /api/accounts/:account/tokens", "name", token],
    ["reference", "POST /api/accounts/:account/entries", "reference", credit],
    ["note", "POST /api/accounts/:account/entries", "note", credit],
    ["email", "POST /api/accounts/:account/invites", "email", { role: "viewer" }],
  ])("%s", async (_, route, field, rest) => {
    for (const text of hidden) {
      const value = field === "models" ? [text] : field === "email" ? `${text}@example.com` : text;
      const { status, body } = await operator.ask(route, { body: { ...rest, [field]: value } });
      expect([text, status, body.error?.field]).toEqual([text, 400, field]);
      if (field === "name")
        expect(body.error.message).toContain("must not contain invisible characters");
    }
  });
});

test("an email that is written in two ways is one", async () => {
  const { body } = await operator.ask("POST /api/accounts/:account/invites", {
    body: { role: "viewer", email: "jose\u0301@example.com" },
  });
  const member = await join(gateway.platformUrl, body.link, { email: "JOS\u00c9@example.com" });
  const { body: session } = await member.ask("GET /api/session");
  expect(session.user.email).toBe("jos\u00e9@example.com");
});

test("an account cannot be named like the id of one", async () => {
  const create = (name: string) => operator.ask("POST /api/accounts", { body: { name } });
  for (const name of [gateway.account, newId("acct"), `acct_${"AF09".repeat(8)}`]) {
    expect(await refusal(create(name))).toEqual([400, "name"]);
    const made = gateway.server.operations.accounts.create({ name });
    await expect(made).rejects.toThrow("account id");
  }
  expect((await create("acct_mine")).status).toBe(200);
});

/** A name that looks like a flag in the middle. */
const model = "org--llama-3";

test.each([
  ["POST /api/prices", { body: { model, price: { input: "1", output: "1" } } }],
  ["GET /api/models/:model/callers", { params: { model } }],
  ["POST /api/catalog/:model/retire", { params: { model }, body: {} }],
] as const)("an unknown model keeps its name: %s", async (route, options) => {
  const { status, body } = await operator.ask(route, options);
  expect([status, body.error]).toEqual([
    404,
    { code: "not_found", message: `Unknown model "${model}".` },
  ]);
});

test("a field is the one that is wrong, whatever the message quotes", async () => {
  const { status, body } = await operator.ask("PUT /api/catalog/:model/routes", {
    params: { model: "svc-3-flash" },
    body: { routes: [{ provider: model, model: "m" }] },
  });
  expect([status, body.error]).toEqual([
    400,
    {
      code: "invalid",
      message: `routes.0.provider refers to "${model}", which does not exist.`,
      field: "routes.0.provider",
    },
  ]);
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
