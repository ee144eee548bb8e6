import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { vendorPages } from "../scripts/vendor-pages.ts";
import { type ErrorKind, errorKinds } from "../src/base/errors.ts";

const docs = join(import.meta.dir, "../docs");
const text = readFileSync(join(docs, "errors.md"), "utf8");
const rows = [...text.matchAll(/^\| (\d{3}) \| (\w+) \| (\w+) \| (.+) \| (.+) \|$/gm)].map(
  ([, status, type, code]) => `${status} ${type} ${code}`,
);

const inCode = Object.entries<ErrorKind>(errorKinds).flatMap(
  ([code, { status, type, statusOffChat }]) => [
    `${status} ${type} ${code}`,
    ...(statusOffChat === undefined ? [] : [`${statusOffChat} invalid_request_error ${code}`]),
  ],
);

test("docs/errors.md has every error of the code, with its status and type", () => {
  expect(inCode.filter((row) => !rows.includes(row))).toEqual([]);
});

test("docs/errors.md has no error that the code does not have, and none twice", () => {
  expect(rows.filter((row) => !inCode.includes(row))).toEqual([]);
  expect(new Set(rows).size).toBe(rows.length);
});

test("docs/providers is what the code knows: npm run providers:docs writes it", async () => {
  const folder = join(docs, "providers");
  const written = readdirSync(folder)
    .toSorted()
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  expect(written).toEqual([...(await vendorPages())].toSorted(([a], [b]) => (a < b ? -1 : 1)));
});
