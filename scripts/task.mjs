// Development tasks: node scripts/task.mjs dev | test | check | bench …; further arguments are passed on.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import {
  beginInstall,
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

const runTests = (tier) => run(bun, [join(root, "scripts", "tests", "run.ts"), tier, ...words]);

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
  "test-faults": () => {
    const chaos = [join(root, "scripts", "tests", "run.ts"), "chaos"];
    if (words.length === 0 && spawnSync(bun, chaos, { stdio: "inherit" }).status !== 0)
      process.exit(1);
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
  format: () => run(tool("biome"), ["check", "--write", "."]),
  static: () => runTests("static"),
  test: () => runTests("test"),
  "test-engine": () => runTests("engine"),
  "test-browser": () => runTests("browser"),
  "test-install": () => runTests("install"),
  "test-processes": () => runTests("processes"),
  "test-postgres": () => runTests("postgres"),
  "test-deploy": () => runTests("deploy"),
  "test-mutants": () => run(bun, [join(root, "test", "mutants", "run.ts"), ...words]),
  ci: () => runTests("ci"),
  check: () => runTests("check"),
  "test-all": () => runAll(),
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
  "test-processes",
  "test-postgres",
  "test-mutants",
  "release",
];
const isTypeScriptOnly = task === "test-clients" && /--only[ =]typescript/.test(words.join(" "));
const isEngineNeeded = !withoutEngine.includes(task) && !isTypeScriptOnly;
const isStatic = ["static", "ci", "check"].includes(task);
const testsOfConsole = ["test", "test-engine", "test-browser", "test-processes"];
const benchesOfConsole = ["bench", "bench-guard", "bench-peers"];
const isConsoleNeeded = isStatic || [...testsOfConsole, ...benchesOfConsole].includes(task);
if (isConsoleNeeded) beginInstall("console");
if (isEngineNeeded) beginInstall("engine");
ensureInstalled({ withTools: true });
if (isConsoleNeeded && !ensureConsoleBuilt())
  giveUp("The console build failed. See its output above.");
if (isStatic) ensureConsoleInstalled();
if (isEngineNeeded) ensureEngineInstalled();
tasks[task]();

/** Runs every tier, even if an earlier one failed. */
function runAll() {
  const names = [
    "test",
    "postgres",
    "processes",
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
