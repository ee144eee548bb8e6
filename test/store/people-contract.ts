import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mostDismissed, mostViews, type SavedView } from "../../src/people/preferences.ts";
import type { AccountRole } from "../../src/people/role.ts";
import { mostSessions } from "../../src/people/session-policy.ts";
import { firstStart, type PeopleStore, type User } from "../../src/people/store.ts";
import { auditOf } from "./audit-sample.ts";
import { inviteOf, sessionOf, tokenOf, userOf } from "./people-samples.ts";
import type { CreateTables, OpenTables } from "./tables-contract.ts";

let made = 0;

/** Joins by a link, as everybody does. */
export async function join(
  people: PeopleStore,
  user: User,
  membership?: { readonly accountId: string; readonly role: AccountRole },
): Promise<void> {
  const id = `joining_${made++}`;
  await people.addInvite(inviteOf(id), auditOf());
  const isKnown = (await people.user(user.id)) !== undefined;
  const outcome = await people.accept(
    {
      inviteId: id,
      addUser: isKnown ? undefined : user,
      addMembership: membership && { userId: user.id, createdAtMs: 1, ...membership },
      addSession: sessionOf(`joined_${made++}`, { userId: user.id }),
    },
    auditOf(),
  );
  expect(outcome).toBe("accepted");
}

/** What the store keeps of people, whatever the database. */
export function peopleContract(name: string, create: CreateTables): void {
  describe(`people on ${name}`, () => {
    let tables: OpenTables;
    beforeEach(async () => {
      tables = await create();
    });
    afterEach(() => tables.remove());
    const people = () => tables.store.people;
    linkTests(people);
    sessionTests(people);
    membershipTests(people);
    operatorTests(people);
    preferenceTests(people);
  });
}

function linkTests(people: () => PeopleStore): void {
  test("a link works once, and an address that is taken uses it up for nobody", async () => {
    const ada = userOf("user_1", { email: "ada@example.com", name: "Ada" });
    await join(people(), ada);
    await people().addInvite(inviteOf("invite_a", { email: "ada@example.com" }), auditOf());
    const addUser = { ...ada, id: "user_2" };
    const acceptance = { inviteId: "invite_a", addSession: sessionOf("s", { userId: "user_1" }) };
    expect(await people().accept({ ...acceptance, addUser }, auditOf())).toBe("email-taken");
    expect(await people().user("user_2")).toBeUndefined();
    expect(await people().inviteByHash("hash of invite_a")).toMatchObject({ id: "invite_a" });
    expect(await people().accept(acceptance, auditOf())).toBe("accepted");
    expect(await people().accept(acceptance, auditOf())).toBe("used");
    expect(await people().userByEmail("ada@example.com")).toEqual(ada);
    expect(await people().users()).toEqual([ada]);
  });

  test("of links for one new password, and for the first operator, only the newest works", async () => {
    const add = (id: string, rest: Parameters<typeof inviteOf>[1]) =>
      people().addInvite(inviteOf(id, rest), auditOf());
    await add("invite_1", { kind: "reset", userId: "user_1" });
    await add("invite_2", { kind: "reset", userId: "user_2" });
    await add("invite_3", { kind: "reset", userId: "user_1" });
    await add("invite_4", { createdBy: firstStart });
    await add("invite_5", { createdBy: firstStart });
    await add("invite_6", { kind: "member", accountId: "acct_1", role: "viewer" });
    const ids = async () => (await people().allInvites()).map(({ id }) => id);
    expect(await ids()).toEqual(["invite_6", "invite_5", "invite_3", "invite_2"]);
    expect(await people().invites("acct_1")).toMatchObject([{ id: "invite_6", role: "viewer" }]);
    expect((await people().invites(undefined)).map(({ id }) => id)).not.toContain("invite_6");
    expect(await people().removeInvite("invite_6", auditOf())).toBe(true);
    expect(await people().removeInvite("invite_6", auditOf())).toBe(false);
    await join(people(), userOf("user_1"));
    await people().setPassword({ userId: "user_1", passwordHash: "y" }, auditOf());
    expect(await ids()).toEqual(["invite_5", "invite_2"]);
  });
}

function sessionTests(people: () => PeopleStore): void {
  test("sessions and invitations that are past their time are erased, and no others", async () => {
    for (const [id, expiresAtMs] of [
      ["1", 99],
      ["2", 100],
      ["3", 101],
    ] as const) {
      await people().addInvite(inviteOf(`invite_${id}`, { expiresAtMs }), auditOf());
      await people().addSession(sessionOf(`session_${id}`, { expiresAtMs }), auditOf());
    }
    await people().eraseExpired(100);
    expect((await people().allInvites()).map(({ id }) => id)).toEqual(["invite_3"]);
    expect((await people().sessions("user_1")).map(({ id }) => id)).toEqual(["session_3"]);
  });

  test("sessions are touched, listed by their last use, and ended one by one or all", async () => {
    for (const id of ["s1", "s2", "s3"]) await people().addSession(sessionOf(id), auditOf());
    await people().addSession(sessionOf("other", { userId: "user_2" }), auditOf());
    await people().touchSession("s1", 50, 90);
    expect(await people().sessionByHash("hash of s1")).toEqual(
      sessionOf("s1", { lastSeenMs: 50, expiresAtMs: 90 }),
    );
    const ids = async () => (await people().sessions("user_1")).map(({ id }) => id);
    expect(await ids()).toEqual(["s1", "s3", "s2"]);
    const end = (id?: string) =>
      people().endSessions({ userId: "user_1", ...(id === undefined ? {} : { id }) }, auditOf());
    expect(await end("other")).toBe(0);
    expect(await end("s2")).toBe(1);
    expect(await ids()).toEqual(["s1", "s3"]);
    const keep = { userId: "user_1", keep: "s3" };
    expect(await people().endSessions(keep, auditOf())).toBe(1);
    expect(await ids()).toEqual(["s3"]);
    expect(await end()).toBe(1);
    expect(await people().sessions("user_2")).toHaveLength(1);
  });

  test("of the sessions of one user, a new one ends those that were not used for the longest time", async () => {
    for (let at = 0; at < mostSessions; at++)
      await people().addSession(sessionOf(`s${at}`, { lastSeenMs: at }), auditOf());
    await people().addSession(sessionOf("other", { userId: "user_2", lastSeenMs: 0 }), auditOf());
    await people().touchSession("s0", 500, 900);
    const begin = async (id: string, nowMs: number) => {
      await people().addSession(sessionOf(id, { lastSeenMs: nowMs }), auditOf());
      return (await people().sessions("user_1")).map((session) => session.id);
    };
    const ids = await begin("new", 501);
    expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([mostSessions, "new", "s0", "s2"]);
    // Even if the clock was set back.
    expect((await begin("early", -1)).slice(-2)).toEqual(["s3", "early"]);
    expect(await people().sessions("user_2")).toHaveLength(1);
  });

  test("a new password ends all sessions but one", async () => {
    await join(people(), userOf("user_1"));
    for (const id of ["s1", "s2"]) await people().addSession(sessionOf(id), auditOf());
    const change = { userId: "user_1", passwordHash: "new", keepSession: "s2" };
    await people().setPassword(change, auditOf());
    expect((await people().sessions("user_1")).map(({ id }) => id)).toEqual(["s2"]);
    expect((await people().user("user_1"))?.passwordHash).toBe("new");
  });
}

function membershipTests(people: () => PeopleStore): void {
  const change = { isForced: false, nowMs: 70 };
  const roles = async () =>
    (await people().memberships({ accountId: "acct_1" })).map(({ userId, role }) => [userId, role]);

  test("a link raises a role and never lowers it", async () => {
    const ada = userOf("user_1");
    await join(people(), ada, { accountId: "acct_1", role: "developer" });
    await join(people(), ada, { accountId: "acct_1", role: "viewer" });
    expect(await roles()).toEqual([["user_1", "developer"]]);
    await join(people(), ada, { accountId: "acct_1", role: "owner" });
    expect(await roles()).toEqual([["user_1", "owner"]]);
    expect(await people().memberships({ userId: "user_1" })).toEqual(
      await people().allMemberships(),
    );
  });

  test("the last owner stays unless forced, and what an owner made ends with the role", async () => {
    for (const id of ["user_1", "user_2"])
      await join(people(), userOf(id), { accountId: "acct_1", role: "owner" });
    const by = { accountId: "acct_1", createdById: "user_1" };
    await people().addInvite(inviteOf("invite_x", { ...by, kind: "member" }), auditOf());
    await people().addToken(tokenOf("token_1", by), auditOf());
    await people().addToken(tokenOf("token_2", { ...by, accountId: "acct_2" }), auditOf());
    const own = { userId: "user_1", accountId: "acct_1", ...change };
    expect(await people().setRole({ ...own, role: "viewer" }, auditOf())).toBe("done");
    expect(await people().allInvites()).toEqual([]);
    expect((await people().tokens("acct_1")).map(({ revokedAtMs }) => revokedAtMs)).toEqual([70]);
    expect((await people().tokens("acct_2")).map(({ revokedAtMs }) => revokedAtMs)).toEqual([
      undefined,
    ]);
    const last = { userId: "user_2", accountId: "acct_1", ...change };
    expect(await people().setRole({ ...last, role: "viewer" }, auditOf())).toBe("last");
    expect(await people().removeMembership(last, auditOf())).toBe("last");
    expect(await people().removeMembership({ ...last, userId: "none" }, auditOf())).toBe("none");
    expect(await people().removeMembership({ ...last, isForced: true }, auditOf())).toBe("done");
    expect(await roles()).toEqual([["user_1", "viewer"]]);
  });

  test("people are found by name, id and email, of one account or of all", async () => {
    await join(people(), userOf("user_1", { name: "Ada", email: "x@example.com" }), {
      accountId: "acct_1",
      role: "viewer",
    });
    await join(people(), userOf("user_2", { name: "Élodie Ada" }));
    await join(people(), userOf("user_3", { email: "ada@example.com" }));
    const found = async (text: string, accountId?: string) =>
      (
        await people().search({ text, limit: 9, ...(accountId === undefined ? {} : { accountId }) })
      ).map(({ id }) => id);
    expect(await found("ADA")).toEqual(["user_1", "user_3", "user_2"]);
    expect(await found("élodie")).toEqual(["user_2"]);
    expect(await found("ada", "acct_1")).toEqual(["user_1"]);
    expect(await found("user_3")).toEqual(["user_3"]);
    expect(await found("%")).toEqual([]);
  });
}

function operatorTests(people: () => PeopleStore): void {
  test("the last operator stays, and what an operator made ends, but not what an owner may", async () => {
    const operator = (id: string) => userOf(id, { isOperator: true });
    await join(people(), operator("user_1"), { accountId: "acct_1", role: "owner" });
    expect(await people().removeOperator("user_1", 70, auditOf())).toBe("last");
    expect(await people().removeOperator("none", 70, auditOf())).toBe("none");
    await join(people(), userOf("user_2"));
    await people().addInvite(inviteOf("invite_o", { createdBy: firstStart }), auditOf());
    await people().addInvite(inviteOf("invite_p"), auditOf());
    await people().accept(
      { inviteId: "invite_p", makeOperator: "user_2", addSession: sessionOf("s9") },
      auditOf(),
    );
    expect(await people().allInvites()).toEqual([]);
    expect(await people().countOperators()).toBe(2);
    const by = { createdById: "user_1" };
    await people().addToken(tokenOf("token_1", by), auditOf());
    await people().addToken(tokenOf("token_2", { ...by, accountId: "acct_1" }), auditOf());
    await people().addInvite(inviteOf("invite_q", by), auditOf());
    expect(await people().removeOperator("user_1", 70, auditOf())).toBe("removed");
    expect(await people().countOperators()).toBe(1);
    expect(await people().allInvites()).toEqual([]);
    expect(await people().tokenByHash("hash of token_1")).toMatchObject({ revokedAtMs: 70 });
    expect((await people().tokenByHash("hash of token_2"))?.revokedAtMs).toBeUndefined();
  });
}

function preferenceTests(people: () => PeopleStore): void {
  test("a zone and dismissed hints are kept, each hint once and the newest ones", async () => {
    expect(await people().preferences("user_1")).toEqual({ timeZone: "local", dismissed: [] });
    await people().setTimeZone("user_1", "utc", auditOf());
    for (let at = 0; at < mostDismissed + 1; at++)
      await people().dismiss("user_1", `hint ${at}`, auditOf());
    await people().dismiss("user_1", "hint 1", auditOf());
    const { timeZone, dismissed } = await people().preferences("user_1");
    expect(timeZone).toBe("utc");
    expect([dismissed.length, dismissed[0]]).toEqual([mostDismissed, "hint 1"]);
  });

  test("views have a name of their own on each page, and a bound", async () => {
    const viewOf = (rest: Partial<SavedView>): SavedView => ({
      id: "view_00",
      userId: "user_1",
      page: "overview",
      name: "v",
      search: "",
      createdAtMs: 1,
      ...rest,
    });
    const add = (rest: Partial<SavedView>) => people().addView(viewOf(rest), auditOf());
    expect(await add({})).toBe("saved");
    expect(await add({ id: "view_01" })).toBe("taken");
    expect(await add({ id: "view_01", accountId: "acct_1" })).toBe("saved");
    const rename = (id: string, name: string) =>
      people().updateView({ id, userId: "user_1" }, { name }, auditOf());
    expect(await rename("view_00", "w")).toBe("saved");
    expect(await add({ id: "view_02" })).toBe("saved");
    expect(await rename("view_02", "w")).toBe("taken");
    expect(await rename("view_99", "w")).toBe("none");
    for (let at = 3; at < mostViews; at++) await add({ id: `view_${at + 10}`, name: `${at}` });
    expect(await add({ id: "view_98", name: "more" })).toBe("full");
    expect(await people().views("user_1")).toHaveLength(mostViews);
    expect((await people().views("user_1"))[0]).toEqual(viewOf({ name: "w" }));
    expect(await people().removeView({ id: "view_00", userId: "user_2" }, auditOf())).toBe(false);
    expect(await people().removeView({ id: "view_00", userId: "user_1" }, auditOf())).toBe(true);
  });
}
