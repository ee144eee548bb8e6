import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { joinMember, joinOperator, password, type Visitor } from "../../setup/platform-home.ts";
import { App, TestClock } from "../../setup/second-factor.ts";
import { type ConsoleBrowser, openBrowser, type Window } from "./console-home.ts";
import { chooseItem } from "./tab.ts";

/** A console at a name, where passkeys work, and people who sign in to it. */
export interface SignInHome {
  readonly gateway: TestGateway;
  readonly browser: ConsoleBrowser;
  readonly operator: Visitor;
  /** On localhost, and not at the IP address. */
  readonly platformUrl: string;
  newPerson(): Promise<{ readonly email: string; readonly who: Visitor }>;
  withWindow(run: (window: Window) => Promise<void>, options?: WindowOptions): Promise<void>;
  stop(): Promise<void>;
}

interface WindowOptions {
  readonly platformUrl?: string;
  readonly cookie?: string;
}

export const clock = new TestClock();

export async function startSignInHome(): Promise<SignInHome> {
  const [gateway, browser] = await Promise.all([startTestGateway({ clock }), openBrowser()]);
  const operator = await joinOperator(gateway);
  const platformUrl = named(gateway);
  return {
    gateway,
    browser,
    operator,
    platformUrl,
    async newPerson() {
      const email = `${crypto.randomUUID()}@example.com`;
      const { account } = gateway;
      const who = await joinMember(gateway, operator, { account, role: "developer", email });
      return { email, who };
    },
    async withWindow(run, options = {}) {
      const window = await browser.open({ platformUrl, ...options });
      try {
        await run(window);
        expect(window.complaints).toEqual([]);
      } finally {
        await window.close();
      }
    },
    async stop() {
      await browser.close();
      await gateway.stop();
    },
  };
}

export const named = (of: TestGateway) => of.platformUrl.replace("127.0.0.1", "localhost");
export const heading = ({ page }: Window, name: string) =>
  page.getByRole("heading", { level: 1, name, exact: true });

/** The password of somebody, at the door. */
export async function enterPassword(window: Window, email: string): Promise<void> {
  const { page } = window;
  await window.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

export async function signOut(window: Window): Promise<void> {
  const { page } = window;
  // Not while a page is still being loaded, which would complain.
  await window.goto("/me");
  await page.getByRole("button", { name: /^You:/ }).click();
  await chooseItem(page, "Sign out");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
}

/** Through the dialog or the page; the app that has its secret now. */
export async function scan(page: Page): Promise<App> {
  await page.getByRole("img", { name: /^QR code/ }).waitFor();
  const letters = await page
    .locator("code")
    .filter({ hasText: /^[A-Z2-7 ]{20,}$/ })
    .innerText();
  const app = new App(letters.replaceAll(" ", ""), clock);
  await page.getByLabel("Code from the app").fill(app.code());
  clock.next();
  await page.getByRole("button", { name: "Turn on" }).click();
  return app;
}

export async function takeCodes(page: Page): Promise<readonly string[]> {
  const list = page.getByRole("list", { name: "Recovery codes" });
  await list.waitFor();
  const codes = await list.getByRole("listitem").allInnerTexts();
  await page.getByRole("button", { name: "I have stored the codes" }).click();
  await list.waitFor({ state: "detached" });
  return codes;
}
