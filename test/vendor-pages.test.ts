import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { vendorPages } from "../scripts/vendor-pages.ts";

const folder = join(import.meta.dir, "../docs/providers");

test("docs/providers is what the code knows: npm run providers:docs writes it", async () => {
  const written = readdirSync(folder)
    .toSorted()
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  expect(written).toEqual([...(await vendorPages())].toSorted(([a], [b]) => (a < b ? -1 : 1)));
});
