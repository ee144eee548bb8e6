/** Links by mail, from the form to the mailbox and back, in a real browser. */

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type MailServer, startMailServer } from "../setup/mail-server.ts";
import { password } from "../setup/platform-home.ts";
import type { Window } from "./setup/console-home.ts";
import { type MemberHome, startMemberHome } from "./setup/member-home.ts";
import { joinByLink, openedDialog } from "./setup/operator-home.ts";

const email = "linus@example.com";
const unknown = "nobody@example.com";
let mail: MailServer;
let home: MemberHome;
let theirs: Window;
beforeAll(async () => {
  mail = await startMailServer({
    onRcptTo: ({ address }, _, done) =>
      address === unknown
        ? done(Object.assign(new Error("No such user"), { responseCode: 550 }))
        : done(),
  });
  home = await startMemberHome({
    environment: {
      SVC_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      SVC_MAIL_FROM: "no-reply@example.com",
    },
  });
  theirs = await home.openOther();
});
afterAll(async () => {
  await home.stop();
  mail.stop();
});
afterEach(() => expect([home.window.complaints, theirs.complaints]).toEqual([[], []]));

const linkIn = (text: string) => /http:\/\/\S+\/join#[\w-]+/.exec(text)?.[0] ?? "";
const heading = ({ page }: Window, name: string) =>
  page.getByRole("heading", { level: 1, name, exact: true });

async function inviteByMail(to: string) {
  const { page } = home.window;
  await home.window.goto(home.path("members"));
  await page.getByRole("button", { name: "Invite member" }).click();
  const form = await openedDialog(home.window, "Invite member");
  await form.getByLabel(/^Email/).fill(to);
  expect(await form.getByLabel(`Send the link to ${to}`).isChecked()).toBe(true);
  await form.getByRole("button", { name: "Create link" }).click();
  return form;
}

test("an owner invites by mail; the dialog shows where it went, and not the link", async () => {
  const came = mail.next();
  const dialog = await inviteByMail(email);
  await dialog.getByText(`Sent the link to ${email}.`).waitFor();
  expect(await dialog.getByText(/join#/).count()).toBe(0);
  expect(await home.window.barriers()).toEqual([]);
  await joinByLink(theirs, linkIn((await came).text), { name: "Linus" });
  await heading(theirs, "Overview").waitFor();
});

test("where the mail is rejected, the reason and the link are shown", async () => {
  const dialog = await inviteByMail(unknown);
  await dialog.getByText("The email was not sent.").waitFor();
  await dialog.getByText(/join#/).waitFor();
  expect(await home.window.barriers()).toEqual([]);
});

test("a person who forgot the password gets a link, and chooses a new one", async () => {
  // Their sessions end with the old password.
  await theirs.close();
  const window = await home.openOther();
  const { page } = window;
  await window.goto("/sign-in");
  await page.getByRole("button", { name: "Forgot your password?" }).click();
  await heading(window, "Reset your password").waitFor();
  expect(await window.barriers()).toEqual([]);
  await page.getByLabel("Email").fill(email);
  const came = mail.next();
  await page.keyboard.press("Enter");
  await heading(window, "Check your email").waitFor();
  expect(await window.barriers()).toEqual([]);
  await page.goto(linkIn((await came).text));
  await page.getByLabel("New password").fill(`${password} 2`);
  await page.getByLabel("Confirm password").fill(`${password} 2`);
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await heading(window, "Overview").waitFor();
  expect(window.complaints).toEqual([]);
});
