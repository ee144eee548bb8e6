import { expect, test } from "bun:test";
import { joinMember, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import { mostDismissed, mostViews } from "../../people/preferences.ts";

const { gateway, operator, params: own } = usePlatform({ isShared: true });

const newMember = () => joinMember(gateway, operator, { role: "viewer" });
const save = (who: Visitor, rest: Readonly<Record<string, unknown>> = {}) =>
  who.ask("POST /api/me/views", {
    body: { page: "overview", ...own, name: "Week by key", search: "range=7d&by=key", ...rest },
  });
const list = async (who: Visitor) => (await who.ask("GET /api/me/views")).body;

test("a view is saved, listed, renamed, given other filters and deleted", async () => {
  const who = await newMember();
  const { body: saved } = await save(who);
  expect(saved).toMatchObject({ page: "overview", ...own, search: "range=7d&by=key" });
  expect(await list(who)).toEqual([saved]);
  const params = { id: saved.id };
  const change = (body: object) => who.ask("PATCH /api/me/views/:id", { params, body });
  expect((await change({ name: "  By key " })).status).toBe(200);
  expect((await change({ search: "range=30d" })).status).toBe(200);
  expect(await list(who)).toMatchObject([{ name: "By key", search: "range=30d" }]);
  expect((await who.ask("DELETE /api/me/views/:id", { params })).status).toBe(200);
  expect(await list(who)).toEqual([]);
  expect((await who.ask("DELETE /api/me/views/:id", { params })).status).toBe(404);
});

test("a view is its owner's alone", async () => {
  const who = await newMember();
  const other = await newMember();
  const params = { id: (await save(who)).body.id };
  expect(await list(other)).toEqual([]);
  const renamed = await other.ask("PATCH /api/me/views/:id", { params, body: { name: "Mine" } });
  expect(renamed.status).toBe(404);
  expect((await other.ask("DELETE /api/me/views/:id", { params })).status).toBe(404);
  expect(await list(who)).toMatchObject([{ name: "Week by key" }]);
});

test("a name is used once per page and account", async () => {
  const first = await save(operator, { name: "Same" });
  expect(first.status).toBe(200);
  const again = await save(operator, { name: "Same" });
  expect([again.status, again.body.error.field]).toEqual([409, "name"]);
  expect((await save(operator, { name: "Same", page: "requests" })).status).toBe(200);
  expect((await save(operator, { name: "Same", account: undefined })).status).toBe(200);
  const { id } = (await save(operator, { name: "Other" })).body;
  const renamed = await operator.ask("PATCH /api/me/views/:id", {
    params: { id },
    body: { name: "Same" },
  });
  expect([renamed.status, renamed.body.error.field]).toEqual([409, "name"]);
});

test("filters are kept as an address has them", async () => {
  const who = await newMember();
  const search = "?model=a b&x=javascript:alert(1)//&key=%00é#y";
  const { body } = await save(who, { search });
  expect(body.search).toBe("model=a+b&x=javascript%3Aalert%281%29%2F%2F&key=%00%C3%A9%23y");
  expect(new URLSearchParams(body.search).get("model")).toBe("a b");
});

test.each([
  [{ name: "   " }, "name"],
  [{ name: "zero\u200bwidth" }, "name"],
  [{ search: Array.from({ length: 31 }, (_, at) => `f${at}=1`).join("&") }, "search"],
  [{ account: "acct_unknown" }, "account"],
  [{ account: undefined }, "account"],
])("a member's view with %j is rejected at its field", async (rest, field) => {
  const { status, body } = await save(await newMember(), rest);
  expect({ status, field: body.error.field }).toEqual({ status: 400, field });
});

test("a person has so many views and no more", async () => {
  const who = await newMember();
  const user = (await who.ask("GET /api/session")).body.user.id;
  const view = { userId: user, page: "overview", search: "" } as const;
  for (let at = 0; at < mostViews; at++)
    await gateway.server.operations.views.save({ ...view, name: `view ${at}` });
  const { status, body } = await save(who);
  expect([status, body.error.field]).toEqual([409, "name"]);
  expect(body.error.message).toContain("50 saved views");
  expect(await list(who)).toHaveLength(mostViews);
});

test("the time zone of the console is local until a person chooses UTC", async () => {
  const who = await newMember();
  const zone = async () => (await who.ask("GET /api/session")).body.user.time_zone;
  expect(await zone()).toBe("local");
  const set = (time_zone: string) => who.ask("PATCH /api/me", { body: { time_zone } });
  expect((await set("utc")).status).toBe(200);
  expect(await zone()).toBe("utc");
  await set("local");
  expect(await zone()).toBe("local");
});

test("what a person dismisses follows them, and a new one pushes out the oldest", async () => {
  const [who, other] = [await newMember(), await newMember()];
  const dismissed = async (by = who) => (await by.ask("GET /api/session")).body.user.dismissed;
  const dismiss = (hint: string) => who.ask("PATCH /api/me", { body: { dismiss: hint } });
  expect(await dismissed()).toEqual([]);
  await dismiss("setup");
  await who.ask("PATCH /api/me", { body: { time_zone: "utc" } });
  for (let again = 0; again < 2; again++) await dismiss("setup:acct_1");
  expect(await dismissed()).toEqual(["setup", "setup:acct_1"]);
  expect((await who.ask("GET /api/session")).body.user.time_zone).toBe("utc");
  expect(await dismissed(other)).toEqual([]);
  const { id } = (await who.ask("GET /api/session")).body.user;
  for (let at = 0; at < mostDismissed; at++)
    await gateway.server.operations.people.dismiss({ id, hint: `hint:${at}` });
  expect(await dismissed()).toHaveLength(mostDismissed);
  expect(await dismissed()).not.toContain("setup");
});
