/** How long one who clicks waits for the chart: the console in a real Chromium. */
import type { BrowserContext, Page } from "playwright-core";
import {
  type ConsoleBrowser,
  openBrowser,
  windowOf,
} from "../../test/console/setup/console-home.ts";
import { sharedBrowser } from "../../test/setup/browser.ts";
import type { Tell } from "./data.ts";
import type { Served } from "./server.ts";
import { type Result, resultOf } from "./table.ts";

const times = 10;
const timeoutMs = 30_000;
/** Nothing tells when code that was fetched ahead has run. */
const codeMs = 400;

type Who = {
  readonly name: string;
  readonly cookie: string;
  /** A page of theirs that is not the overview. */
  readonly elsewhere: string;
  readonly overview: string;
};

type Way = {
  readonly name: string;
  readonly go: (page: Page, who: Who) => Promise<number>;
};

/** On the page's own clock; a full load begins at 0. */
type Marks = { clickedMs: number; drawnMs: number | undefined };

const ways: readonly Way[] = [
  {
    name: "a click, code loaded",
    async go(page, who) {
      await page.goto(who.elsewhere);
      const link = await overviewLink(page);
      // Code is fetched when the pointer rests on a link, data is not.
      await link.hover();
      await Bun.sleep(codeMs);
      await link.click();
      return drawnAfterClick(page);
    },
  },
  {
    name: "a click, code in the browser's cache",
    async go(page, who) {
      await page.goto(who.elsewhere);
      await (await overviewLink(page)).click();
      return drawnAfterClick(page);
    },
  },
  {
    name: "by URL, assets in the browser's cache",
    async go(page, who) {
      await page.goto(who.overview);
      return (await marksOf(page)).drawnMs;
    },
  },
];

export async function measureBrowser(options: {
  readonly served: Served;
  readonly tell: Tell;
}): Promise<readonly Result[]> {
  const { served, tell } = options;
  const { operator, owner, account } = served;
  const people: readonly Who[] = [
    {
      name: "operator",
      cookie: operator.cookie,
      elsewhere: "/operator/settings",
      overview: "/operator/overview",
    },
    {
      name: "one account",
      cookie: owner.cookie,
      elsewhere: `/a/${account}/keys`,
      overview: `/a/${account}/overview`,
    },
  ];
  const browser = await openBrowser();
  try {
    const results: Result[] = [];
    for (const way of ways)
      for (const who of people) {
        tell(`${who.name}, ${way.name}`, results.length / (ways.length * people.length));
        results.push(await measureWay({ browser, served, way, who }));
      }
    return results;
  } finally {
    await (await sharedBrowser()).close();
  }
}

async function measureWay(options: {
  readonly browser: ConsoleBrowser;
  readonly served: Served;
  readonly way: Way;
  readonly who: Who;
}): Promise<Result> {
  const { browser, served, way, who } = options;
  const { context, goto, close, complaints } = await windowOf(browser, served, {
    cookie: who.cookie,
  });
  try {
    await context.addInitScript(markDrawing);
    // Fills the browser's cache.
    for (const path of [who.elsewhere, who.overview]) await goto(path);
    const beforeMs = served.child.weigh().cpuMs;
    const tookMs: number[] = [];
    for (let time = 0; time < times; time++) tookMs.push(await inNewPage(context, way, who));
    if (complaints.length > 0) throw new Error(`the page complains: ${complaints.join("; ")}`);
    const cpuMs = (served.child.weigh().cpuMs - beforeMs) / times;
    return resultOf({ name: `${who.name}, ${way.name}`, tookMs, cpuMs });
  } finally {
    await close();
  }
}

/** A tab of its own each time: what a page has asked for once it shows at once the second time. */
async function inNewPage(context: BrowserContext, way: Way, who: Who): Promise<number> {
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  try {
    return await way.go(page, who);
  } finally {
    await page.close();
  }
}

async function overviewLink(page: Page) {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  return page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" });
}

async function drawnAfterClick(page: Page): Promise<number> {
  const { clickedMs, drawnMs } = await marksOf(page);
  return drawnMs - clickedMs;
}

async function marksOf(page: Page): Promise<Required<Marks> & { readonly drawnMs: number }> {
  const marks = await page.waitForFunction(() => {
    const { overviewMarks } = globalThis as unknown as { overviewMarks: Marks };
    return overviewMarks.drawnMs === undefined ? null : overviewMarks;
  });
  const { clickedMs, drawnMs } = (await marks.jsonValue()) as Marks;
  if (drawnMs === undefined) throw new Error("there is no chart");
  return { clickedMs, drawnMs };
}

/** In the page: notes the click, and the first picture on the screen that has bars in the chart. */
function markDrawing(): void {
  const marks: Marks = { clickedMs: 0, drawnMs: undefined };
  Object.assign(globalThis, { overviewMarks: marks });
  document.addEventListener(
    "click",
    () => {
      marks.clickedMs = performance.now();
    },
    { capture: true },
  );
  const bars = 'figure svg[role="img"] g[fill] rect';
  const watcher = new MutationObserver(() => {
    if (document.querySelector(bars) === null) return;
    watcher.disconnect();
    // The frame that shows it is painted when the task after it runs.
    requestAnimationFrame(() => {
      setTimeout(() => {
        marks.drawnMs = performance.now();
      });
    });
  });
  watcher.observe(document, { childList: true, subtree: true });
}
