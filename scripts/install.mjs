// Plain JavaScript for any Node: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe");
let heldLock;

/** Ends the process with one sentence. */
export function giveUp(sentence) {
  if (heldLock !== undefined) rmSync(heldLock, { force: true });
  process.stderr.write(`error: ${sentence}\n`);
  process.exit(1);
}

export function checkMachine() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 20)
    giveUp(
      `svc gateway needs Node 20 or newer for its first step; this is Node ${process.versions.node}.`,
    );
  const isKnown =
    ["linux", "darwin"].includes(process.platform) && ["x64", "arm64"].includes(process.arch);
  if (!isKnown)
    giveUp(
      `svc gateway runs on Linux and macOS (x64, arm64), not on ${process.platform} ${process.arch}; on Windows use WSL.`,
    );
}

/** Installs what is missing, and only that: the tools of development stay once they are there. */
export function ensureInstalled({ withTools }) {
  const isWhole = () => hasBun() && isComplete(root, withTools);
  underLock(root, isWhole, () => {
    const everything = withTools || (hasBun() && isComplete(root, true, "dev only"));
    const what = everything ? "dependencies and development tools" : "dependencies";
    npmInstall(root, what, [everything ? "--include=dev" : "--omit=dev"]);
    // With `ignore-scripts` set, Bun's own step did not run: it puts its binary into place.
    if (!hasBun())
      spawnSync(process.execPath, [join(root, "node_modules", "bun", "install.js")], {
        cwd: join(root, "node_modules", "bun"),
        stdio: ["ignore", 2, 2],
      });
  });
}

/** The embedded models' runtime libraries: a package of their own, which needs none of its scripts. */
export function ensureEngineInstalled() {
  const folder = join(root, "engine");
  const isWhole = () => isComplete(folder, false);
  underLock(folder, isWhole, () =>
    npmInstall(folder, "the embedded models' runtime", ["--omit=dev", "--ignore-scripts"]),
  );
}

/** The web app, bundled when its sources changed; false if that failed, which was then said. */
export function ensureConsoleBuilt() {
  const words = [join(root, "console", "build.ts"), "--if-needed"];
  return spawnSync(bun, words, { cwd: root, stdio: ["ignore", 2, 2] }).status === 0;
}

function underLock(folder, isWhole, install) {
  if (isWhole()) return;
  takeInstallLock(folder);
  try {
    if (!isWhole()) install();
    if (!isWhole())
      giveUp(
        `The dependencies are still incomplete after npm install. Remove ${join(folder, "node_modules")} and try again.`,
      );
  } finally {
    rmSync(heldLock, { force: true });
    heldLock = undefined;
  }
}

function npmInstall(folder, what, more) {
  process.stderr.write(`Installing ${what} (once) …\n`);
  const words = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", ...more];
  const npm = process.env.npm_execpath;
  const [command, first] = npm && /\.c?js$/.test(npm) ? [process.execPath, [npm]] : ["npm", []];
  // npm's own chatter goes to stderr, so that what a command prints stays clean.
  const { status, error } = spawnSync(command, [...first, ...words], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  if (error) giveUp(`npm could not be started: ${error.message}`);
  if (status !== 0) giveUp("npm install failed; its message is above.");
}

/** Compares what the lock file asks for with what npm noted down as installed. */
function isComplete(folder, withTools, which) {
  const installedPath = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(installedPath)) return false;
  const wanted = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedPath, "utf8")).packages;
  return Object.entries(wanted).every(([path, { version, dev, optional, devOptional }]) => {
    if (path === "" || optional || devOptional || (dev ? !withTools : which === "dev only"))
      return true;
    return installed[path]?.version === version;
  });
}

function hasBun() {
  return existsSync(bun) && statSync(bun).size > 1_000_000;
}

/** Two first starts at once: the second waits for the first. */
function takeInstallLock(folder) {
  const lockPath = join(folder, ".install.lock");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: "wx" });
      heldLock = lockPath;
      return;
    } catch (error) {
      if (error.code !== "EEXIST") giveUp(`${folder} cannot be written to: ${error.message}`);
    }
    if (!isAlive(lockHolder(lockPath))) rmSync(lockPath, { force: true });
    Atomics.wait(pause, 0, 0, 200);
  }
}

function lockHolder(lockPath) {
  try {
    return Number(readFileSync(lockPath, "utf8"));
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
