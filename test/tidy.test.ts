import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf } from "../scripts/tests/imports.ts";

/** The rules of the house that a reviewer would otherwise have to keep in mind. */
const root = join(import.meta.dir, "..");
const notOurs = new Set([
  "node_modules",
  ".git",
  ".svc",
  ".env",
  "svc.yaml",
  ".install.lock",
  ".install",
  "dist",
  ".clients",
  ".fuzz",
  ".deploy",
]);
const isOurs = (path: string) => !path.split("/").some((name) => notOurs.has(name));
const tracked = readdirSync(root)
  .filter((name) => !notOurs.has(name))
  .flatMap((name) =>
    statSync(join(root, name)).isDirectory()
      ? readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((path) =>
          join(name, path),
        )
      : [name],
  )
  .filter((path) => isOurs(path) && statSync(join(root, path)).isFile());
const read = (path: string) => readFileSync(join(root, path), "utf8");
const sources = tracked.filter((path) => /\.(ts|tsx|mjs)$/.test(path));
const texts = tracked.filter((path) => path.endsWith(".md"));

/** What each folder of src may import, besides itself. The composition root may import anything. */
const domains = [
  "catalog",
  "exports",
  "fleet",
  "keys",
  "limits",
  "ledger",
  "people",
  "rejections",
  "responses",
];
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  config: ["base"],
  secrets: ["base"],
  backup: ["base"],
  call: ["base"],
  wire: ["base", "call"],
  media: ["base", "call"],
  catalog: ["base", "call"],
  exports: ["base"],
  fleet: ["base"],
  keys: ["base", "call"],
  limits: ["base", "call"],
  ledger: ["base", "call"],
  people: ["base"],
  mail: ["base"],
  rejections: ["base", "call"],
  responses: ["base", "call"],
  providers: ["base", "call"],
  router: ["base", "call", ...domains, "providers/contract.ts"],
  manifest: ["base", "call", "secrets", ...domains],
  gateway: ["base", "call", "wire", "media", "router", ...domains],
  // It publishes what describes the contract, and knows no more of it.
  platform: [
    "base",
    "call",
    "secrets",
    "mail",
    "manifest",
    "wire/changes.ts",
    "wire/v1/openapi/openapi.ts",
    ...domains,
  ],
  store: ["base", "call", "secrets", ...domains],
  telemetry: ["base", "call", ...domains],
  engine: ["base", "call", "config", "catalog", "providers"],
  cli: [
    "base",
    "call",
    "config",
    "catalog",
    "fleet",
    "ledger",
    "manifest",
    "media",
    "platform",
    "engine",
    "wire/changes.ts",
  ],
};
const compositionRoot = ["src/main.ts", "src/app/"];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Of types, too. */
const allImports: readonly Import[] = sources.flatMap((from) =>
  importsOf(from).map((to) => ({ from, to })),
);
const imports = allImports.filter(
  ({ from }) =>
    from.startsWith("src/") &&
    !compositionRoot.some((root) => from.startsWith(root)) &&
    !from.endsWith(".test.ts"),
);

test("there are imports to hold to the rules", () => {
  expect(imports.length).toBeGreaterThan(100);
});

test("imports point one way", () => {
  const wrong = imports.filter(({ from, to }) => {
    const folder = from.split("/")[1] ?? "";
    const target = to.replace(/^src\//, "");
    const mayImport = [folder, ...(allowed[folder] ?? [])];
    return !mayImport.some((name) => target === name || target.startsWith(`${name}/`));
  });
  expect(wrong).toEqual([]);
});

test("no file imports itself by way of others, not even for types", () => {
  const targets = Map.groupBy(allImports, ({ from }) => from);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) {
      cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      return;
    }
    if (done.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  expect(cycles).toEqual([]);
});

const platformFolder = (path: string) => /^src\/platform\/([^/]+)\//.exec(path)?.[1];

test("the platform's HTTP kit knows no resource", () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      platformFolder(from) === "http" &&
      to.startsWith("src/platform/") &&
      platformFolder(to) !== "http",
  );
  expect(wrong).toEqual([]);
});

/** The list may only shrink. */
const operationImports: readonly string[] = [];

test("resources do not import each other's operations", () => {
  const between = imports
    .filter(({ from, to }) => {
      const [one, other] = [platformFolder(from), platformFolder(to)];
      const isForeign = one !== undefined && other !== undefined && one !== other;
      return isForeign && /\/(operations|entries|connect|lifecycle)\.ts$/.test(to);
    })
    .map(({ from, to }) => `${from} ${to}`.replaceAll("src/platform/", ""));
  expect(between.toSorted()).toEqual([...operationImports]);
});

test("every folder of src has rules and a README", () => {
  const folders = [
    ...new Set(
      sources
        .filter((path) => path.split("/").length > 2 && path.startsWith("src/"))
        .map((path) => path.split("/")[1] ?? ""),
    ),
  ];
  expect(
    folders.filter(
      (folder) =>
        (folder !== "app" && allowed[folder] === undefined) ||
        !existsSync(join(root, "src", folder, "README.md")),
    ),
  ).toEqual([]);
});

test("only config reads the environment", () => {
  const readers = sources.filter(
    (path) =>
      path.startsWith("src/") &&
      !path.endsWith(".test.ts") &&
      /process\.env|Bun\.env|import\.meta\.env/.test(read(path)),
  );
  expect(readers.filter((path) => !path.startsWith("src/config/"))).toEqual([]);
});

test("files fit in 400 lines", () => {
  expect(sources.filter((path) => read(path).split("\n").length > 401)).toEqual([]);
});

test("functions fit on a screen", () => {
  const long = sources.flatMap((path) => {
    const lines = read(path).split("\n");
    return lines.flatMap((line, at) => {
      const opens =
        /^(\s*)(?:export )?(?:async )?(?:function\b|(?:const|static|get|set|override|async|#?\w+\()).*\{$/.exec(
          line,
        );
      if (
        opens === null ||
        /^\s*(describe|class|export class|interface|export interface|if|for|while|switch)\b|^\s*(export )?const \w+(: [^=]+)? = \{$/.test(
          line,
        )
      )
        return [];
      const end = lines.findIndex((other, index) => index > at && other.startsWith(`${opens[1]}}`));
      return end - at > 75 ? [`${path}:${at + 1} (${end - at} lines)`] : [];
    });
  });
  expect(long.filter((where) => !where.startsWith("test/store/contract.ts"))).toEqual([]);
});

test("nothing is left to do, skipped or switched off", () => {
  const marks =
    /\b(TODO|FIXME|XXX|HACK)\b|\b(test|describe|it)\.(skip|todo|only|failing)\b|@ts-(ignore|expect-error|nocheck)|oxlint-disable|biome-ignore/;
  expect(sources.filter((path) => path !== "test/tidy.test.ts" && marks.test(read(path)))).toEqual(
    [],
  );
});

test("names are kebab-case, and no folder is a drawer for odds and ends", () => {
  const odd = sources.filter(
    (path) =>
      !/^[a-z0-9./-]+$/.test(path) || /(^|\/)(utils?|helpers?|common|misc)(\/|\.|-)/.test(path),
  );
  expect(odd).toEqual([]);
});

test("paths named in the docs exist", () => {
  const missing = texts.flatMap((path) => {
    const text = read(path).replace(/```[\s\S]*?```/g, "");
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) =>
      join(dirname(path), match[1] ?? ""),
    );
    const named = [...text.matchAll(/`((?:src|test|bench|docs|scripts)\/[\w./-]*)`/g)].map(
      (match) => match[1] ?? "",
    );
    return [...links, ...named]
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${path}: ${target}`);
  });
  expect(missing).toEqual([]);
});

test("every setting is in docs/config.md, and no other", async () => {
  const { settingList } = await import("../src/config/settings.ts");
  const documented = [...read("docs/config.md").matchAll(/^\| `(SVC_\w+)` \|/gm)].map(
    (match) => match[1] ?? "",
  );
  expect(documented.toSorted()).toEqual(
    Object.values(settingList)
      .map(({ env }) => env as string)
      .toSorted(),
  );
});

test("dependencies are pinned to exact versions", () => {
  for (const path of ["package.json", "engine/package.json", "console/package.json"]) {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(path));
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
    expect(Object.keys(all).length).toBeGreaterThan(5);
    const loose = Object.entries(all).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)),
    );
    expect(loose).toEqual([]);
  }
});

test("no registry's host and no path of a machine is committed", () => {
  for (const path of ["", "engine/", "console/"].map((folder) => `${folder}package-lock.json`))
    expect(read(path).includes('"resolved"')).toBe(false);
  const leaks = tracked.filter(
    (path) =>
      /\.(ts|mjs|md|json|yaml)$/.test(path) &&
      path !== "test/tidy.test.ts" &&
      /\/(root|home)\/\w|\/work\/main|\/tmp\/lab/.test(read(path)),
  );
  expect(leaks).toEqual([]);
});
