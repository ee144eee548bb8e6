/** What is around every page of the console, and the door to it, in a real browser. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../setup/browser.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import {
  buildConsole,
  chooseItem,
  joinAsOperator,
  openTab,
  signIn,
  type Tab,
} from "./setup/tab.ts";

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  await buildConsole();
  gateway = await startTestGateway();
  browser = await sharedBrowser();
});
afterAll(async () => {
  await gateway.stop();
});
beforeEach(async () => {
  tab = await openTab(browser, gateway);
});
afterEach(() => tab.close());

const title = (name: string) => tab.page.getByRole("heading", { level: 1, name });

describe("the door", () => {
  test("a link leads through the form, and only passwords that are the same open it", async () => {
    const { page } = tab;
    const { link } = await gateway.server.operations.operators.invite({});
    await page.goto(link);
    await page.getByLabel("Your name").fill("Grace");
    await page.getByLabel("Email").fill("grace@example.com");
    await page.getByLabel("Password", { exact: true }).fill("a long enough password");
    await page.getByLabel("Confirm password").fill("another long password");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    await page.getByText("Passwords do not match.").waitFor();
    await page.getByLabel("Confirm password").fill("a long enough password");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    await page.waitForURL("**/operator/overview");
    await page.goto(link);
    await title("This link is no longer valid").waitFor();
  });

  test("who signs in is where they wanted to be", async () => {
    const { page } = tab;
    const email = await joinAsOperator(tab, gateway);
    await page.getByRole("button", { name: /^You:/ }).click();
    await chooseItem(page, "Sign out");
    await title("Sign in").waitFor();
    await page.goto("/me");
    await title("Sign in").waitFor();
    await signIn(tab, email, "not the password");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("password");
    await signIn(tab, email);
    await title("My profile").waitFor();
    expect(new URL(page.url()).pathname).toBe("/me");
  });

  test("a session that is ended elsewhere is at the door with its next step", async () => {
    const email = await joinAsOperator(tab, gateway);
    const other = await openTab(browser, gateway, {
      userAgent: "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0",
    });
    await other.page.goto("/sign-in");
    await signIn(other, email);
    await other.page.waitForURL("**/operator/overview");
    await tab.page.goto("/me");
    const row = tab.page.getByRole("row", { name: /Firefox on Windows/ });
    await row.getByRole("button", { name: "Sign out" }).click();
    await tab.page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await row.waitFor({ state: "detached" });
    await other.page.getByRole("button", { name: /^You:/ }).click();
    await chooseItem(other.page, "My profile");
    await other.page.waitForURL("**/sign-in?then=%2Fme");
    await other.close();
  });
});

describe("the frame", () => {
  test("leads anywhere from the keyboard, and says where one is", async () => {
    const { page } = tab;
    await joinAsOperator(tab, gateway);
    await title("Overview").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search pages, models, keys, requests" }).waitFor();
    await page.keyboard.type("provid");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/operator/providers");
    await title("Providers").waitFor();
    expect(await page.title()).toBe("Providers · svc gateway");
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  });

  test("the first Tab offers to skip to the content", async () => {
    const { page } = tab;
    await page.goto("/changelog");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  });

  test("the operator looks at one account, and at all of them", async () => {
    const { page } = tab;
    await joinAsOperator(tab, gateway);
    await page.getByRole("button", { name: "Account: All accounts" }).click();
    const [account] = await gateway.server.operations.accounts.list({});
    await chooseItem(page, account?.name ?? "");
    await page.waitForURL(`**/a/${account?.id}/overview`);
    await page.getByRole("link", { name: "Keys" }).waitFor();
    await page.getByRole("button", { name: `Account: ${account?.name}` }).click();
    await chooseItem(page, "All accounts");
    await page.waitForURL("**/operator/overview");
  });

  test("a page that is not there says so, inside the frame and with its status", async () => {
    const reply = await tab.page.goto("/no/such/page");
    expect(reply?.status()).toBe(404);
    await title("Page not found").waitFor();
    expect(tab.crashes).toEqual([]);
  });
});

describe("the page's policy", () => {
  test("is broken by no menu, dialog, palette or drawer", async () => {
    const { page } = tab;
    await joinAsOperator(tab, gateway);
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("menuitem", { name: "All accounts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Search…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 360, height: 700 });
    await page.getByRole("button", { name: "Open menu" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Settings" }).click();
    await page.waitForURL("**/operator/settings");
    expect(tab.forbidden).toEqual([]);
    expect(tab.crashes).toEqual([]);
  });

  test("stops a style and a script that are not ours", async () => {
    const { page } = tab;
    await page.goto("/sign-in");
    await title("Sign in").waitFor();
    await page.evaluate(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let count = 0;
      addEventListener("securitypolicyviolation", () => ++count === 2 && resolve());
      const style = document.createElement("style");
      style.textContent = "body { display: none }";
      const script = document.createElement("script");
      script.textContent = "globalThis.wasRun = true";
      document.head.append(style, script);
      await promise;
    });
    expect(tab.forbidden.length).toBe(2);
    expect(await page.evaluate(() => "wasRun" in globalThis)).toBe(false);
  });
});

describe("the colors", () => {
  test.each(["light", "dark"] as const)("are %s before the app has run", async (scheme) => {
    const dressed = await openTab(browser, gateway, { colorScheme: scheme });
    await dressed.page.route("**/assets/main-*.js", (route) => route.abort());
    await dressed.page.goto("/sign-in");
    const shade = await dressed.page.evaluate(() => {
      const [red = ""] = getComputedStyle(document.body).backgroundColor.match(/\d+/) ?? [];
      return Number(red) > 128 ? "light" : "dark";
    });
    expect(shade).toBe(scheme);
    await dressed.close();
  });

  test("that were chosen are kept", async () => {
    const { page } = tab;
    await page.goto("/sign-in");
    await page.getByRole("button", { name: /^Theme: system/ }).click();
    await page.getByRole("button", { name: /^Theme: light/ }).click();
    await page.reload();
    await page.getByRole("button", { name: /^Theme: dark/ }).waitFor();
    const scheme = page.locator("html");
    expect(await scheme.getAttribute("data-mantine-color-scheme")).toBe("dark");
  });
});
