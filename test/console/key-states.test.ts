import { beforeAll, expect, test } from "bun:test";
import { willingVendor } from "../fake/willing-vendor.ts";
import { hello } from "../setup/money-home.ts";
import { shownDialog } from "./setup/member-home.ts";
import { exportCsv } from "./setup/operator-home.ts";
import { chooseItem } from "./setup/tab.ts";
import { useMemberHome } from "./setup/use-console.ts";

const names = ["checkout", "search", "mobile", "batch", "nightly", "reports"];
const home = useMemberHome();
const { window } = home;
let secret: string;
let id: string;

beforeAll(async () => {
  home.gateway.upstream.replyWith(willingVendor);
  for (const name of names) {
    const body = { name, ...(name === "checkout" ? { expires: "2090-01-31" } : {}) };
    const made = await home.owner.ask("POST /api/accounts/:account/keys", { body });
    if (name === "checkout") ({ key: secret, id } = made.body);
  }
  await statusOf();
  await window.goto(home.path("keys"));
});

async function statusOf(): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  const reply = await home.gateway.call("/chat/completions", hello, { headers });
  await reply.text();
  return reply.status;
}

const row = () =>
  window.page.getByRole("table", { name: "Active keys" }).getByRole("row", { name: /checkout/ });
async function choose(item: string): Promise<void> {
  const { page } = window;
  await page.getByRole("button", { name: "Actions for checkout" }).click();
  await chooseItem(page, item);
}

test("a key shows what it spent this month, who created it and when it was last used", async () => {
  await row().waitFor();
  const told = await row().innerText();
  expect(told).toMatch(/by owner-/);
  expect(told).toMatch(/\$0\.0000/);
  expect(told).toMatch(/just now|seconds? ago|minutes? ago/);
});

test("keys are found by name and creator, and the search is in the address", async () => {
  const { page } = window;
  await page.getByRole("searchbox", { name: "Find keys" }).fill("check owner");
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 1);
  expect(new URL(page.url()).searchParams.get("find")).toBe("check owner");
  await page.getByRole("searchbox", { name: "Find keys" }).fill("nothing such");
  await page.getByText("No matches").waitFor();
  await page.getByRole("searchbox", { name: "Find keys" }).fill("");
  await row().waitFor();
});

test("typing into the search leaves the page where it is scrolled to", async () => {
  const { page } = window;
  const search = page.getByRole("searchbox", { name: "Find keys" });
  await search.evaluate((input) => input.focus({ preventScroll: true }));
  await page.evaluate(() => scrollTo(0, 200));
  for (const letter of "own") await page.keyboard.insertText(letter);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("find") === "own");
  expect(await page.evaluate(() => scrollY)).toBe(200);
});

test("another page starts at its top, and Back returns to where a filtered page was left", async () => {
  const { page } = window;
  const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Requests" }).click();
  await heading("Requests");
  await page.waitForFunction(() => scrollY === 0);
  await page.goBack();
  await heading("Keys");
  await page.waitForFunction(() => scrollY === 200);
  await page.getByRole("searchbox", { name: "Find keys" }).fill("");
  await row().waitFor();
});

test("a key is paused after a question and resumed at once, and callers notice", async () => {
  const { page } = window;
  await choose("Pause");
  const question = await shownDialog(window, "Pause “checkout”?");
  await question.getByRole("button", { name: "Pause key" }).click();
  await row().getByText("Paused").waitFor();
  expect(await statusOf()).toBe(401);
  await choose("Resume");
  await row().getByText("Active").waitFor();
  expect(await statusOf()).toBe(200);
  await page.getByText("Resumed “checkout”.").waitFor();
});

test("the expiration date is moved and taken away in the form", async () => {
  await choose("Edit");
  const form = await shownDialog(window, "Edit “checkout”");
  await form.getByLabel("Expires").selectOption({ label: "Never" });
  await form.getByRole("button", { name: "Save changes" }).click();
  await window.page.getByRole("dialog").waitFor({ state: "detached" });
  const { body } = await home.owner.ask("GET /api/accounts/:account/keys");
  const key = body.find((one: { readonly id: string }) => one.id === id);
  expect(key).toMatchObject({ expires_at: null, name: "checkout", models: null });
});

test("the menu leads to the requests of the key", async () => {
  const { page } = window;
  await choose("View requests");
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  expect(new URL(page.url()).searchParams.get("key")).toBe(id);
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 2);
});

test("the audit log has the change with both values, is searched, filtered and exported", async () => {
  const { page } = window;
  await window.goto(home.path("audit"));
  const entries = page.getByRole("main").getByRole("listitem");
  const paused = entries.filter({ hasText: "paused the key" });
  await paused.waitFor();
  const filters = page.getByRole("search", { name: "Filters" });
  await filters.getByLabel("Action").selectOption("key.update");
  await paused.waitFor({ state: "detached" });
  expect(await entries.first().innerText()).toMatch(
    /changed the key checkout[^]*expires[^]*2090[^]*never/,
  );
  await entries.first().getByRole("img", { name: "changed to" }).waitFor();
  await filters.getByLabel("Subject").fill("nobody");
  await page.getByText("No entries match these filters.").waitFor();
  expect(new URL(page.url()).searchParams.get("subject")).toBe("nobody");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await filters.getByLabel("Search").fill("RESUME");
  await paused.waitFor();
  await paused.waitFor({ state: "detached" });
  await entries.filter({ hasText: "resumed the key" }).waitFor();
  const { header, lines } = await exportCsv(page);
  expect(header).toBe("id,at,actor_kind,actor,address,action,subject,account,account_name,detail");
  expect(lines).toEqual([expect.stringContaining("key.resume")]);
});
