import { join as joinPath } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { TestGateway } from "../../setup/harness.ts";
import { password, type Visitor } from "../../setup/platform-home.ts";

let built: Promise<void> | undefined;

/** The console as it is in the sources: built before a test opens it, if it is not already. */
export function buildConsole(): Promise<void> {
  built ??= build();
  return built;
}

async function build(): Promise<void> {
  const script = joinPath(import.meta.dir, "..", "..", "..", "console", "build.ts");
  const child = Bun.spawn([process.execPath, script, "--if-needed"], { stderr: "pipe" });
  const words = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(words);
}

/** A page of its own, with nobody's cookies, and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** What the browser kept from happening because of the page's policy. */
  readonly forbidden: string[];
  /** Errors that nobody caught. */
  readonly crashes: string[];
  close(): Promise<void>;
}

export async function openTab(
  browser: Browser,
  gateway: TestGateway,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ baseURL: gateway.platformUrl, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const forbidden: string[] = [];
  const crashes: string[] = [];
  page.on("pageerror", (error) => crashes.push(String(error)));
  await context.exposeFunction("noteForbidden", (words: string) => forbidden.push(words));
  await context.addInitScript(() =>
    addEventListener("securitypolicyviolation", (event) => {
      const { noteForbidden } = globalThis as unknown as { noteForbidden(words: string): void };
      const { violatedDirective, blockedURI, sample } = event as SecurityPolicyViolationEvent;
      noteForbidden(`${violatedDirective} ${blockedURI} ${sample}`);
    }),
  );
  return { page, forbidden, crashes, close: () => context.close() };
}

/** On the overview as an operator, whose session is not one of a browser's form. */
export async function openOverview(
  { page }: Tab,
  gateway: TestGateway,
  operator: Visitor,
): Promise<void> {
  const [name = "", value = ""] = operator.cookie.split("=");
  await page.context().addCookies([{ name, value, url: gateway.platformUrl, httpOnly: true }]);
  await page.goto("/operator/overview");
}

/** Opens a link as an operator-to-be, through the form; ends on the overview. */
export async function joinAsOperator(
  { page }: Tab,
  gateway: TestGateway,
  email = `operator-${crypto.randomUUID()}@example.com`,
): Promise<string> {
  const { link } = await gateway.server.operations.operators.invite({});
  await page.goto(link);
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Confirm password").fill(password);
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await page.waitForURL("**/operator/overview");
  return email;
}

export async function signIn({ page }: Tab, email: string, given = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(given);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * Clicks an item of the menu that is open, once the menu is beside its button. It is drawn before it
 * is placed: a click in between scrolls to where it was, or misses the item.
 */
export async function chooseItem(page: Page, name: string | RegExp): Promise<void> {
  await page.waitForFunction(() => {
    const button = document.querySelector('[aria-haspopup="menu"][aria-expanded="true"]');
    const menu = document.querySelector('[role="menu"]')?.getBoundingClientRect();
    if (button === null || menu === undefined || menu.height === 0) return false;
    const { top, bottom } = button.getBoundingClientRect();
    const gap = Math.max(menu.top - bottom, top - menu.bottom);
    return gap >= 0 && gap < 20;
  });
  await page.getByRole("menuitem", { name }).click();
}
