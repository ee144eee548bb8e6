import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../../test/setup/folder.ts";
import { Problem } from "../../base/problem.ts";
import { openSqlite } from "./sqlite.ts";
import { createStore } from "./store.ts";
import { toStoreProblem } from "./store-problem.ts";

const root = useFolder();
const fresh = () => join(mkdtempSync(join(root, "db-")), "svc.db");

async function problemOf(work: () => unknown, path: string): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return toStoreProblem(error, path);
  }
  throw new Error("nothing failed");
}

test("a disk that fills up while the tables are created is called full", async () => {
  const path = fresh();
  const sqlite = openSqlite(path);
  sqlite.raw.run("PRAGMA max_page_count = 3");
  const problem = await problemOf(() => createStore(sqlite, "x"), path);
  expect(problem).toBeInstanceOf(Problem);
  expect(String(problem)).toContain(
    `The disk that holds ${path} is full (SQLITE_FULL). Free some space and try again.`,
  );
  sqlite.raw.run("PRAGMA max_page_count = 100000");
  await (await createStore(sqlite, "x")).close();
});

test("a file that is no database is called damaged", async () => {
  const path = fresh();
  writeFileSync(path, "no database at all\n".repeat(500));
  const problem = await problemOf(() => openSqlite(path), path);
  expect(String(problem)).toContain(`The database ${path} is damaged`);
});

test("a file that cannot be opened is named with what to check", async () => {
  const path = fresh();
  mkdirSync(path);
  expect(String(await problemOf(() => openSqlite(path), path))).toContain("cannot be opened");
});

test("a directory that cannot be created is named", async () => {
  const file = fresh();
  writeFileSync(file, "");
  const path = join(file, "data", "svc.db");
  const problem = await problemOf(() => mkdirSync(join(file, "data"), { recursive: true }), path);
  expect(String(problem)).toContain(`The directory ${join(file, "data")} cannot be created (`);
  // A file elsewhere that an operation does not find is none of the store's.
  const other = await problemOf(() => mkdirSync(join(file, "other")), path);
  expect(other).not.toBeInstanceOf(Problem);
});

test("what has nothing to do with the database stays as it is", () => {
  const port = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  expect(toStoreProblem(port, "x")).toBe(port);
  const busy = new Problem({ code: "busy", message: "in use", cause: new Error("x") });
  expect(toStoreProblem(busy, "x")).toBe(busy);
});
