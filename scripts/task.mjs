// The tasks of development: node scripts/task.mjs dev | test | check | bench …, with further words passed on.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bun,
  checkMachine,
  ensureConsoleBuilt,
  ensureEngineInstalled,
  ensureInstalled,
  giveUp,
  root,
} from "./install.mjs";
import { run } from "./run.mjs";

const [task, ...words] = process.argv.slice(2);
const tool = (name) => join(root, "node_modules", ".bin", name);

const tasks = {
  dev: () => {
    // Ends with us: it watches its parent as well.
    spawn(bun, [join(root, "console", "build.ts"), "--if-needed", "--watch"], {
      stdio: ["ignore", 2, 2],
    }).unref();
    run(bun, ["--no-env-file", "--watch", join(root, "src", "main.ts"), "serve", ...words]);
  },
  openapi: () => run(bun, [join(root, "scripts", "openapi.ts")]),
  "providers-docs": () => run(bun, [join(root, "scripts", "providers-docs.ts")]),
  "test-clients": () => run(bun, [join(root, "test", "clients", "run.ts"), ...words]),
  "test-fuzz": () => run(bun, [join(root, "test", "fuzz", "run.ts"), ...words]),
  "test-faults": () => run(bun, [join(root, "test", "faults", "run.ts"), ...words]),
  "test-upstreams": () => run(bun, [join(root, "test", "upstreams", "run.ts"), ...words]),
  bench: () => run(bun, [join(root, "bench", "run.ts"), ...words]),
  "bench-overview": () => run(bun, [join(root, "bench", "overview", "run.ts"), ...words]),
  "bench-engine": () => run(bun, [join(root, "bench", "engine", "run.ts"), ...words]),
  "bench-providers": () => run(bun, [join(root, "bench", "providers", "run.ts"), ...words]),
  "fake-upstream": () => run(bun, [join(root, "test", "fake", "serve.ts"), ...words]),
  screenshots: () => run(bun, [join(root, "test", "console", "screenshots.ts"), ...words]),
  "check-speech": () =>
    run(bun, [join(root, "engine", "test", "speech", "check-speech.ts"), ...words]),
  format: () => step("format", tool("biome"), ["check", "--write", "."]),
  static: () => checkStatic(),
  test: () => process.exit(runTests() ? 0 : 1),
  check: () => {
    checkStatic();
    process.exit(runTests() ? 0 : 1);
  },
};

checkMachine();
if (!Object.hasOwn(tasks, task))
  giveUp(`There is no task "${task}"; there are: ${Object.keys(tasks).join(", ")}.`);
// It measures installing: nothing is fetched before it but what it runs on itself.
ensureInstalled({ withTools: task !== "bench-engine" });
// The types and the tests of the embedded models need their libraries.
const withoutEngine = [
  "dev",
  "openapi",
  "providers-docs",
  "test-fuzz",
  "test-faults",
  "bench",
  "bench-overview",
  "bench-engine",
  "bench-providers",
  "fake-upstream",
  "format",
  "screenshots",
];
if (!withoutEngine.includes(task)) ensureEngineInstalled();
if (["test", "check", "bench"].includes(task) && !ensureConsoleBuilt())
  giveUp("The console was not built; the message is above.");
tasks[task]();

function checkStatic() {
  step("format", tool("biome"), ["check", "."]);
  step("lint", tool("oxlint"), ["--quiet"]);
  step("types", tool("tsc"), []);
  step("dead code", tool("knip"), []);
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

/** Runs the tests and ends with the one line that machines read: `N passed, N failed`. */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  const report = join(folder, "junit.xml");
  const { status } = spawnSync(
    bun,
    [
      "test",
      "--timeout=60000",
      "--dots",
      // Each file in a process of its own. Many of them wait most of the time; more of those with
      // embedded models at once would need too much memory.
      "--parallel=3",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...words,
    ],
    { cwd: root, stdio: "inherit" },
  );
  const counts = readCounts(report);
  rmSync(folder, { recursive: true });
  // A file that does not load is no failed test for the runner's report, but it is for us.
  const failed = counts.failed === 0 && status !== 0 ? 1 : counts.failed;
  process.stdout.write(`${counts.passed} passed, ${failed} failed\n`);
  return status === 0 && counts.passed > 0;
}

function readCounts(report) {
  try {
    const head = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "";
    const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
    const failed = count("failures") + count("errors");
    return { passed: count("tests") - failed - count("skipped"), failed };
  } catch {
    return { passed: 0, failed: 0 };
  }
}
