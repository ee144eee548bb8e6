/** Who may do what in an account, and how that changes while they are looking at it. */

import { beforeAll, describe, expect, test } from "bun:test";
import { machine, password, type Visitor, visitor } from "../setup/platform-home.ts";
import type { Window } from "./setup/console-home.ts";
import { sendCurl } from "./setup/curl.ts";
import { shownDialog } from "./setup/member-home.ts";
import {
  dialogBy,
  expectRefusal,
  joinByLink,
  openedDialog,
  submit,
} from "./setup/operator-home.ts";
import { heading } from "./setup/sign-in-home.ts";
import { chooseItem } from "./setup/tab.ts";
import { useMemberHome } from "./setup/use-console.ts";

const email = "linus@example.com";

const home = useMemberHome();
const { window } = home;
/** The other person's own browser. */
let theirs: Window;
beforeAll(async () => {
  theirs = await home.openOther();
  await window.goto(home.path("members"));
});

const member = () => window.page.getByRole("row", { name: new RegExp(email) });

/** As the other browser gets it, by its cookie and what its pages keep beside it. */
async function asThem(): Promise<Visitor> {
  const [cookie] = await theirs.context.cookies();
  const binding = await theirs.page.evaluate(() => localStorage.getItem("svc-session"));
  return visitor(home.gateway.platformUrl, {
    cookie: `${cookie?.name}=${cookie?.value}`,
    "x-svc-session": binding ?? "",
  });
}
const mayMakeKeys = async () =>
  (await (await asThem()).ask("POST /api/accounts/:account/keys", { body: { name: "theirs" } }))
    .status;

describe("an owner", () => {
  test("invites a developer by a link, who joins in a browser of their own", async () => {
    const { page } = window;
    const form = await dialogBy(window, "Invite member", "Invite member");
    await form.getByLabel("Developer").check();
    await form.getByLabel(/^Email/).fill(email);
    await form.getByRole("button", { name: "Create link" }).click();
    const link = await form.getByText(/\/join#/).innerText();
    expect(await window.barriers()).toEqual([]);
    await submit(form, "Done");
    const open = page.getByRole("table", { name: "Pending invitations" });
    expect(await open.innerText()).toContain(email);
    expect(await page.content()).not.toContain(link.split("#")[1] ?? "");

    await joinByLink(theirs, link, { name: "Linus" });
    await heading(theirs, "Overview").waitFor();
    await window.goto(home.path("members"));
    expect(await member().innerText()).toContain("Developer");
    expect(await open.count()).toBe(0);
  });

  test("has a developer who makes keys, and invites nobody", async () => {
    await theirs.page.getByRole("link", { name: "Keys" }).click();
    await theirs.page.getByRole("button", { name: "Create key" }).first().waitFor();
    expect(await mayMakeKeys()).toBe(200);
    await theirs.page.getByRole("link", { name: "Members" }).click();
    await theirs.page.getByText("Only owners can make changes.").waitFor();
    await theirs.page.getByRole("row", { name: new RegExp(email) }).waitFor();
    expect(await theirs.page.getByRole("button", { name: /Invite|role|Remove/ }).count()).toBe(0);
  });

  test("changes a role, which counts for what is already open elsewhere", async () => {
    await theirs.page.getByRole("link", { name: "Keys" }).click();
    await theirs.page.getByRole("button", { name: "Create key" }).first().click();
    const late = await shownDialog(theirs, "Create key");
    await late.getByLabel("Name").fill("too late");

    const form = await dialogBy(window, "Change role of Linus", "Role of Linus");
    await form.getByLabel("Viewer").check();
    await submit(form, "Change role");
    await member().getByText("Viewer").waitFor();

    await late.getByRole("button", { name: "Create key" }).click();
    // What the role opened goes with it, without a reload.
    await late.waitFor({ state: "detached" });
    await theirs.page.getByText("theirs").first().waitFor();
    expect(await theirs.page.getByRole("button", { name: /Create/ }).count()).toBe(0);
    await expectRefusal(theirs, 403);
    expect(await mayMakeKeys()).toBe(403);
  });

  test("removes somebody, whose next step is told that there is nothing for them", async () => {
    const question = await dialogBy(window, "Remove Linus", "Remove Linus from this account?");
    await question.getByRole("button", { name: "Remove", exact: true }).click();
    await member().waitFor({ state: "detached" });

    await theirs.page.getByRole("link", { name: "Billing" }).click();
    await theirs.page
      .getByRole("alert")
      .getByText("This account does not exist, or you have no access to it.")
      .waitFor();
    expect(theirs.complaints.splice(0).join()).toContain("404");
    const seen = await (await asThem()).ask("GET /api/accounts/:account");
    expect(seen.status).toBe(404);
    await theirs.goto("/");
    await theirs.page.getByText("You are not a member of any account yet").waitFor();
    expect(await theirs.page.getByRole("link", { name: "Keys" }).count()).toBe(0);
  });
});

describe("the door", () => {
  test("says the same of a wrong password and of a stranger, and leads back", async () => {
    const { page } = theirs;
    await page.getByRole("button", { name: /^You:/ }).click();
    const before = await asThem();
    await chooseItem(page, "Sign out");
    await heading(theirs, "Sign in").waitFor();
    expect((await before.ask("GET /api/me/sessions")).status).toBe(401);
    await theirs.goto("/me");
    const enter = async (who: string, given: string) => {
      await page.getByLabel("Email").fill(who);
      await page.getByLabel("Password", { exact: true }).fill(given);
      const answered = page.waitForResponse(/\/api\/session$/);
      await page.getByRole("button", { name: "Sign in" }).click();
      return (await answered).status();
    };
    const told: string[] = [];
    for (const who of [email, "stranger@example.com"]) {
      expect(await enter(who, "not the password")).toBe(401);
      told.push(await page.getByRole("alert").innerText());
    }
    expect(told[0]).toContain("password");
    expect(told[1]).toBe(told[0] ?? "");
    theirs.complaints.length = 0;
    expect(await enter(email, password)).toBe(200);
    await heading(theirs, "My profile").waitFor();
  });

  test("is where a session ends up that was ended in another browser", async () => {
    const second = await home.openOther();
    await second.goto("/sign-in");
    await second.page.getByLabel("Email").fill(email);
    await second.page.getByLabel("Password", { exact: true }).fill(password);
    await second.page.getByRole("button", { name: "Sign in" }).click();
    await second.page.getByRole("button", { name: /^You:/ }).waitFor();
    await theirs.goto("/me");
    const sessions = theirs.page.getByRole("table", { name: "Your sessions" });
    expect(await sessions.getByRole("row").count()).toBe(3);
    await sessions.getByRole("button", { name: "Sign out" }).click();
    const question = await openedDialog(theirs, "Sign out this session?");
    await question.getByRole("button", { name: "Sign out" }).click();
    await sessions.getByRole("button", { name: "Sign out" }).waitFor({ state: "detached" });
    await second.page.getByRole("button", { name: /^You:/ }).click();
    await chooseItem(second.page, "My profile");
    await heading(second, "Sign in").waitFor();
    expect(new URL(second.page.url()).search).toBe("?then=%2Fme");
    await second.close();
  });
});

describe("a token", () => {
  let token = "";

  test("is shown once, with a request that works and what was chosen", async () => {
    const { page } = window;
    await page.getByRole("link", { name: "Tokens" }).click();
    await page.getByRole("button", { name: "Create token" }).first().click();
    const form = await openedDialog(window, "Create token");
    await form.getByLabel("Name").fill("nightly report");
    await form.getByRole("button", { name: "Read usage" }).click();
    await form.getByRole("button", { name: "Create token" }).click();
    const created = page.getByRole("dialog", { name: "Token created" });
    const sample = created.getByLabel("Code: a first request, curl");
    await sample.waitFor();
    expect(await window.barriers()).toEqual([]);
    const curl = await sample.innerText();
    token = /Bearer (\S+)"/.exec(curl)?.[1] ?? "";
    expect((await sendCurl(curl)).status).toBe(200);
    await submit(created, "Done");
    const row = page.getByRole("row", { name: /nightly report/ });
    expect(await row.innerText()).toContain("usage (read), models (read)");
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(token);
  });

  test("that is revoked is refused with the next request", async () => {
    const { page } = window;
    await page.getByRole("button", { name: "Revoke nightly report" }).click();
    const question = await openedDialog(window, "Revoke the token “nightly report”?");
    await question.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByRole("row", { name: /nightly report.*Revoked/ }).waitFor();
    const refused = await machine(home.gateway.platformUrl, token).ask(
      "GET /api/accounts/:account/usage",
    );
    expect(refused.status).toBe(401);
  });
});
