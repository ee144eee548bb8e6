import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { sharedBrowser } from "../../setup/browser.ts";
import type { TestGateway } from "../../setup/harness.ts";
import { buildConsole } from "./tab.ts";

export interface ConsoleBrowser {
  /** A window of its own, signed in where a cookie is given. */
  open(options?: OpenOptions): Promise<Window>;
  /** Those that are open. */
  windows(): readonly Window[];
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly platformUrl: string;
  readonly cookie?: string;
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** IANA name. */
  readonly timeZone?: string;
  /** What the browser takes for now. */
  readonly nowMs?: number;
  /** For pictures: how many dots a point has. */
  readonly scale?: number;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained of: errors, refused by its policy, missing files. */
  readonly complaints: string[];
  goto(path: string): Promise<void>;
  /** The page in another theme and at another width, once it is. */
  show(look: { readonly scheme: "light" | "dark"; readonly width: number }): Promise<void>;
  /** What the checker of accessibility finds that is serious. */
  barriers(): Promise<readonly string[]>;
  /** By how much the page is wider than its window. */
  overflowPx(): Promise<number>;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<ConsoleBrowser> {
  await buildConsole();
  const browser = await sharedBrowser();
  const windows = new Set<Window>();
  return {
    async open(options = { platformUrl: "" }) {
      const opened = await openWindow(browser, options);
      const close = () => {
        windows.delete(window);
        return opened.close();
      };
      const window: Window = { ...opened, close };
      windows.add(window);
      return window;
    },
    windows: () => [...windows],
    async close() {
      await Promise.all([...windows].map((window) => window.close()));
    },
  };
}

async function openWindow(browser: Browser, options: OpenOptions): Promise<Window> {
  const { platformUrl, cookie, scheme = "light", width = 1280, height = 900, scale = 1 } = options;
  const context = await browser.newContext({
    baseURL: platformUrl,
    colorScheme: scheme,
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: "reduce",
    ...(options.timeZone === undefined ? {} : { timezoneId: options.timeZone }),
  });
  // Sooner than the runner's, so that a failure says what was waited for.
  context.setDefaultTimeout(120_000);
  if (options.nowMs !== undefined) await context.clock.setFixedTime(options.nowMs);
  if (cookie !== undefined) {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url: platformUrl, httpOnly: true }]);
  }
  // The files of the other pages are fetched ahead otherwise, in every window.
  await context.addInitScript(saveData);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} ${message.location().url}`);
  });
  return {
    page,
    context,
    complaints,
    async goto(path) {
      await page.goto(path);
      await settled(page);
    },
    async show({ scheme: colorScheme, width: shownWidth }) {
      await page.setViewportSize({ width: shownWidth, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction(isShown, colorScheme);
      await page.evaluate(settledColors);
    },
    barriers: () => findBarriers(page),
    overflowPx: () => page.evaluate(settledOverflow),
    close: () => context.close(),
  };
}

/** The page's heading is there, and nothing of it is still being fetched. */
async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Read once: it is a third of the size of the package's own `source`. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

async function findBarriers(page: Page): Promise<readonly string[]> {
  // What comes in or goes is half transparent, and has too little contrast.
  await page.evaluate(settledColors);
  // By the debugger, which the page's policy does not bind. It stays until the page is loaded again.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
      // What passes is neither described nor sent: most of the time went there.
      resultTypes: ["violations"],
    }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help} (${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")})`,
    );
}

/** The console as somebody who has signed in sees it. */
export const windowOf = (
  browser: ConsoleBrowser,
  gateway: Pick<TestGateway, "platformUrl">,
  options: Omit<OpenOptions, "platformUrl"> = {},
) => browser.open({ platformUrl: gateway.platformUrl, ...options });

/** In the light theme on a desktop, and in the dark one on a phone, without a sideways scroll. */
export async function expectNoBarriers(window: Window): Promise<void> {
  expect(await window.barriers()).toEqual([]);
  await window.show({ scheme: "dark", width: 360 });
  expect(await window.overflowPx()).toBeLessThanOrEqual(0);
  expect(await window.barriers()).toEqual([]);
  await window.show({ scheme: "light", width: 1280 });
}

/** Runs in the browser, before the page does. */
export function saveData(): void {
  Object.defineProperty(navigator, "connection", { value: { saveData: true } });
}

/** Runs in the browser. Pages that do not belong to the console have no scheme. */
const isShown = (scheme: string): boolean =>
  [null, scheme].includes(document.documentElement.getAttribute("data-mantine-color-scheme"));

/**
 * Runs in the browser. Even without motion, a transition to another color takes a frame, and one
 * more for each element that inherits it. A hidden element's never ends.
 */
async function settledColors(): Promise<void> {
  for (let frames = 0; frames < 10; frames++)
    await new Promise((resolve) => requestAnimationFrame(resolve));
}

/** Runs in the browser. Charts are redrawn some frames after the window is resized. */
async function settledOverflow(): Promise<number> {
  const { documentElement: root } = document;
  const overflow = () => root.scrollWidth - root.clientWidth;
  const endMs = performance.now() + 60_000;
  for (let fits = 0; fits < 10 && performance.now() < endMs; ) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    fits = overflow() <= 0 ? fits + 1 : 0;
  }
  return overflow();
}
