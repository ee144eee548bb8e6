import { expect, test } from "bun:test";
import { join } from "node:path";
import { type ErrorKind, errorKinds } from "../src/base/errors.ts";

const text = await Bun.file(join(import.meta.dir, "../docs/errors.md")).text();
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
