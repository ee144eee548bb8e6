/**
 * Takes the pictures of docs/images: `npm run screenshots`, or with a folder, every page in both
 * schemes and at the width of a phone: `npm run screenshots -- --all FOLDER`.
 */

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { sharedBrowser } from "../setup/browser.ts";
import { type ConsoleBrowser, openBrowser, type Window, windowOf } from "./setup/console-home.ts";
import { type Demo, startDemo } from "./setup/demo.ts";
import { type ConsolePage, consolePages } from "./setup/page-list.ts";

interface Picture {
  readonly page: string;
  readonly scheme: "light" | "dark";
  readonly height: number;
  readonly path?: string;
  readonly act?: (window: Window) => Promise<void>;
}

/** The best of them, for the README and docs/console.md. */
const pictures: readonly Picture[] = [
  { page: "overview", scheme: "light", height: 1_000, path: "?range=30d" },
  { page: "playground-chat", scheme: "dark", height: 820, act: chat },
  { page: "request", scheme: "light", height: 1_000 },
  { page: "operator-model", scheme: "dark", height: 820 },
  { page: "billing", scheme: "light", height: 1_000 },
];

const [word, folder = ""] = process.argv.slice(2);
const isAll = word === "--all";
const target = isAll ? resolve(folder) : join(import.meta.dir, "..", "..", "docs", "images");
mkdirSync(target, { recursive: true });
const demo = await startDemo({ days: 30, callsADay: 14 });
const browser = await openBrowser();
try {
  if (isAll) await takeAll(demo, browser);
  else for (const picture of pictures) await take(demo, browser, picture);
} finally {
  await (await sharedBrowser()).close();
  await demo.gateway.stop();
}

async function take(of: Demo, by: ConsoleBrowser, picture: Picture): Promise<void> {
  const { page, scheme, height, path = "", act } = picture;
  const found = consolePages(of).find(({ name }) => name === page);
  if (found === undefined) throw new Error(`There is no page ${page}.`);
  const window = await open(of, by, { page: found, scheme, width: 1_280, height, scale: 1.5 });
  await window.goto(found.path + path);
  await act?.(window);
  await shoot(window, `${page}-${scheme}`, false);
}

async function takeAll(of: Demo, by: ConsoleBrowser): Promise<void> {
  for (const width of [1_280, 360])
    for (const scheme of ["light", "dark"] as const)
      for (const page of consolePages(of)) {
        const window = await open(of, by, { page, scheme, width, height: 900, scale: 1 });
        await window.goto(page.path);
        await shoot(window, `${page.name}-${scheme}-${width}`, true);
      }
}

function open(
  of: Demo,
  by: ConsoleBrowser,
  options: {
    readonly page: ConsolePage;
    readonly scheme: "light" | "dark";
    readonly width: number;
    readonly height: number;
    readonly scale: number;
  },
): Promise<Window> {
  const { page, ...rest } = options;
  return windowOf(by, of.gateway, {
    ...rest,
    ...(page.who === "nobody" ? {} : { cookie: of[page.who].cookie }),
  });
}

async function shoot(window: Window, name: string, fullPage: boolean): Promise<void> {
  await window.page.screenshot({ path: join(target, `${name}.png`), fullPage });
  process.stdout.write(`${name}\n`);
  await window.close();
}

async function chat({ page }: Window): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "Receipt" }).first().waitFor();
}
