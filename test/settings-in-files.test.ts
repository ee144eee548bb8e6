import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { settingList } from "../src/config/settings.ts";

const root = join(import.meta.dir, "..");
const files = ["deploy", "docs/deploy"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(join(root, path)).isFile()),
);
const names = new Set<string>(Object.values(settingList).map(({ env }) => env));

test("every setting that deploy and docs/deploy name exists", () => {
  const found = files.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/\bSVC_[A-Z0-9_]+/g)].map(([name]) => ({
      path,
      name,
    })),
  );
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(({ name }) => !names.has(name))).toEqual([]);
});
