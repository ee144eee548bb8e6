// Plain JavaScript for any Node: it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** npm never packs the lock file of the root, so an installed package does not have it. */
export const isClone = existsSync(join(root, "package-lock.json"));
export const bun = join(root, "node_modules", "bun", "bin", "bun.exe");
let heldLock;
let staging;

/** Ends the process with one sentence. */
export function giveUp(sentence) {
  if (heldLock !== undefined) rmSync(heldLock, { force: true });
  // A registry's token may be in it.
  if (staging !== undefined) rmSync(staging, { recursive: true, force: true });
  process.stderr.write(`error: ${sentence}\n`);
  process.exit(1);
}

export function checkMachine() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 20)
    giveUp(`svc gateway needs Node 20 or newer to install. This is Node ${process.versions.node}.`);
  const isKnown =
    ["linux", "darwin"].includes(process.platform) && ["x64", "arm64"].includes(process.arch);
  if (!isKnown)
    giveUp(
      `svc gateway runs on Linux and macOS (x64, arm64), not on ${process.platform} ${process.arch}. On Windows, use WSL.`,
    );
}

/** Installs only missing packages. Development tools stay once they are installed. */
export function ensureInstalled({ withTools }) {
  const isWhole = () => hasBun() && isComplete(root, withTools);
  underLock(root, isWhole, () => {
    const everything = withTools || (hasBun() && isComplete(root, true, "dev only"));
    const what = everything ? "dependencies and development tools" : "dependencies";
    npmInstall(root, what, [everything ? "--include=dev" : "--omit=dev"]);
    // With `ignore-scripts`, Bun's install step did not run. It puts the binary into place.
    if (!hasBun())
      spawnSync(process.execPath, [join(root, "node_modules", "bun", "install.js")], {
        cwd: join(root, "node_modules", "bun"),
        stdio: ["ignore", 2, 2],
      });
  });
}

/**
 * The embedded models' runtime libraries: a separate package, installed without its scripts. For an
 * installed package into `libraries`, outside of it, with a copy of the engine in `sources`.
 */
export function ensureEngineInstalled({ libraries, sources } = {}) {
  const engine = join(root, "engine");
  const folder = libraries ?? engine;
  const isWhole = () => isComplete(folder, false) && existsSync(sources ?? engine);
  if (libraries !== undefined) makeFolder(libraries);
  underLock(folder, isWhole, () => {
    if (libraries !== undefined) copyEngine({ engine, libraries, sources });
    if (isComplete(folder, false)) return;
    npmInstall(folder, "the embedded models' runtime", ["--omit=dev", "--ignore-scripts"]);
  });
}

function makeFolder(folder) {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    giveUp(`Cannot create ${folder}: ${error.message}. SVC_CACHE_DIR chooses another directory.`);
  }
}

/** The sources appear as a whole, by renaming. */
function copyEngine({ engine, libraries, sources }) {
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(engine, name), join(libraries, name));
  if (existsSync(sources)) return;
  const unfinished = `${sources}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(engine, unfinished, {
    recursive: true,
    filter: (path) => !path.startsWith(join(engine, "node_modules")),
  });
  renameSync(unfinished, sources);
}

/** What the console's bundle is made of: a separate package, which only building it needs. */
export function ensureConsoleInstalled() {
  const folder = join(root, "console");
  const isWhole = () => isComplete(folder, true);
  underLock(folder, isWhole, () =>
    npmInstall(folder, "what the console is made of", ["--include=dev", "--ignore-scripts"]),
  );
}

/** Starts an install beside the root's: "engine" or "console". A process that needs it waits at the lock. */
export function beginInstall(name) {
  if (isComplete(join(root, name), name === "console")) return;
  const script =
    name === "console"
      ? join(root, "scripts", "install-console.mjs")
      : join(root, "scripts", "install-engine.mjs");
  spawn(process.execPath, [script], { stdio: ["ignore", 2, 2] }).unref();
}

/** Bundles the console if its sources changed; false if that failed, with a message. */
export function ensureConsoleBuilt() {
  const words = [join(root, "console", "build.ts"), "--if-needed"];
  return spawnSync(bun, words, { cwd: root, stdio: ["ignore", 2, 2] }).status === 0;
}

/** Runs `install` unless `isWhole`, in one process at a time. */
export function underLock(folder, isWhole, install) {
  if (isWhole()) return;
  takeInstallLock(folder);
  try {
    if (!isWhole()) install();
    if (!isWhole())
      giveUp(
        `The dependencies are still incomplete after npm ci. Remove ${join(folder, "node_modules")} and try again.`,
      );
  } finally {
    rmSync(heldLock, { force: true });
    heldLock = undefined;
  }
}

/**
 * Installs exactly the lock file, with `npm ci`. That first removes node_modules, which a running
 * server still loads from. So it works in a separate folder, and the finished one replaces the old
 * one by renaming. An install that fails or is killed leaves everything unchanged.
 */
function npmInstall(folder, what, more) {
  process.stderr.write(`Installing ${what} (once) …\n`);
  // Left by an earlier install that was killed. This process holds the lock.
  staging = join(folder, ".install");
  rmSync(staging, { recursive: true, force: true });
  if (!isMovable(folder)) return npmCi(folder, more);
  mkdirSync(staging);
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(folder, name), join(staging, name));
  // The registry of the project: of the clone, or the one that the package is installed in.
  const settings = isClone ? join(folder, ".npmrc") : ".npmrc";
  if (existsSync(settings)) copyFileSync(settings, join(staging, ".npmrc"));
  npmCi(staging, more);
  const isMoved = replaceFolder({
    from: join(staging, "node_modules"),
    to: join(folder, "node_modules"),
    aside: join(staging, "previous"),
  });
  rmSync(staging, { recursive: true, force: true });
  if (!isMoved) npmCi(folder, more);
}

/** Local packages (folders or files) can only be resolved from the project itself. */
function isMovable(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  return Object.entries(packages).every(
    ([path, { link, resolved = "" }]) =>
      !link && !resolved.startsWith("file:") && (path === "" || path.startsWith("node_modules/")),
  );
}

/** False if it cannot be renamed, such as a mounted volume; nothing changes then. */
function replaceFolder({ from, to, aside }) {
  const isThere = existsSync(to);
  try {
    if (isThere) renameSync(to, aside);
  } catch {
    return false;
  }
  try {
    renameSync(from, to);
    return true;
  } catch {
    if (isThere) renameSync(aside, to);
    return false;
  }
}

function npmCi(folder, more) {
  const words = ["ci", "--no-audit", "--no-fund", "--loglevel=error", ...more];
  const npm = process.env.npm_execpath;
  const [command, first] = npm && /\.c?js$/.test(npm) ? [process.execPath, [npm]] : ["npm", []];
  // npm's output goes to stderr, so that the command's own output stays clean.
  const isInstalled = () => {
    const { status, error } = spawnSync(command, [...first, ...words], {
      cwd: folder,
      stdio: ["ignore", 2, 2],
    });
    if (error) giveUp(`Cannot start npm: ${error.message}`);
    return status === 0;
  };
  if (isInstalled()) return;
  // Most failures are the network's, and what was downloaded is in npm's cache.
  process.stderr.write("npm ci failed. Trying once more …\n");
  if (!isInstalled()) giveUp("npm ci failed twice. See its output above.");
}

/** Compares the lock file with npm's record of installed packages. */
function isComplete(folder, withTools, which) {
  const installedPath = join(folder, "node_modules", ".package-lock.json");
  const lockPath = join(folder, "package-lock.json");
  if (!existsSync(installedPath) || !existsSync(lockPath)) return false;
  const wanted = JSON.parse(readFileSync(lockPath, "utf8")).packages;
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
  try {
    while (!isTaken(lockPath)) {
      if (isLeft(lockPath)) removeLeft(lockPath);
      Atomics.wait(pause, 0, 0, 200);
    }
    heldLock = lockPath;
  } catch (error) {
    giveUp(`Cannot write to ${folder}: ${error.message}`);
  }
}

function isTaken(lockPath) {
  try {
    writeFileSync(lockPath, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Whether the process that took a lock has ended without removing it. A lock exists for a moment
 * before its holder's id is in it, so an empty one is left only if it is old.
 */
export function isLeft(lockPath) {
  try {
    const holder = readFileSync(lockPath, "utf8");
    return holder === "" ? isOld(lockPath) : !isAlive(Number(holder));
  } catch {
    return false;
  }
}

/** One process at a time: a second one could remove the lock that a third one has just taken. */
function removeLeft(lockPath) {
  const turnPath = `${lockPath}.removing`;
  if (!isTaken(turnPath)) {
    if (isLeft(turnPath)) rmSync(turnPath, { force: true });
    return;
  }
  try {
    if (isLeft(lockPath)) rmSync(lockPath, { force: true });
  } finally {
    rmSync(turnPath, { force: true });
  }
}

/** By its time, however the clock was set since. */
function isOld(path) {
  return Math.abs(Date.now() - statSync(path).mtimeMs) > 10_000;
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
