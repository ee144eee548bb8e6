import { beforeAll, describe, expect, test } from "bun:test";
import {
  join,
  nobody,
  password,
  signInWith,
  type Visitor,
  visitor,
} from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const email = "ada@example.com";
const { gateway } = usePlatform();
let program: Visitor;
beforeAll(async () => {
  const { link } = await gateway.server.operations.operators.invite({});
  program = await join(gateway.platformUrl, link, { email });
});

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";

/** As a page of the console does, which says so by the headers that only a browser sets. */
async function signInByPage(headers: Readonly<Record<string, string>>) {
  const { status, body, response } = await nobody(gateway.platformUrl).ask("POST /api/session", {
    body: { email, password },
    headers,
  });
  expect(status).toBe(200);
  return { cookie: cookieOf(response), binding: String(body.binding), device: body.device };
}

const page = () => ({ origin: gateway.platformUrl });
const statusOf = async (headers: Readonly<Record<string, string>>, name = "GET /api/me/sessions") =>
  (await visitor(gateway.platformUrl, headers).ask(name)).status;

describe("the cookie of a browser", () => {
  test("opens nothing by itself, whichever header told that it is a browser", async () => {
    for (const sign of [page(), { "sec-fetch-site": "same-origin" }]) {
      const { cookie, binding } = await signInByPage(sign);
      expect(cookie).toStartWith("svc_session=browser-");
      expect(await statusOf({ cookie })).toBe(401);
      expect(await statusOf({ cookie, "x-svc-session": "" })).toBe(401);
      expect(await statusOf({ cookie, "x-svc-session": cookie })).toBe(401);
      expect(await statusOf({ cookie, "x-svc-session": binding })).toBe(200);
    }
  });

  test("tells not even who it is of, listens to nothing and exports nothing", async () => {
    const { cookie, binding } = await signInByPage(page());
    const thief = visitor(gateway.platformUrl, { cookie });
    expect((await thief.ask("GET /api/session")).body.user).toBeNull();
    for (const name of ["GET /api/live", "GET /api/requests.csv", "GET /api/accounts"])
      expect((await thief.ask(name)).status).toBe(401);
    for (const name of ["PATCH /api/me", "DELETE /api/session", "POST /api/tokens"])
      expect((await thief.ask(name, { body: { name: "x" } })).status).toBe(401);
    const own = visitor(gateway.platformUrl, { cookie, "x-svc-session": binding });
    expect((await own.ask("GET /api/session")).body.user.email).toBe(email);
    expect((await own.ask("GET /api/requests.csv")).status).toBe(200);
  });

  test("is given by a link too, with its second secret in the reply alone", async () => {
    const { link } = await gateway.server.operations.operators.invite({});
    const { body, response } = await nobody(gateway.platformUrl).ask("POST /api/invites/accept", {
      body: { token: link.split("#")[1], name: "Bo", email: "bo@example.com", password },
      headers: page(),
    });
    const cookie = cookieOf(response);
    expect(await statusOf({ cookie })).toBe(401);
    expect(await statusOf({ cookie, "x-svc-session": body.binding })).toBe(200);
    expect([...response.headers].join()).not.toContain(body.binding);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("the cookie of a program", () => {
  test("is enough, and the reply has no second secret", async () => {
    expect(await statusOf({ cookie: program.cookie })).toBe(200);
    const { body } = await signInWith(gateway.platformUrl, email);
    expect(body).toEqual({ ok: true, binding: null, device: null, second_factor: null });
  });

  test("is not taken from a page, into whose browser another server could have put it", async () => {
    const { binding } = await signInByPage(page());
    expect(await statusOf({ cookie: program.cookie, "x-svc-session": binding })).toBe(401);
  });
});
