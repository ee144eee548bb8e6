import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { willingVendor } from "../fake/willing-vendor.ts";
import { hello } from "../setup/money-home.ts";
import { sendCurl } from "./setup/curl.ts";
import { MovedClock, shownDialog } from "./setup/member-home.ts";
import { fill, openedDialog, submit } from "./setup/operator-home.ts";
import { chooseItem } from "./setup/tab.ts";
import { useMemberHome } from "./setup/use-console.ts";

const dayMs = 86_400_000;
const clock = new MovedClock();
const home = useMemberHome({ clock });
const { window } = home;
beforeAll(async () => {
  await window.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await window.goto(home.path("keys"));
});
beforeEach(() => home.gateway.upstream.replyWith(willingVendor));

const working = () => window.page.getByRole("table", { name: "Active keys" });
const rowOf = (name: string) => working().getByRole("row", { name: new RegExp(name) });
const shownSecret = async (dialog: Locator) =>
  /sk-svc-\w+/.exec(await dialog.getByRole("region", { name: "First call" }).innerText())?.[0] ??
  "";

/** What the gateway says to a call with a key: its status, and the code of a refusal. */
async function answerTo(key: string, model: string = hello.model): Promise<string> {
  const reply = await home.gateway.call(
    "/chat/completions",
    { ...hello, model },
    { headers: { authorization: `Bearer ${key}` } },
  );
  const body = (await reply.json()) as { readonly error?: { readonly code: string } };
  return [String(reply.status), ...(body.error === undefined ? [] : [body.error.code])].join(" ");
}

async function openForm(): Promise<Locator> {
  await window.page.getByRole("button", { name: "Create key" }).first().click();
  return shownDialog(window, "Create key");
}

/** Sends the form; the dialog then shows the secret. */
async function created(form: Locator, name: string): Promise<string> {
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Create key" }).click();
  return shownSecret(await shownDialog(window, `Secret of “${name}”`));
}

async function stored(): Promise<void> {
  await window.page.getByRole("button", { name: "I have stored the key" }).click();
  await window.page.getByRole("dialog").waitFor({ state: "detached" });
}

async function act(name: string, action: "Edit" | "Rotate"): Promise<Locator> {
  await window.page.getByRole("button", { name: `Actions for ${name}` }).click();
  await chooseItem(window.page, action);
  return shownDialog(window, `${action} “${name}”`);
}

test("what is chosen for a new key is in force, and shown until it has expired", async () => {
  const form = await openForm();
  await form.getByText("Selected models").click();
  await openedDialog(window, "Create key");
  await form.getByLabel("Name").fill("narrow");
  await form.getByRole("button", { name: "Create key" }).click();
  await form.getByText("Choose at least one model, or all models.").waitFor();
  await form.getByLabel("vendor/with-slash").check();
  await fill(form, { "Requests per minute": "2", "Budget in USD": "0.05" });
  await form.getByLabel("Resets").selectOption({ label: "Daily" });
  await form.getByLabel("Expires").selectOption({ label: "In 1 day" });
  const key = await created(form, "narrow");
  await stored();
  expect(await answerTo(key)).toBe("403 model_not_allowed");
  expect(await answerTo(key, "vendor/with-slash")).toBe("200");
  expect(await answerTo(key, "vendor/with-slash")).toBe("429 rate_limit_exceeded");
  const shown = await rowOf("narrow").innerText();
  for (const words of ["vendor/with-slash", "2 requests per minute", "$0.05", "Expires soon"])
    expect(shown).toContain(words);
  clock.aheadMs = 2 * dayMs;
  expect(await answerTo(key, "vendor/with-slash")).toBe("401 invalid_api_key");
  await window.goto(home.path("keys"));
  await window.page.getByText("Revoked and expired keys (1)").click();
  const ended = window.page.getByRole("table", { name: "Revoked and expired keys" });
  expect(await ended.getByRole("row", { name: /narrow/ }).innerText()).toContain("Expired");
  clock.aheadMs = 0;
  await window.goto(home.path("keys"));
});

describe("a new secret", () => {
  let secret = "";

  test("is copied with a click, and stands in samples that work", async () => {
    const { page } = window;
    secret = await created(await openForm(), "app");
    await openedDialog(window, "Secret of “app”");
    await page.getByRole("button", { name: "Copy the key" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    const calls = page.getByRole("region", { name: "First call" });
    const sample = async (label: string) => {
      await calls.getByRole("tab", { name: label }).click();
      return calls.getByLabel(`Code: the first call, ${label}`).innerText();
    };
    const curl = await sample("curl");
    expect(curl).toContain(secret);
    expect((await sendCurl(curl)).status).toBe(200);
    expect(await sample("Python")).toContain(`base_url="${home.gateway.baseUrl}"`);
    expect(await sample("TypeScript")).toContain(`baseURL: "${home.gateway.baseUrl}"`);
    const environment = await sample("Environment");
    expect(environment).toContain(`OPENAI_BASE_URL="${home.gateway.baseUrl}"`);
    expect(environment).toContain(`OPENAI_API_KEY="${secret}"`);
    expect(environment).toContain(`SVC_API_KEY="${secret}"`);
  });

  test("is not lost by a stray Escape", async () => {
    const { page } = window;
    await page.keyboard.press("Escape");
    await page.getByRole("alert").getByText("Close without storing the key?").waitFor();
    await page.getByRole("button", { name: "Go back" }).click();
    expect(await shownSecret(page.getByRole("dialog"))).toBe(secret);
    await stored();
    expect(await page.content()).not.toContain(secret);
  });

  test("is joined by another one for a while, when its key is rotated", async () => {
    const form = await act("app", "Rotate");
    await openedDialog(window, "Rotate “app”");
    await form.getByLabel("Keep for 24 hours", { exact: true }).check();
    await form.getByRole("button", { name: "Rotate key" }).click();
    const next = await shownSecret(await shownDialog(window, "Secret of “app”"));
    await stored();
    expect([await answerTo(secret), await answerTo(next)]).toEqual(["200", "200"]);
    await rowOf("app").getByText("Old secret").waitFor();
    expect(await window.page.content()).not.toContain(next);
    secret = next;
  });

  test("stays when its key is edited, and the change counts from the next call", async () => {
    await act("app", "Edit");
    const form = await openedDialog(window, "Edit “app”");
    await form.getByLabel("Name").fill("renamed");
    await form.getByText("Selected models").click();
    await form.getByLabel("vendor/with-slash").check();
    await submit(form, "Save changes");
    await rowOf("renamed").getByText("vendor/with-slash").waitFor();
    expect(await answerTo(secret)).toBe("403 model_not_allowed");
    expect(await answerTo(secret, "vendor/with-slash")).toBe("200");
  });
});

test("a viewer sees the keys and no way to change them", async () => {
  const viewer = await home.joined("viewer");
  const other = await home.openOther(viewer);
  await other.goto(home.path("keys"));
  await other.page.getByText("renamed").first().waitFor();
  expect(await other.page.getByRole("button", { name: /Create/ }).count()).toBe(0);
  await other.page.getByRole("button", { name: "Actions for renamed" }).click();
  const items = other.page.getByRole("menuitem");
  await items.first().waitFor();
  expect(await items.allInnerTexts()).toEqual(["View usage", "View requests"]);
  await other.goto(home.path("keys?new=1"));
  expect(await other.page.getByRole("dialog").count()).toBe(0);
});
