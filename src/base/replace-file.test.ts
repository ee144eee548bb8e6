import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceFile } from "./replace-file.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-replace-"));
  path = join(folder, "svc.yaml");
  writeFileSync(path, "old and longer\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = () => readFileSync(path, "utf8");
const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

test("a file is replaced, and put back, with nothing left beside it", () => {
  const undo = replaceFile({ path, text: "new\n" });
  expect(read()).toBe("new\n");
  undo();
  expect(read()).toBe("old and longer\n");
  expect(readdirSync(folder)).toEqual(["svc.yaml"]);
});

test("a link stays a link, and what it leads to is replaced", () => {
  mkdirSync(join(folder, "etc"));
  const real = join(folder, "etc", "real.yaml");
  renameSync(path, real);
  symlinkSync(real, path);
  replaceFile({ path, text: "new\n" });
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe("new\n");
});

for (const code of ["EBUSY", "EXDEV", "EACCES", "EPERM", "EROFS"])
  test(`a file that cannot be exchanged (${code}) is written through`, () => {
    const { ino } = statSync(path);
    replaceFile({ path, text: "new\n", move: failing(code) });
    expect([read(), statSync(path).ino]).toEqual(["new\n", ino]);
    expect(readdirSync(folder)).toEqual(["svc.yaml"]);
  });

test("any other failure leaves the file as it was, and says that nothing was changed", () => {
  expect(() => replaceFile({ path, text: "new\n", move: failing("EIO") })).toThrow(
    /svc\.yaml cannot be written: EIO\. Nothing was changed\./,
  );
  expect(read()).toBe("old and longer\n");
  expect(readdirSync(folder)).toEqual(["svc.yaml"]);
});

test("nobody reads the new text before it has the old one's rights", () => {
  chmodSync(path, 0o640);
  const modes: number[] = [];
  const move = (from: string, to: string) => {
    modes.push(statSync(from).mode & 0o777);
    renameSync(from, to);
  };
  replaceFile({ path, text: "new\n", move });
  expect([...modes, statSync(path).mode & 0o777]).toEqual([0o640, 0o640]);
});
