import { beforeAll, expect, test } from "bun:test";
import { joinMember, nobody, password } from "../../setup/platform-home.ts";
import type { Window } from "../setup/console-home.ts";
import {
  dialogBy,
  expectRefusal,
  joinByLink,
  openedDialog,
  submit,
  told,
} from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const memberEmail = "grace@example.com";
const newPassword = "another long password";

const home = useOperatorHome();
let other: Window;
beforeAll(async () => {
  const { gateway, operator } = home;
  await joinMember(gateway, operator, { role: "owner", email: memberEmail });
  other = await home.openOther();
  await home.window.goto("/operator/people");
});

const button = (label: string) => home.window.page.getByRole("button", { name: label });
const row = (email: string) =>
  home.window.page.getByRole("table", { name: "People" }).getByRole("row").filter({
    hasText: email,
  });
const operators = async () =>
  (await home.gateway.server.operations.operators.list({})).map(({ email }) => email);
const signIn = async (given: string) =>
  (
    await nobody(home.gateway.platformUrl).ask("POST /api/session", {
      body: { email: memberEmail, password: given },
    })
  ).status;

test("the last operator cannot give up the role, and reads why", async () => {
  const { window } = home;
  await row("operator-").getByText("Operator", { exact: true }).waitFor();
  await button("Give up operator role").click();
  const reason = await openedDialog(window, "You are the only operator");
  await reason.getByText("Invite another operator").waitFor();
  await submit(reason, "Close");

  expect(await operators()).toHaveLength(1);
});

test("who opens an operator's link is one, until the role is taken away", async () => {
  const { window } = home;
  const dialog = await dialogBy(window, button("Invite operator"), "Invite operator");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const link = await dialog.getByText(/\/join#/).innerText();
  expect(await window.barriers()).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();
  const links = window.page.getByRole("table", { name: "Pending links" });
  await told(links.getByRole("row").nth(1), "Become an operator");

  await other.page.goto(link);
  const title = "Join svc gateway as an operator";
  await other.page.getByRole("heading", { level: 1, name: title }).waitFor();
  expect(await other.page.title()).toContain(title);
  await joinByLink(other, link, { name: "Second", email: "second@example.com" });
  await other.page.waitForURL("**/operator/overview");
  expect(await operators()).toContain("second@example.com");
  await window.goto("/operator/people");
  expect(await links.count()).toBe(0);

  await row("second@example.com")
    .getByRole("button", { name: "Remove operator role from Second" })
    .click();
  const question = await openedDialog(window, "Remove the operator role from Second?");
  await submit(question, "Remove role");
  await told(row("second@example.com"), "No access");
  expect(await operators()).not.toContain("second@example.com");

  await other.page.getByRole("link", { name: "Settings" }).click();
  // Said in the corner: the page goes with the role.
  await other.page.getByText("This requires the operator role.").first().waitFor();
  // The live rows of the page before may have been refused as well, each time with the same status.
  expect(other.complaints).not.toEqual([]);
  for (const complaint of other.complaints.splice(0)) expect(complaint).toContain("status of 403");
});

test.each([1_440, 1_366, 1_280, 1_200, 1_000, 800])(
  "at %i px, names have room and no button is outside of the table",
  async (width) => {
    const { page } = home.window;
    const size = page.viewportSize();
    await page.setViewportSize({ width, height: 900 });
    const table = page.getByRole("table", { name: "People" });
    await row(memberEmail).waitFor();
    const names = table.locator("tbody td:first-child");
    for (const cell of await names.all())
      expect(await cell.evaluate((element) => element.clientWidth)).toBeGreaterThan(
        width < 1_200 ? 130 : 200,
      );
    expect(
      await table.evaluate(({ parentElement: frame }) =>
        frame === null ? -1 : frame.scrollWidth - frame.clientWidth,
      ),
    ).toBe(0);
    if (size !== null) await page.setViewportSize(size);
  },
);

test("an operator gives up the role, and is where others without an account are", async () => {
  const { gateway, openOther } = home;
  const { link } = await gateway.server.operations.operators.invite({});
  const leaving = await openOther();
  await joinByLink(leaving, link, { name: "Third", email: "third@example.com" });
  await leaving.goto("/operator/people");
  const question = await dialogBy(leaving, "Give up operator role", "Give up your operator role?");
  await question.getByText("You are not a member of any account").waitFor();
  await question.getByRole("button", { name: "Give up role" }).click();
  await leaving.page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor();

  expect(await leaving.barriers()).toEqual([]);
  expect(await operators()).not.toContain("third@example.com");

  await home.window.goto("/operator/people");
});

test("a link for a new password works once, and the old password no more", async () => {
  const { window } = home;
  expect(await signIn(password)).toBe(200);
  await row(memberEmail)
    .getByRole("button", { name: /^Reset password of/ })
    .click();
  const question = await openedDialog(window, /^Create a password reset link/);
  await submit(question, "Create link");
  const shown = await openedDialog(window, /^Reset password of/);
  const link = await shown.getByText(/\/join#/).innerText();
  await shown.getByRole("button", { name: "Done" }).click();

  const member = await home.openOther();
  await member.goto(link);
  expect(await member.barriers()).toEqual([]);
  await member.page.getByLabel("New password").fill(newPassword);
  await member.page.getByLabel("Confirm password").fill(newPassword);
  await member.page.getByRole("button", { name: "Set password and sign in" }).click();
  await member.page.waitForURL(`**/a/${home.gateway.account}/overview`);
  expect([await signIn(password), await signIn(newPassword)]).toEqual([401, 200]);
  const again = await home.openOther();
  await again.goto(link);
  await again.page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
  await expectRefusal(again, 404);
});

test("who is signed out everywhere is at the door with the next step", async () => {
  const { window, gateway, operator } = home;
  const email = "alan@example.com";
  const { account } = gateway;
  const visitor = await joinMember(gateway, operator, { account, role: "viewer", email });
  const member = await home.openOther(visitor.cookie);
  await member.goto(`/a/${account}/overview`);
  await window.goto("/operator/people");
  await row(email)
    .getByRole("button", { name: /^Sign out/ })
    .click();
  const question = await openedDialog(window, /out everywhere\?$/);
  await submit(question, "Sign out");
  await told(row(email), "None");
  expect((await visitor.ask("GET /api/me/sessions")).status).toBe(401);
  await member.page.getByRole("link", { name: "Billing" }).click();
  await member.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await member.close();
});
