/** What all dialogs have in common: nothing that was entered is lost by a stray key or click. */

import { expect, test } from "bun:test";
import { dialogBy, openedDialog, submit } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

const home = useMemberHome();

const openInvite = async () => {
  const { window } = home;
  await window.goto(home.path("members?new=1"));
  return openedDialog(window, "Invite member");
};

test("an untouched dialog closes at once", async () => {
  const { page } = home.window;
  const dialog = await openInvite();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.waitForURL(`**${home.path("members")}`);
});

test("a half-filled one asks, whatever would close it", async () => {
  const { window } = home;
  const { page } = window;
  const dialog = await openInvite();
  const email = dialog.getByLabel("Email (optional)");
  await email.fill("olga@example.com");
  const question = page.getByRole("dialog", { name: "Discard changes?" });
  const keep = async () => {
    await submit(question, "Keep editing");
    expect(await email.inputValue()).toBe("olga@example.com");
  };
  await page.keyboard.press("Escape");
  await openedDialog(window, "Discard changes?");
  // Escape belongs to the question now: it keeps what was entered.
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  expect(await email.inputValue()).toBe("olga@example.com");
  await dialog.getByRole("button", { name: "Close" }).click();
  await keep();
  await page.mouse.click(5, 450);
  await keep();
  await page.mouse.click(5, 450);
  await question.getByRole("button", { name: "Discard" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("the Back button of the browser asks, too", async () => {
  const { window } = home;
  const { page } = window;
  await window.goto(home.path("overview"));
  await page.getByRole("link", { name: "Members", exact: true }).click();
  const dialog = await dialogBy(window, "Invite member", "Invite member");
  const email = dialog.getByLabel("Email (optional)");
  await email.fill("olga@example.com");
  const question = page.getByRole("dialog", { name: "Discard changes?" });
  await page.evaluate(() => history.back());
  await openedDialog(window, "Discard changes?");
  await submit(question, "Keep editing");
  expect(await email.inputValue()).toBe("olga@example.com");
  expect(page.url()).toContain("members");
  await page.evaluate(() => history.back());
  await question.getByRole("button", { name: "Discard" }).click();
  await page.waitForURL(`**${home.path("overview")}`);
  await dialog.waitFor({ state: "detached" });
});

test("what was put back as it was, or was sent, asks nothing", async () => {
  const { page } = home.window;
  let dialog = await openInvite();
  for (const text of ["x", ""]) await dialog.getByLabel("Email (optional)").fill(text);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  dialog = await openInvite();
  await dialog.getByLabel("Email (optional)").fill("olga@example.com");
  await dialog.getByRole("button", { name: "Create link" }).click();
  await dialog.getByText("It is shown only once").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("a long one keeps its buttons in view, and names all that is missing at once", async () => {
  const { window } = home;
  const { page } = window;
  await page.setViewportSize({ width: 1280, height: 800 });
  await window.goto(home.path("tokens?new=1"));
  const dialog = await openedDialog(window, "Create token");
  const create = dialog.getByRole("button", { name: "Create token" });
  const box = await create.boundingBox();
  expect((box?.y ?? 900) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("placeholder"))).toBe(
    "nightly report",
  );
  await create.click();
  await dialog.getByText("Enter a name.").waitFor();
  await dialog.getByText("Choose at least one scope.").waitFor();
  expect(await window.barriers()).toEqual([]);
  await dialog.getByLabel("Name").fill("report");
  expect(await dialog.getByText("Enter a name.").count()).toBe(0);
  expect(await dialog.getByText("Choose at least one scope.").count()).toBe(1);
});

test("a link shows all that is wrong with a form at once, and begins with its first field", async () => {
  const { link } = await home.gateway.server.operations.operators.invite({});
  const { page } = await home.openOther();
  await page.goto(link);
  await page.getByLabel("Your name").waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("autocomplete") === "name");
  await page.getByLabel("Email").fill("olga@");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByText("Enter your name.").waitFor();
  await page.getByText("Enter an email address.").waitFor();
  await page.getByText("Use at least 10 characters.").waitFor();
  await page.getByLabel("Password", { exact: true }).fill("a long enough password");
  await page.getByLabel("Confirm password").fill("another long password");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByText("Passwords do not match.").waitFor();
});
