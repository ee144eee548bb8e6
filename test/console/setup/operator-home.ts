import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { joinOperator, password, type Visitor } from "../../setup/platform-home.ts";
import { type ConsoleBrowser, openBrowser, type Window, windowOf } from "./console-home.ts";

/** An operator at the console, in front of the real gateway and the fake vendor. */
export interface OperatorHome {
  readonly gateway: TestGateway;
  readonly browser: ConsoleBrowser;
  /** The same operator as the window's, without a browser. */
  readonly operator: Visitor;
  readonly window: Window;
  /** Another browser, with nobody's cookies unless they are given. */
  openOther(cookie?: string): Promise<Window>;
  stop(): Promise<void>;
}

export async function startOperatorHome(options: TestGatewayOptions = {}): Promise<OperatorHome> {
  const [gateway, browser] = await Promise.all([startTestGateway(options), openBrowser()]);
  const operator = await joinOperator(gateway);
  const openOther = (cookie?: string) =>
    windowOf(browser, gateway, cookie === undefined ? {} : { cookie });
  return {
    gateway,
    browser,
    operator,
    window: await openOther(operator.cookie),
    openOther,
    async stop() {
      await browser.close();
      await gateway.stop();
    },
  };
}

/** Dialogs that were looked at when they were opened first. */
const known = new Set<string>();

/** The dialog of that name, once it stands still; the first time, it must have no barriers. */
export async function openedDialog(window: Window, name: string | RegExp): Promise<Locator> {
  const dialog = window.page.getByRole("dialog", { name });
  await dialog.waitFor();
  // It comes in a moment later, and what is half transparent has too little contrast.
  await dialog.evaluate(async (element) => {
    while (
      getComputedStyle(element).opacity !== "1" ||
      element.getAnimations().some(({ playState }) => playState === "running")
    )
      await new Promise(requestAnimationFrame);
  });
  if (!known.has(String(name))) expect(await window.barriers()).toEqual([]);
  known.add(String(name));
  return dialog;
}

/** The dialog that a click opens; a button is told by its name. */
export async function dialogBy(window: Window, place: Locator | string, name: string | RegExp) {
  const { page } = window;
  await (typeof place === "string" ? page.getByRole("button", { name: place }) : place).click();
  return openedDialog(window, name);
}

/** Fills fields by their labels. */
export async function fill(form: Locator | Page, fields: Readonly<Record<string, string>>) {
  for (const [label, text] of Object.entries(fields)) await form.getByLabel(label).fill(text);
}

/** Sends a dialog's form, which closes it. */
export async function submit(dialog: Locator, name: string, options = {}): Promise<void> {
  await dialog.getByRole("button", { name, ...options }).click();
  await dialog.waitFor({ state: "detached" });
}

/** The file that a click on “Export CSV” brings. */
export async function exportCsv(page: Page) {
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const file = await coming;
  const text = await Bun.file(await file.path()).text();
  const [header = "", ...lines] = text.trim().split("\r\n");
  return { name: file.suggestedFilename(), text, header, lines };
}

/** Waits until it says so, as it does when a change has come back to the page. */
export const told = (place: Locator, words: string | RegExp) =>
  place.filter({ hasText: words }).waitFor();

/** A tile's figure, by its label. */
export const tile = ({ page }: Pick<Window, "page">, label: string) =>
  page.getByRole("term").filter({ hasText: label }).locator("xpath=following-sibling::dd[1]");

/** Takes the browser's complaint about a failed request, which may come after the page's own. */
export async function expectRefusal({ complaints }: Window, status: number): Promise<void> {
  await waitUntil("the browser's complaint", () => complaints.length > 0);
  expect(complaints.splice(0)).toEqual([expect.stringContaining(`status of ${status}`)]);
}

/** Through the form that a link opens; ends where the console begins. */
export async function joinByLink(
  { page }: Window,
  link: string,
  person: { readonly name: string; readonly email?: string },
): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Your name").fill(person.name);
  if (person.email !== undefined) await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Confirm password").fill(password);
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.getByRole("button", { name: /^You:/ }).waitFor();
}
