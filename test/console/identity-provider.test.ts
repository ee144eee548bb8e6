/** Signing in through the company's account, in a real browser, at the pages of a real provider. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TestGateway } from "../setup/harness.ts";
import { type IdentityHome, startIdentityHome } from "../setup/identity-home.ts";
import { joinMember, type Visitor } from "../setup/platform-home.ts";
import { type ConsoleBrowser, openBrowser, type Window } from "./setup/console-home.ts";
import { heading } from "./setup/sign-in-home.ts";
import { chooseItem } from "./setup/tab.ts";

const button = "Sign in with Example Corp";

let home: IdentityHome;
let gateway: TestGateway;
let browser: ConsoleBrowser;
let operator: Visitor;

beforeAll(async () => {
  [home, browser] = await Promise.all([startIdentityHome("leads=test:owner"), openBrowser()]);
  ({ gateway, operator } = home);
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});

async function withWindow(run: (window: Window) => Promise<void>): Promise<void> {
  const window = await browser.open({ platformUrl: gateway.platformUrl });
  // The provider's pages for development name a font that is elsewhere.
  await window.context.route(/googleapis/, (route) => route.abort());
  try {
    await run(window);
  } finally {
    await window.close();
  }
}

/** At the pages of the provider. */
async function passProvider({ page }: Window, login: string): Promise<void> {
  await page.locator('input[name="login"]').fill(login);
  await page.locator('input[name="password"]').fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

const add: IdentityHome["add"] = (...given) => home.add(...given);

test("a person signs in there, lands where they wanted to go, and signs out of both", async () => {
  add("ada", ["leads"]);
  await withWindow(async (window) => {
    const { page } = window;
    await window.goto("/sign-in?then=/me");
    await page.getByText("No password here? Use Example Corp.").waitFor();
    expect(await window.barriers()).toEqual([]);
    await page.getByRole("button", { name: button }).click();
    await passProvider(window, "ada");
    await heading(window, "My profile").waitFor();
    expect(new URL(page.url()).search).toBe("");
    await page.getByText("Connected as ada@example.com.").waitFor();
    expect(await page.getByRole("button", { name: "Change password" }).count()).toBe(0);
    expect(await window.barriers()).toEqual([]);
    await window.goto(`/a/${gateway.account}/members`);
    await page.getByText("through Example Corp").waitFor();
    expect(await page.getByRole("cell", { name: "Identity provider" }).count()).toBe(1);
    await window.goto("/me");
    await page.getByRole("button", { name: /^You:/ }).click();
    await chooseItem(page, "Sign out");
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await heading(window, "Sign in").waitFor();
    await page.getByRole("button", { name: button }).click();
    await page.locator('input[name="login"]').waitFor();
  });
});

test("one who may not enter reads why, and what to do", async () => {
  add("nora", ["others"]);
  await withWindow(async (window) => {
    const { page } = window;
    await window.goto("/sign-in");
    await page.getByRole("button", { name: button }).click();
    await passProvider(window, "nora");
    await heading(window, "You are not signed in").waitFor();
    await page.getByText("none of your groups may use this platform. Ask an operator").waitFor();
    expect(await window.barriers()).toEqual([]);
    await page.getByRole("button", { name: "Back to sign-in" }).click();
    await heading(window, "Sign in").waitFor();
  });
});

test("a member connects the company's account on the profile page", async () => {
  const email = "linda@example.com";
  const { account } = gateway;
  const who = await joinMember(gateway, operator, { account, role: "viewer", email });
  add("linda", ["leads"]);
  await withWindow(async (window) => {
    const { page } = window;
    const [cookieName = "", value = ""] = who.cookie.split("=");
    await window.context.addCookies([{ name: cookieName, value, url: gateway.platformUrl }]);
    await window.goto("/me");
    await page.getByRole("button", { name: "Connect Example Corp" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await passProvider(window, "linda");
    await page.getByText("Connected as linda@example.com.").waitFor();
  });
});
