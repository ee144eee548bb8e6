import { afterAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");
const clone = mkdtempSync(join(tmpdir(), "svc-install-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));
cpSync(join(root, "scripts"), join(clone, "scripts"), { recursive: true });

async function run(
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const child = Bun.spawn(["node", ...words], {
    cwd: clone,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, npm_execpath: "", NODE_ENV: "production" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

test("only one process at a time installs, however many start at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-lock-"));
  const takeTurns = `import("./scripts/install.mjs").then(({ underLock }) => {
    const { mkdirSync, rmdirSync } = require("node:fs");
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let turn = 0; turn < 100; turn++) {
      let isDone = false;
      underLock(${JSON.stringify(folder)}, () => isDone, () => {
        mkdirSync(${JSON.stringify(join(folder, "busy"))});
        rmdirSync(${JSON.stringify(join(folder, "busy"))});
        isDone = true;
      });
      // Without it, one process would take all of its turns while the others wait.
      Atomics.wait(pause, 0, 0, Math.random() * 2);
    }
  })`;
  try {
    // Left by a process that was killed: all of them find it first.
    writeFileSync(join(folder, ".install.lock"), "999999999");
    const ended = await Promise.all(Array.from({ length: 6 }, () => run("-e", takeTurns)));
    for (const { code, err } of ended) expect([code, err]).toEqual([0, ""]);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a lock is left if its process has ended, or if it stays empty", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-lock-"));
  const lock = (name: string, holder: string, ageSeconds: number) => {
    const path = join(folder, name);
    writeFileSync(path, holder);
    const time = Date.now() / 1000 - ageSeconds;
    utimesSync(path, time, time);
    return path;
  };
  const paths = [
    lock("running", String(process.pid), 3600),
    lock("new", "", 0),
    lock("ended", "999999999", 0),
    lock("left empty", "", 60),
    lock("left empty before the clock was set back", "", -3600),
    join(folder, "missing"),
  ];
  try {
    const { out } = await run(
      "-e",
      `import("./scripts/install.mjs").then(({ isLeft }) => console.log(${JSON.stringify(paths)}.map((path) => isLeft(path)).join()))`,
    );
    expect(out).toBe("false,false,true,true,true,false\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the command works through links, absolute and relative", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-link-"));
  try {
    mkdirSync(join(folder, "bin"));
    mkdirSync(join(folder, "a clone", "scripts"), { recursive: true });
    cpSync(join(root, "svc"), join(folder, "a clone", "svc"));
    writeFileSync(
      join(folder, "a clone", "scripts", "svc.mjs"),
      "console.log(process.argv.slice(2).join());",
    );
    symlinkSync(join(folder, "a clone", "svc"), join(folder, "absolute"));
    symlinkSync("../absolute", join(folder, "bin", "svc"));
    for (const file of ["a clone/svc", "absolute", "bin/svc"]) {
      const child = Bun.spawnSync([join(folder, file), "a", "b c"], { cwd: tmpdir() });
      expect([file, child.stdout.toString()]).toEqual([file, "a,b c\n"]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a machine that cannot run it is told so in one sentence", async () => {
  const on = (change: string) =>
    run(
      "-e",
      `${change}; import("./scripts/install.mjs").then((install) => install.checkMachine())`,
    );
  const old = await on('Object.defineProperty(process.versions, "node", { value: "18.19.0" })');
  expect([old.code, old.err]).toEqual([
    1,
    "error: svc gateway needs Node 20 or newer to install. This is Node 18.19.0.\n",
  ]);
  const windows = await on('Object.defineProperty(process, "platform", { value: "win32" })');
  expect(windows.code).toBe(1);
  expect(windows.err).toMatch(/^error: .*not on win32 .*use WSL\.\n$/);
});

describe("where a package has changed", () => {
  const place = mkdtempSync(join(tmpdir(), "svc-install-again-"));
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  const inPlace = (...path: string[]) => join(place, ...path);
  const lockOf = (version: string) =>
    JSON.stringify({
      packages: {
        "": {},
        "node_modules/bun": { version: "1" },
        "node_modules/a": { version },
        "node_modules/tool": { version: "1", dev: true },
      },
    });
  const wantVersion = (version: string) => {
    writeFileSync(inPlace("package-lock.json"), lockOf(version));
    writeFileSync(inPlace("engine", "package-lock.json"), lockOf(version));
  };

  /** In npm's place: says what it was asked and what a server would find meanwhile. */
  const npm = `
    const fs = require("node:fs");
    const { join } = require("node:path");
    const project = process.env.TEST_PROJECT;
    const used = join(project, "node_modules", "a", "version");
    fs.appendFileSync(process.env.TEST_CALLS, JSON.stringify({
      words: process.argv.slice(2),
      isApart: process.cwd() !== fs.realpathSync(project),
      has: fs.readdirSync(".").toSorted(),
      inUse: fs.existsSync(used) ? fs.readFileSync(used, "utf8") : null,
    }) + "\\n");
    const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
    if (process.argv.includes("--omit=dev")) delete lock.packages["node_modules/tool"];
    fs.mkdirSync("node_modules/bun/bin", { recursive: true });
    fs.mkdirSync("node_modules/a", { recursive: true });
    fs.writeFileSync("node_modules/bun/bin/bun.exe", Buffer.alloc(1_100_000));
    fs.writeFileSync("node_modules/a/version", lock.packages["node_modules/a"].version);
    const calls = fs.readFileSync(process.env.TEST_CALLS, "utf8").trim().split("\\n").length;
    if (calls <= Number(process.env.TEST_FAILURES)) process.exit(1);
    fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify(lock));
  `;
  cpSync(join(root, "scripts"), inPlace("scripts"), { recursive: true });
  mkdirSync(inPlace("engine"));
  for (const folder of [".", "engine"]) {
    writeFileSync(inPlace(folder, "package.json"), "{}");
    writeFileSync(inPlace(folder, ".npmrc"), "save-exact=true");
  }
  writeFileSync(inPlace("npm.cjs"), npm);

  async function ensure(
    what: "ensureInstalled" | "ensureEngineInstalled",
    options: { readonly failures?: number; readonly withTools?: boolean } = {},
  ) {
    const calls = inPlace("calls");
    rmSync(calls, { force: true });
    const script = `import("./scripts/install.mjs").then((install) => install.${what}({ withTools: ${options.withTools ?? false} }))`;
    const child = Bun.spawn(["node", "-e", script], {
      cwd: place,
      stderr: "pipe",
      env: {
        ...process.env,
        npm_execpath: inPlace("npm.cjs"),
        TEST_PROJECT: what === "ensureInstalled" ? place : inPlace("engine"),
        TEST_CALLS: calls,
        TEST_FAILURES: String(options.failures ?? 0),
      },
    });
    const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    const text = existsSync(calls) ? readFileSync(calls, "utf8") : "";
    return {
      code,
      err,
      calls: text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  }
  const installed = (folder = ".") =>
    readFileSync(inPlace(folder, "node_modules", "a", "version"), "utf8");

  test("npm ci installs exactly the lock file, apart, and what is in use stays until it is whole", async () => {
    wantVersion("1");
    const first = await ensure("ensureInstalled");
    expect([first.code, installed()]).toEqual([0, "1"]);
    expect((await ensure("ensureInstalled")).calls).toEqual([]);
    wantVersion("2");
    const { code, calls } = await ensure("ensureInstalled");
    expect([code, installed()]).toEqual([0, "2"]);
    expect(calls).toEqual([
      {
        words: ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--omit=dev"],
        isApart: true,
        has: [".npmrc", "package-lock.json", "package.json"],
        inUse: "1",
      },
    ]);
    expect(existsSync(inPlace(".install"))).toBe(false);
  });

  test("the engine's packages come in the same way, and none of their scripts runs", async () => {
    wantVersion("1");
    await ensure("ensureEngineInstalled");
    wantVersion("2");
    const { calls } = await ensure("ensureEngineInstalled");
    expect(calls[0]).toMatchObject({ isApart: true, inUse: "1" });
    expect(calls[0].words).toContain("--ignore-scripts");
    expect(installed("engine")).toBe("2");
  });

  test("an install that fails leaves what was there, and the next one begins afresh", async () => {
    wantVersion("3");
    const failed = await ensure("ensureInstalled", { failures: 2 });
    expect([failed.code, installed()]).toEqual([1, "2"]);
    expect(failed.err).toContain("error: npm ci failed twice. See its output above.");
    expect(existsSync(inPlace(".install.lock"))).toBe(false);
    const { calls } = await ensure("ensureInstalled");
    expect(calls[0].has).not.toContain("node_modules");
    expect(installed()).toBe("3");
  });

  test("an install that fails once is tried again", async () => {
    wantVersion("3.1");
    const { code, err, calls } = await ensure("ensureInstalled", { failures: 1 });
    expect([code, calls.length, installed()]).toEqual([0, 2, "3.1"]);
    expect(err).toContain("npm ci failed. Trying once more …");
  });

  test("development tools come when they are wanted, and stay when a start installs again", async () => {
    wantVersion("3.2");
    const words = async (withTools: boolean) =>
      (await ensure("ensureInstalled", { withTools })).calls.map((call) => call.words.at(-1));
    expect(await words(false)).toEqual(["--omit=dev"]);
    expect(await words(true)).toEqual(["--include=dev"]);
    expect(await words(false)).toEqual([]);
    const notes = inPlace("node_modules", ".package-lock.json");
    const noted = JSON.parse(readFileSync(notes, "utf8"));
    delete noted.packages["node_modules/a"];
    writeFileSync(notes, JSON.stringify(noted));
    expect(await words(false)).toEqual(["--include=dev"]);
  });

  test("packages that are shared by a link are left to those who share them", async () => {
    const shared = inPlace("shared");
    cpSync(inPlace("node_modules"), shared, { recursive: true });
    rmSync(inPlace("node_modules"), { recursive: true });
    symlinkSync(shared, inPlace("node_modules"));
    wantVersion("4");
    expect((await ensure("ensureInstalled")).code).toBe(0);
    expect([installed(), readFileSync(join(shared, "a", "version"), "utf8")]).toEqual(["4", "3.2"]);
  });

  test("packages that are folders beside the project are installed where they can be found", async () => {
    const lock = JSON.parse(lockOf("6"));
    lock.packages["node_modules/beside"] = { resolved: "beside", link: true };
    lock.packages["beside"] = { version: "1" };
    writeFileSync(inPlace("package-lock.json"), JSON.stringify(lock));
    const { calls } = await ensure("ensureInstalled");
    expect(calls[0]).toMatchObject({ isApart: false });
    expect(installed()).toBe("6");
  });

  test("two starts at once install once", async () => {
    wantVersion("7");
    const both = await Promise.all([ensure("ensureInstalled"), ensure("ensureInstalled")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ err }) => err.includes("Installing")).length).toBe(1);
    expect(installed()).toBe("7");
  });
});
