/** What is around every page of the console, in a real browser. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../setup/browser.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { joinOperator, type Visitor } from "../setup/platform-home.ts";
import { buildConsole, chooseItem, openOverview, openTab, type Tab } from "./setup/tab.ts";

let gateway: TestGateway;
let browser: Browser;
let tab: Tab;
let operator: Visitor;

beforeAll(async () => {
  await buildConsole();
  gateway = await startTestGateway();
  operator = await joinOperator(gateway);
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

describe("the frame", () => {
  test("leads anywhere from the keyboard, and says where one is", async () => {
    const { page } = tab;
    await openOverview(tab, gateway, operator);
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
    await openOverview(tab, gateway, operator);
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
    await openOverview(tab, gateway, operator);
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
