// Development tasks: node scripts/task.mjs dev | test | check | bench …; further arguments are passed on.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  beginEngineInstall,
  bun,
  checkMachine,
  ensureConsoleBuilt,
  ensureConsoleInstalled,
  ensureEngineInstalled,
  ensureInstalled,
  giveUp,
  root,
} from "./install.mjs";
import { run } from "./run.mjs";

const [task, ...words] = process.argv.slice(2);
const tool = (name) => join(root, "node_modules", ".bin", name);

/** The tiers of tests that the runner runs: each has folders of its own, and `test` has the rest. */
const tiers = {
  // One at a time: two models at once on few cores are slower than one after the other.
  engine: { paths: ["engine/test", "test/engine"], workers: 1 },
  browser: { paths: ["test/browser", "test/console"], workers: 2 },
  install: { paths: ["test/install"], workers: 1 },
  // With what needs more than npm.
  chaos: { paths: ["test/chaos", "test/recompute"], workers: 1 },
  deploy: { paths: ["test/deploy"], workers: 1 },
};

const guardFile = "bench/guard/run.ts";
/** If more files fail, the machine is not the reason. */
const mostRepeated = 5;

const tasks = {
  dev: () => {
    // Ends with us: it watches its parent as well.
    spawn(bun, [join(root, "console", "build.ts"), "--if-needed", "--watch"], {
      stdio: ["ignore", 2, 2],
    }).unref();
    run(bun, ["--no-env-file", "--watch", join(root, "src", "main.ts"), "serve", ...words]);
  },
  release: () => run(bun, [join(root, "scripts", "release", "run.ts"), ...words]),
  openapi: () => run(bun, [join(root, "scripts", "openapi.ts")]),
  "providers-docs": () => run(bun, [join(root, "scripts", "providers-docs.ts")]),
  "test-clients": () => run(bun, [join(root, "test", "clients", "run.ts"), ...words]),
  "test-fuzz": () => run(bun, [join(root, "test", "fuzz", "run.ts"), ...words]),
  "test-faults": async () => {
    if (words.length === 0 && !(await runTier("chaos")).isGreen) process.exit(1);
    run(bun, [join(root, "test", "faults", "run.ts"), ...words]);
  },
  "test-cluster": () => run(bun, [join(root, "test", "cluster", "run.ts"), ...words]),
  "test-upstreams": () => run(bun, [join(root, "test", "upstreams", "run.ts"), ...words]),
  bench: () => run(bun, [join(root, "bench", "run.ts"), ...words]),
  "bench-ablation": () => run(bun, [join(root, "bench", "ablation", "run.ts"), ...words]),
  "bench-compare": () => run(bun, [join(root, "bench", "compare", "run.ts"), ...words]),
  "bench-database": () => run(bun, [join(root, "bench", "database", "run.ts"), ...words]),
  "bench-dialects": () => run(bun, [join(root, "bench", "dialects", "run.ts"), ...words]),
  "bench-keys": () => run(bun, [join(root, "bench", "keys", "run.ts"), ...words]),
  "bench-memory": () => run(bun, [join(root, "bench", "memory", "run.ts"), ...words]),
  "bench-guard": () => run(bun, [join(root, "bench", "guard", "run.ts"), ...words]),
  "bench-overview": () => run(bun, [join(root, "bench", "overview", "run.ts"), ...words]),
  "bench-peers": () => run(bun, [join(root, "bench", "peers", "run.ts"), ...words]),
  "bench-providers": () => run(bun, [join(root, "bench", "providers", "run.ts"), ...words]),
  "bench-rejections": () => run(bun, [join(root, "bench", "rejections", "run.ts"), ...words]),
  "bench-telemetry": () => run(bun, [join(root, "bench", "telemetry", "run.ts"), ...words]),
  "fake-upstream": () => run(bun, [join(root, "test", "fake", "serve.ts"), ...words]),
  screenshots: () => run(bun, [join(root, "test", "console", "screenshots.ts"), ...words]),
  "check-speech": () =>
    run(bun, [join(root, "engine", "test", "speech", "check-speech.ts"), ...words]),
  format: () => step("format", tool("biome"), ["check", "--write", "."]),
  static: () => checkStatic(),
  test: async () => conclude([await runTier("test")]),
  "test-engine": async () => conclude([await runTier("engine")]),
  "test-browser": async () => conclude([await runTier("browser")]),
  "test-install": async () => conclude([await runTier("install")]),
  "test-deploy": async () => conclude([await runTier("deploy")]),
  ci: () => runCi(),
  "test-all": () => runAll(),
  check: async () => {
    await checkStatic();
    conclude([await runTier("test")]);
  },
};

checkMachine();
if (!Object.hasOwn(tasks, task))
  giveUp(`Unknown task "${task}". Tasks: ${Object.keys(tasks).join(", ")}.`);
// The types and the tests of the embedded models need their libraries.
const withoutEngine = [
  "dev",
  "openapi",
  "providers-docs",
  "test-fuzz",
  "test-faults",
  "test-cluster",
  "bench",
  "bench-compare",
  "bench-database",
  "bench-dialects",
  "bench-keys",
  "bench-memory",
  "bench-ablation",
  "bench-guard",
  "bench-overview",
  "bench-peers",
  "bench-providers",
  "bench-rejections",
  "bench-telemetry",
  "fake-upstream",
  "format",
  "screenshots",
  "test-install",
  "test-deploy",
  "release",
];
const isTypeScriptOnly = task === "test-clients" && /--only[ =]typescript/.test(words.join(" "));
const isEngineNeeded = !withoutEngine.includes(task) && !isTypeScriptOnly;
if (isEngineNeeded) beginEngineInstall();
ensureInstalled({ withTools: true });
if (isEngineNeeded) ensureEngineInstalled();
if (["static", "ci", "check"].includes(task)) ensureConsoleInstalled();
const withConsole = ["test", "test-engine", "test-browser", "ci", "check"];
if ([...withConsole, "bench", "bench-guard", "bench-peers"].includes(task) && !ensureConsoleBuilt())
  giveUp("The console build failed. See its output above.");
await tasks[task]();

/** All at once: each takes one core. Ends the process where one fails. */
async function checkStatic() {
  const checks = {
    format: ["biome", "check", "."],
    lint: ["oxlint", "--quiet"],
    // After the first time it checks what changed.
    types: ["tsc", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/tsc.json"],
    "dead code": ["knip"],
  };
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, [command, ...commandWords]]) => {
      const { status, output } = await runBuffered(tool(command), commandWords);
      process.stderr.write(`${name}: ${status === 0 ? "ok" : "failed"}\n`);
      return { status, output };
    }),
  );
  const failed = results.filter(({ status }) => status !== 0);
  for (const { output } of failed) process.stderr.write(output);
  if (failed.length > 0) process.exit(1);
}

function step(name, command, commandWords) {
  process.stderr.write(`${name} … `);
  const { status, stdout, stderr } = spawnSync(command, commandWords, {
    cwd: root,
    encoding: "utf8",
  });
  process.stderr.write(status === 0 ? "ok\n" : "failed\n");
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    process.exit(1);
  }
}

/** Its output comes whole, at its end: others may run beside it. */
async function runBuffered(command, commandWords, env = process.env) {
  const child = spawn(command, commandWords, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes) => chunks.push(bytes));
  const status = await new Promise((resolve) => child.once("close", resolve));
  return { status, output: Buffer.concat(chunks).toString("utf8") };
}

/**
 * What CI runs. The models get the machine to themselves: their threads wait for each other, so
 * beside other work they are several times slower. The guard of the bench comes last, alone.
 */
async function runCi() {
  await checkStatic();
  const results = [await runTier("test"), await runTier("engine")];
  const last = ["browser", "install"];
  results.push(...(await Promise.all(last.map((name) => runTier(name, { isBuffered: true })))));
  results.push(runGuard());
  conclude(await repeatFailed(results));
}

/**
 * A busy machine breaks a test now and then. What failed runs once more, alone; both runs are shown,
 * and a test that only passes then is named at the end, for someone to fix.
 */
async function repeatFailed(results) {
  const failures = results.flatMap((result) => result.failures);
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length === 0 || files.length > mostRepeated || files.includes(undefined))
    return results;
  process.stdout.write(`\n== what failed, once more: ${files.join(" ")}\n`);
  const tests = files.filter((file) => file !== guardFile);
  const again = [];
  if (tests.length > 0) again.push(await runTests({ files: tests, workers: 1 }));
  if (files.includes(guardFile)) again.push(runGuard());
  if (!again.every(({ isGreen }) => isGreen)) return results;
  const shown = failures.map(({ file, name }) => `  ${file}: ${name}\n`).join("");
  process.stdout.write(`\nPassed on the second run only:\n${shown}\n`);
  return results.map(({ passed, failed }) => ({
    passed: passed + failed,
    failed: 0,
    failures: [],
    isGreen: true,
  }));
}

/** Counts as one test. */
function runGuard() {
  process.stdout.write("\n== bench guard\n");
  const { status } = spawnSync(bun, [join(root, guardFile)], {
    cwd: root,
    stdio: "inherit",
    timeout: 300_000,
  });
  const isGreen = status === 0;
  const failures = isGreen ? [] : [{ file: guardFile, name: "above its limits, see the table" }];
  return { passed: isGreen ? 1 : 0, failed: failures.length, failures, isGreen };
}

function runTier(name, { isBuffered = false } = {}) {
  if (name !== "test") return runTests({ ...tiers[name], isBuffered });
  const others = Object.values(tiers).flatMap(({ paths }) => paths);
  // More than cores: many tests wait for a while, for a timeout or a browser.
  return runTests({ paths: ["."], without: others, workers: 3, isBuffered });
}

/** Ends the process. The last lines name what failed, and the total. */
function conclude(results) {
  const sum = (name) => results.reduce((total, result) => total + result[name], 0);
  const failures = results.flatMap((result) => result.failures);
  if (failures.length > 0)
    process.stdout.write(
      `\nFailed:\n${failures.map(({ file, name }) => `  ${file === undefined ? "" : `${file}: `}${name}\n`).join("")}\n`,
    );
  if (results.length > 1 || failures.length > 0)
    process.stdout.write(`${sum("passed")} passed, ${sum("failed")} failed\n`);
  process.exit(results.every(({ isGreen }) => isGreen) ? 0 : 1);
}

/** Runs every tier, even if an earlier one failed. */
function runAll() {
  const names = [
    "test",
    "engine",
    "browser",
    "install",
    "faults",
    "fuzz",
    "clients",
    "upstreams",
    "deploy",
  ];
  const results = names.map((name) => {
    const script = name === "test" ? "test" : `test-${name}`;
    process.stdout.write(`\n== ${name}\n`);
    const { status } = spawnSync(process.execPath, [join(root, "scripts", "task.mjs"), script], {
      cwd: root,
      stdio: "inherit",
    });
    return { name, isGreen: status === 0 };
  });
  process.stdout.write("\n");
  for (const { name, isGreen } of results)
    process.stdout.write(`${isGreen ? "passed" : "FAILED"}  ${name}\n`);
  process.exit(results.every(({ isGreen }) => isGreen) ? 0 : 1);
}

/**
 * Runs test files and ends with the line `N passed, N failed`, which CI reads. Files share worker
 * processes, so that imports are loaded and compiled once per worker.
 */
async function runTests({ paths = [], files: named = words, without = [], workers, isBuffered }) {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  const report = join(folder, "junit.xml");
  const commandWords = [
    "test",
    "--timeout=300000",
    "--dots",
    `--parallel=${workers}`,
    "--no-isolate",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    // A file that is named runs, whatever tier it is of.
    ...(named.length > 0
      ? named
      : [
          ...without.map((path) => `--path-ignore-patterns=${path}/**`),
          ...paths.map((path) => `./${path}/`),
        ]),
  ];
  // With CI set, a test that someone focused and forgot is an error.
  const env = { ...process.env, ...(words.length > 0 ? {} : { CI: "1" }) };
  const { status, output } = isBuffered
    ? await runBuffered(bun, commandWords, env)
    : spawnSync(bun, commandWords, { cwd: root, env, stdio: "inherit" });
  if (isBuffered) process.stdout.write(`\n== ${paths[0]}\n${output}`);
  const { passed, failed: counted, files, failures } = readReport(report);
  rmSync(folder, { recursive: true });
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  if (files.length > 1)
    process.stdout.write(
      `Slowest files:\n${slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}\n`).join("")}`,
    );
  const isGreen = status === 0 && counted === 0 && passed > 0;
  // A run that ended early, or a file that does not load, is missing from the report.
  const failed = isGreen ? 0 : Math.max(counted, 1);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  if (failed > failures.length)
    failures.push({ file: undefined, name: "a file did not load, or the run ended early" });
  return { passed, failed, failures, isGreen };
}

function readReport(path) {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    // The runner ended before it wrote one; its exit code shows that.
  }
  const attribute = (tag, name) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const head = /<testsuites [^>]*>/.exec(text)?.[0] ?? "";
  const count = (name) => Number(attribute(head, name));
  const failed = count("failures") + count("errors");
  // A suite of a file has the file's name; `describe` blocks are suites inside of it.
  const files = [...text.matchAll(/<testsuite [^>]*>/g)]
    .map(([tag]) => ({
      name: attribute(tag, "name"),
      file: attribute(tag, "file"),
      seconds: Number(attribute(tag, "time")),
    }))
    .filter(({ name, file }) => name === file);
  const failures = [...text.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)/g)].map(
    ([, tag]) => ({
      file: unescapeXml(attribute(` ${tag}`, "file")),
      name: unescapeXml(attribute(` ${tag}`, "name")),
    }),
  );
  return { passed: count("tests") - failed - count("skipped"), failed, files, failures };
}

function unescapeXml(text) {
  const characters = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => characters[name]);
}
