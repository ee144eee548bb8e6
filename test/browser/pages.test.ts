import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ConsoleBrowser,
  expectNoBarriers,
  openBrowser,
  type Window,
  windowOf,
} from "../console/setup/console-home.ts";
import { type Demo, startDemo } from "../console/setup/demo.ts";
import { type ConsolePage, consolePages } from "../console/setup/page-list.ts";

let demo: Demo;
let browser: ConsoleBrowser;
const windows = new Map<string, Window>();
beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemo({ days: 2, callsADay: 20 }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await demo.gateway.stop();
});

/** One window for each who, kept open: pages are opened in it one after another. */
async function windowFor(who: ConsolePage["who"]): Promise<Window> {
  const known = windows.get(who);
  if (known !== undefined) return known;
  const opened = await windowOf(
    browser,
    demo.gateway,
    who === "nobody" ? {} : { cookie: demo[who].cookie },
  );
  windows.set(who, opened);
  return opened;
}

// The pages are known only when the demo runs; their names are known now.
const names = consolePages({ account: "", served: "", failed: "" } as Demo).map(({ name }) => name);
const pageOf = (name: string) => {
  const found = consolePages(demo).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no page ${name}`);
  return found;
};

test.each(names)("%s has no serious barrier, no sideways scroll and no complaint", async (name) => {
  const { who, path } = pageOf(name);
  const window = await windowFor(who);
  window.complaints.length = 0;
  await window.goto(path);
  await expectNoBarriers(window);
  // A link that is gone, and a page that is not there, are asked for once: the answer is 404.
  const expected = name === "join" || name === "not-found" ? /404/ : /^$/;
  expect(window.complaints.filter((complaint) => !expected.test(complaint))).toEqual([]);
});

describe("a first visit", () => {
  test.each(["/sign-in", "/"])("to %s brings less than 250 kB", async (path) => {
    const isSignIn = path === "/sign-in";
    const window = await windowOf(
      browser,
      demo.gateway,
      isSignIn ? {} : { cookie: demo.owner.cookie },
    );
    const sizes: Promise<number>[] = [];
    window.page.on("requestfinished", (request) => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await window.goto(path);
    const sum = (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
    expect(sizes.length).toBeGreaterThan(3);
    expect(sum).toBeGreaterThan(50_000);
    expect(sum).toBeLessThan(250_000);
    await window.close();
  });
});

test("every page that the router knows is looked at here", () => {
  const text = readFileSync(
    join(import.meta.dir, "..", "..", "console", "src", "router.tsx"),
    "utf8",
  );
  const count = [...text.matchAll(/in(?:Account|Operator|Frame|SignedOut)\(\s*"\/|path: "\/me"/g)]
    .length;
  const distinct = new Set(
    consolePages(demo).map(({ path }) => path.split(/[?#]/)[0]?.replace(demo.failed, demo.served)),
  );
  // One of them is a page that is not there.
  expect(distinct.size - 1).toBe(count);
});
