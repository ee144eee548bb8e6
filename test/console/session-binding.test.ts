/** The session of a browser is of use to the console alone, in a real browser. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { willingVendor } from "../fake/willing-vendor.ts";
import { sharedBrowser } from "../setup/browser.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { hello } from "../setup/money-home.ts";
import { visitor } from "../setup/platform-home.ts";
import { exportCsv } from "./setup/operator-home.ts";
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
/** Another server on the same machine, which keeps every header that it gets. */
let neighbor: ReturnType<typeof Bun.serve>;
let seen: Headers[] = [];

beforeAll(async () => {
  await buildConsole();
  gateway = await startTestGateway();
  gateway.upstream.replyWith(willingVendor);
  browser = await sharedBrowser();
  neighbor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      seen.push(request.headers);
      return new Response("<!doctype html><title>another server</title>", {
        headers: { "content-type": "text/html" },
      });
    },
  });
});
afterAll(async () => {
  await neighbor.stop(true);
  await gateway.stop();
});

async function withTab<T>(run: (tab: Tab) => Promise<T>): Promise<T> {
  const tab = await openTab(browser, gateway);
  try {
    const result = await run(tab);
    expect([tab.forbidden, tab.crashes]).toEqual([[], []]);
    return result;
  } finally {
    await tab.close();
  }
}

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });
const sessionKeys = (page: Page) => page.evaluate(() => Object.keys(localStorage));

test("a page on another port gets the cookie and can do nothing with it", async () => {
  await withTab(async (tab) => {
    await joinAsOperator(tab, gateway);
    seen = [];
    await tab.page.goto(`http://127.0.0.1:${neighbor.port}/`);
    const [headers] = seen;
    const cookie = headers?.get("cookie") ?? "";
    // This is why: browsers keep cookies by host, whatever the port.
    expect(cookie).toContain("svc_session=");
    expect(headers?.get("x-svc-session")).toBeNull();
    const thief = visitor(gateway.platformUrl, { cookie });
    expect((await thief.ask("GET /api/accounts")).status).toBe(401);
    expect((await thief.ask("GET /api/session")).body.user).toBeNull();
    // What its own scripts can read of the console.
    expect(await sessionKeys(tab.page)).toEqual([]);
    const read = await tab.page.evaluate(async (url) => {
      const ask = (init: RequestInit) =>
        fetch(`${url}/api/session`, { credentials: "include", ...init }).then(
          (response) => response.type,
          () => "failed",
        );
      return [await ask({}), await ask({ headers: { "x-svc-session": "x" } })];
    }, gateway.platformUrl);
    expect(read).toEqual(["failed", "failed"]);
    await tab.page.goto(gateway.platformUrl);
    await heading(tab.page, "Overview").waitFor();
  });
});

test("the console works with it: a reload, a second tab, live news, CSV, the playground", async () => {
  await withTab(async (tab) => {
    const { page } = tab;
    await joinAsOperator(tab, gateway);
    await page.reload();
    await heading(page, "Overview").waitFor();
    const second = await page.context().newPage();
    await second.goto("/operator/requests");
    await second.getByText("Live", { exact: true }).waitFor();
    const reply = await gateway.call("/chat/completions", hello);
    await reply.text();
    const id = reply.headers.get("x-request-id") ?? "";
    await second.locator(`a[href$="/requests/${id}"]`).waitFor();
    const { name, text } = await exportCsv(second);
    expect(name).toBe("requests.csv");
    expect(text).toContain(id);
    await second.goto(`/a/${gateway.account}/playground`);
    await second.getByLabel("Message", { exact: true }).fill("Hi");
    await second.keyboard.press("Enter");
    await second.getByRole("tabpanel").getByRole("group", { name: "Receipt" }).waitFor();
  });
});

test("signing out in one tab leads the others to the door, and signing in leads them back", async () => {
  await withTab(async (tab) => {
    const { page } = tab;
    const email = await joinAsOperator(tab, gateway);
    const second = await page.context().newPage();
    await second.goto("/me");
    await heading(second, "My profile").waitFor();
    await page.getByRole("button", { name: /^You:/ }).click();
    await chooseItem(page, "Sign out");
    await heading(page, "Sign in").waitFor();
    await heading(second, "Sign in").waitFor();
    expect(await sessionKeys(page)).not.toContain("svc-session");
    await signIn(tab, email);
    await heading(page, "Overview").waitFor();
    await heading(second, "My profile").waitFor();
  });
});

test("a browser that has lost what it keeps is at the door once, and signs in again", async () => {
  await withTab(async (tab) => {
    const { page } = tab;
    const email = await joinAsOperator(tab, gateway);
    await page.evaluate(() => localStorage.clear());
    let navigations = 0;
    page.on("framenavigated", () => navigations++);
    await page.goto("/me");
    await heading(page, "Sign in").waitFor();
    await page.waitForLoadState("networkidle");
    expect(navigations).toBeLessThan(4);
    await signIn(tab, email);
    await heading(page, "My profile").waitFor();
  });
});
