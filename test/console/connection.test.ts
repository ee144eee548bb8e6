/** What people see while the gateway restarts, the network is gone, or the console is updated. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { willingVendor } from "../fake/willing-vendor.ts";
import { sharedBrowser } from "../setup/browser.ts";
import { hello } from "../setup/money-home.ts";
import { joinOperator, type Visitor } from "../setup/platform-home.ts";
import { saveData } from "./setup/console-home.ts";
import { submit, tile } from "./setup/operator-home.ts";
import { type Restartable, startRestartable } from "./setup/restartable.ts";
import { buildConsole, openOverview, openTab, type Tab } from "./setup/tab.ts";

let home: Restartable;
let browser: Browser;
let tab: Tab;
let operator: Visitor;

beforeAll(async () => {
  await buildConsole();
  home = await startRestartable();
  operator = await joinOperator(home.gateway);
  browser = await sharedBrowser();
});
afterAll(() => home.end());
beforeEach(async () => {
  tab = await openTab(browser, home.gateway);
});
afterEach(() => tab.close());

const bar = (page: Page, words: string) => page.getByRole("status").filter({ hasText: words });
const unreachable = "Gateway not reachable, retrying…";
const title = (name: string) => tab.page.getByRole("heading", { level: 1, name });
const link = (name: string) =>
  tab.page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true });
/** Gone after a reload of the window. */
const mark = () => tab.page.evaluate(() => Object.assign(globalThis, { wasHere: true }));
const isSameWindow = () => tab.page.evaluate(() => "wasHere" in globalThis);
describe("while the gateway restarts", () => {
  test("the last data stays, one bar says why, and all goes on by itself", async () => {
    const { page } = tab;
    await openOverview(tab, home.gateway, operator);
    await link("Accounts").click();
    await page.getByRole("table", { name: "Accounts" }).getByText("test").waitFor();
    await link("Overview").click();
    await page.getByText("Live", { exact: true }).waitFor();
    await mark();
    await home.stop();
    // The end of the live stream is enough: nobody has clicked anything.
    await bar(page, unreachable).waitFor();
    await page.getByText("Not connected", { exact: true }).waitFor();
    await link("Accounts").click();
    await title("Accounts").waitFor();
    await page.getByRole("table", { name: "Accounts" }).getByText("test").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await home.start();
    await bar(page, unreachable).waitFor({ state: "detached" });
    await link("Overview").click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await isSameWindow()).toBe(true);
    expect(tab.crashes).toEqual([]);
  });

  test("a page that was never opened waits, and opens once the gateway is back", async () => {
    const { page } = tab;
    await tab.page.addInitScript(saveData);
    await openOverview(tab, home.gateway, operator);
    await title("Overview").waitFor();
    await mark();
    await home.stop();
    await link("Providers").click();
    await bar(page, unreachable).waitFor();
    const main = page.getByRole("main");
    await main.getByText(unreachable).waitFor();
    await main.getByText("This page opens by itself once the connection is back.").waitFor();
    expect(await main.getByText("Loading page").count()).toBe(0);
    await home.start();
    await title("Providers").waitFor();
    await page.getByRole("heading", { name: "fake" }).waitFor();
    await bar(page, unreachable).waitFor({ state: "detached" });
    expect(await isSameWindow()).toBe(true);
  });

  test("a page whose file was on its way when the gateway went opens by itself", async () => {
    const { page } = tab;
    await tab.page.addInitScript(saveData);
    await openOverview(tab, home.gateway, operator);
    await title("Overview").waitFor();
    // The platform answers, and is gone before it has sent the file.
    const files = "**/assets/*.js";
    const asked = Promise.withResolvers<void>();
    await page.route(files, async (route) => {
      await page.route("**/healthz", (probe) => probe.abort());
      await route.abort();
      asked.resolve();
    });
    await link("Providers").click();
    await asked.promise;
    await page.getByRole("main").getByText(unreachable).waitFor();
    await page.unroute(files);
    await page.unroute("**/healthz");
    await title("Providers").waitFor();
    await page.getByRole("heading", { name: "fake" }).waitFor();
  });

  test("a change fails in its dialog at once, and what was typed stays", async () => {
    const { page } = tab;
    await openOverview(tab, home.gateway, operator);
    await page.goto("/operator/accounts?new=1");
    const dialog = page.getByRole("dialog", { name: "Create account" });
    await dialog.getByLabel("Name").fill("Acme Corp");
    await home.stop();
    await dialog.getByRole("button", { name: "Create account" }).click();
    await dialog.getByText("Cannot reach the server.").waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Acme Corp");
    await home.start();
    await bar(page, unreachable).waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Create account" }).click();
    await dialog.getByText("is ready but has no credit").waitFor();
  });
});

test("offline is noticed at once, and so is the end of it", async () => {
  const { page } = tab;
  await openOverview(tab, home.gateway, operator);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.context().setOffline(true);
  await bar(page, "You are offline, retrying…").waitFor({ timeout: 2_000 });
  await page.getByText("Not connected", { exact: true }).waitFor({ timeout: 2_000 });
  await page.context().setOffline(false);
  await page.getByText("Live", { exact: true }).waitFor();
  await bar(page, "You are offline, retrying…").waitFor({ state: "detached" });
});

test("calls that ended while the page was offline are in the figures once it is back", async () => {
  const { page } = tab;
  await openOverview(tab, home.gateway, operator);
  await page.getByText("Live", { exact: true }).waitFor();
  const requests = tile(tab, "Requests");
  home.gateway.upstream.replyWith(willingVendor);
  const call = async () => (await home.gateway.call("/chat/completions", hello)).status;
  expect(await call()).toBe(200);
  await requests.getByText("1", { exact: true }).waitFor();
  await page.context().setOffline(true);
  await page.getByText("Not connected", { exact: true }).waitFor();
  expect(await call()).toBe(200);
  await page.context().setOffline(false);
  await requests.getByText("2", { exact: true }).waitFor();
});

describe("a new version", () => {
  /** Whatever names the build, except streams, which cannot be answered in one piece. */
  const naming = /\/(?:healthz$|api\/(?!live))/;
  /** As the platform answers after an update. */
  const update = () =>
    tab.page.route(naming, async (route) => {
      const response = await route.fetch();
      return route.fulfill({
        response,
        headers: { ...response.headers(), "x-svc-build": "0123456789abcdef" },
      });
    });
  // A page must not be closed under the answers.
  afterEach(() => tab.page.unrouteAll({ behavior: "wait" }));

  test("is offered and not forced", async () => {
    const { page } = tab;
    await openOverview(tab, home.gateway, operator);
    await title("Overview").waitFor();
    const own = await page.locator('meta[name="build"]').getAttribute("content");
    const { headers } = await fetch(`${home.gateway.platformUrl}/healthz`);
    expect(headers.get("x-svc-build")).toBe(own);
    expect(own).toMatch(/^[0-9a-f]{16}$/);
    expect(await bar(page, "A new version is available.").count()).toBe(0);
    await mark();
    await update();
    await link("Accounts").click();
    const offer = bar(page, "A new version is available.");
    await offer.waitFor();
    expect(await isSameWindow()).toBe(true);
    await submit(offer, "Dismiss");
    await page.unrouteAll({ behavior: "wait" });
    await page.reload();
    await title("Accounts").waitFor();
    await update();
    await link("Keys").click();
    await offer.getByRole("button", { name: "Reload" }).click();
    await page.waitForFunction(() => !("wasHere" in globalThis));
    await title("Keys").waitFor();
  });

  test("whose files replaced those of an open page leaves the page in the frame", async () => {
    const { page } = tab;
    await tab.page.addInitScript(saveData);
    await openOverview(tab, home.gateway, operator);
    await title("Overview").waitFor();
    await mark();
    await update();
    await page.route("**/assets/*.js", (route) => route.fulfill({ status: 404, body: "" }));
    await link("Providers").click();
    await page.getByText("The console was updated").waitFor();
    expect(await isSameWindow()).toBe(true);
    await link("Overview").click();
    await title("Overview").waitFor();
    await page.unroute("**/assets/*.js");
    await link("Providers").click();
    await page.getByRole("main").getByRole("button", { name: "Reload" }).click();
    await title("Providers").waitFor();
  });
});
