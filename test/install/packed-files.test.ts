import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

const root = join(import.meta.dir, "..", "..");
const packed = new Set(listPackage());

/** What npm would pack, but for the files that `npm pack` writes first. */
function listPackage(): readonly string[] {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    ["npm", "pack", "--dry-run", "--json", "--ignore-scripts"],
    { cwd: root },
  );
  if (exitCode !== 0) throw new Error(stderr.toString());
  const report: unknown = JSON.parse(stdout.toString());
  // Versions of npm differ: a list, or an object by the package's name.
  const [entry] = Object.values(report as Record<string, { files: readonly { path: string }[] }>);
  return entry?.files.map(({ path }) => path) ?? [];
}

/** Files that a process is started with; workers and other entries are found in the code. */
const entries = [
  ...Object.values(packageJson.bin),
  "scripts/install-engine.mjs",
  "src/main.ts",
  "engine/host.ts",
  "engine/server/server.ts",
  "engine/weights/main.ts",
];
/** What a clone alone has or does. */
const ofClones = new Set([
  "package-lock.json",
  "console",
  "console/build.ts",
  "scripts/install-console.mjs",
  "svc",
]);
/** Built before it is packed. */
const built = "console/dist";

interface Reading {
  /** Files and folders that the code names by a path. */
  readonly paths: readonly string[];
  /** Modules that it imports at run time. */
  readonly modules: readonly string[];
  /** Places that name our folder in a way that this test does not understand. */
  readonly unclear: readonly string[];
}

const base = String.raw`(?:import\.meta\.dir|projectDir|root|engine)`;
const joined = new RegExp(
  String.raw`(?:join|resolve)\(\s*(${base})((?:,\s*"[^"]*")*)(,\s*[^")\s])?`,
  "g",
);

/** What a file reads and imports, by its text. */
function readingOf(path: string): Reading {
  const whole = readFileSync(join(root, path), "utf8").replace(/^#!.*/, "");
  const text = whole.replaceAll(/^\s*(\/\/.*$|\/\*[\s\S]*?\*\/)/gm, "");
  const transpiler = new Bun.Transpiler({ loader: path.endsWith(".ts") ? "ts" : "js" });
  const imports = path.endsWith(".json") ? [] : transpiler.scanImports(whole);
  const places = [...text.matchAll(joined)].map(([, from = "", words = ""]) => {
    const literals = [...words.matchAll(/"([^"]*)"/g)].map(([, word = ""]) => word);
    const start = from === "import.meta.dir" ? dirname(path) : from === "engine" ? "engine" : "";
    return normalize(join(start, ...literals));
  });
  const urls = [...text.matchAll(/new URL\("(\.[^"]+)", import\.meta\.url\)/g)];
  const all = [...text.matchAll(/import\.meta\.(?:dir|url)/g)].length;
  const understood = [
    ...text.matchAll(joined),
    ...urls,
    ...text.matchAll(/(?:createRequire|fileURLToPath)\(import\.meta\.url\)/g),
  ].filter(([match]) => match.includes("import.meta")).length;
  return {
    paths: [
      ...places,
      ...urls.map(([, url = ""]) => normalize(join(dirname(path), url))),
      ...imports
        .filter((one) => one.path.startsWith("."))
        .map((one) => normalize(join(dirname(path), one.path))),
    ],
    modules: imports.map((one) => one.path).filter((name) => !/^(\.|node:|bun(:|$))/.test(name)),
    unclear: all === understood ? [] : [path],
  };
}

/** Everything that runs, from the entries on. */
const readings = new Map<string, Reading>();
const pending = [...entries];
for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
  if (readings.has(path)) continue;
  const reading = readingOf(path);
  readings.set(path, reading);
  pending.push(
    ...reading.paths.filter(
      (one) => /\.(ts|mjs)$/.test(one) && !ofClones.has(one) && existsSync(join(root, one)),
    ),
  );
}

/** A file, or all files of a folder that can be there in a package. */
function filesOf(path: string): readonly string[] {
  const full = join(root, path);
  if (!existsSync(full) || !statSync(full).isDirectory()) return [path];
  return readdirSync(full, { withFileTypes: true }).flatMap(({ name }) =>
    name === "node_modules" || name === "test" || name.startsWith(".")
      ? []
      : filesOf(join(path, name)),
  );
}
const isForReaders = (path: string) => /\.test\.ts$|(^|\/)README\.md$/.test(path);

test("the package has every file that the running code imports or reads by its path", () => {
  expect(readings.size).toBeGreaterThan(500);
  const missing = [...readings].flatMap(([from, { paths }]) =>
    paths
      .filter((path) => path !== "." && !ofClones.has(path) && !path.startsWith("node_modules"))
      .filter((path) => path !== built && !/(^|\/)node_modules(\/|$)/.test(path))
      .flatMap(filesOf)
      .filter((path) => !isForReaders(path) && !packed.has(path))
      .map((path) => `${from} needs ${path}`),
  );
  expect(missing).toEqual([]);
  expect(packageJson.files).toContain(built);
});

test("every path in the running code is of a form that the test above understands", () => {
  expect([...readings.values()].flatMap(({ unclear }) => unclear)).toEqual([]);
});

test("the running code imports dependencies of the package, and no development tools", () => {
  const engineJson = JSON.parse(readFileSync(join(root, "engine/package.json"), "utf8"));
  const engineDependencies = { ...engineJson.dependencies, ...engineJson.optionalDependencies };
  const wrong = [...readings].flatMap(([path, { modules }]) => {
    const known = path.startsWith("engine/") ? engineDependencies : packageJson.dependencies;
    return modules
      .filter((name) => !Object.keys(known).some((one) => `${name}/`.startsWith(`${one}/`)))
      .map((name) => `${path} imports ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("the package has every page of the documentation that a message names", () => {
  const named = [...readings.keys()].flatMap((path) => [
    ...readFileSync(join(root, path), "utf8").matchAll(/docs\/[\w/-]+\.(?:md|yaml|json|py)/g),
  ]);
  expect(named.length).toBeGreaterThan(5);
  expect(named.map(([path]) => path).filter((path) => !packed.has(path))).toEqual([]);
});

test("every relative link and picture in the pages of the package is in the package", () => {
  const folders = new Set<string>();
  for (const path of packed)
    for (let at = dirname(path); at !== "."; at = dirname(at)) folders.add(at);
  const pages = [...packed].filter((path) => path.endsWith(".md"));
  const links = pages.flatMap((page) =>
    Array.from(readFileSync(join(root, page), "utf8").matchAll(linkForm), ([, to = ""]) => ({
      page,
      to: normalize(join(dirname(page), to)).replace(/\/$/, ""),
    })),
  );
  expect(links.length).toBeGreaterThan(400);
  expect(links.filter(({ to }) => to.endsWith(".png")).length).toBeGreaterThan(5);
  const broken = links
    .filter(({ to }) => !packed.has(to) && !folders.has(to))
    .map(({ page, to }) => `${page} links to ${to}`);
  expect(broken).toEqual([]);
});

/** Of Markdown, to another file; addresses have a colon. */
const linkForm = /\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g;

test("the package has no test, no fixture, no secret and nothing of this machine", () => {
  const tests = /\.test\.ts$|(^|\/)(test|fixtures|bench|node_modules|\.(?!helmignore$)[^/]+)(\/|$)/;
  const secrets = /(^|\/)(svc\.yaml|secret)$|\.(env|pem|key|crt|db|log|tgz|backup)$/;
  const wrong = [...packed]
    .filter((path) => path !== "bench/README.md")
    .filter((path) => tests.test(path) || secrets.test(path));
  expect(wrong).toEqual([]);
  const ignored = Bun.spawnSync(["git", "check-ignore", "--no-index", "--stdin"], {
    cwd: root,
    stdin: Buffer.from([...packed].join("\n")),
  });
  const written = ignored.stdout.toString().split("\n").filter(Boolean);
  // A program that is left over from a build, or notes of its owner, would be in this list.
  expect(written.filter((path) => relative(built, path).startsWith(".."))).toEqual([]);
});
