/** Links by mail, from the form to the mailbox and back, in a real browser. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MailServer, rejecting, startMailServer } from "../setup/mail-server.ts";
import { password } from "../setup/platform-home.ts";
import type { Window } from "./setup/console-home.ts";
import { dialogBy, fill, joinByLink } from "./setup/operator-home.ts";
import { heading } from "./setup/sign-in-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

const email = "linus@example.com";
const unknown = "nobody@example.com";
let mail: MailServer;
const home = useMemberHome(async () => {
  mail = await startMailServer(rejecting(new Set([unknown])));
  const url = `smtp://127.0.0.1:${mail.port}`;
  return { environment: { SVC_SMTP_URL: url, SVC_MAIL_FROM: "no-reply@example.com" } };
});
let theirs: Window;
beforeAll(async () => {
  theirs = await home.openOther();
});
afterAll(() => mail.stop());

const linkIn = (text: string) => /http:\/\/\S+\/join#[\w-]+/.exec(text)?.[0] ?? "";

async function inviteByMail(to: string) {
  await home.window.goto(home.path("members"));
  const form = await dialogBy(home.window, "Invite member", "Invite member");
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
  await fill(page, { "New password": `${password} 2`, "Confirm password": `${password} 2` });
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await heading(window, "Overview").waitFor();
});
