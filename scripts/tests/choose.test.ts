import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "./checkout.ts";
import { chooseFiles } from "./choose.ts";
import { reachedBy } from "./since.ts";
import { filesOfTier, listTestFiles, type TierName, tiers } from "./tiers.ts";

const all = filesOfTier("test");

describe("tiers", () => {
  test("have each test file once, and each of them has some", () => {
    const names = Object.keys(tiers) as TierName[];
    const perTier = names.map((name) => filesOfTier(name));
    expect(perTier.flat().toSorted()).toEqual([...listTestFiles()].toSorted());
    expect(perTier.every((files) => files.length > 0)).toBe(true);
  });

  test("of npm test has no file that starts PostgreSQL suites, processes or a browser", () => {
    for (const folder of ["test/processes/", "test/console/", "src/store/postgres/"])
      expect(all.filter((file) => file.startsWith(folder))).toEqual([]);
  });
});

describe("the files that a change can reach", () => {
  test("are the changed test, the tests that import a changed file, and the owners behind the server", () => {
    const reached = reachedBy(["src/limits/gcra.ts"], all);
    expect(reached).toContain("src/limits/gcra.test.ts");
    expect(reached).toContain("src/limits/limiter.test.ts");
    expect(reached.some((file) => file.startsWith("test/e2e/limits/"))).toBe(true);
    expect(reached.length).toBeLessThan(all.length / 4);
    expect(reachedBy(["src/keys/keys.test.ts"], all)).toContain("src/keys/keys.test.ts");
  });

  test("are all of them for the lock file and for what starts every gateway", () => {
    expect(reachedBy(["package-lock.json"], all)).toEqual(all);
    expect(reachedBy(["test/setup/harness.ts"], all)).toEqual(all);
  });

  test("include those of a changed data file's folder, and always the tests of the whole checkout", () => {
    const reached = reachedBy(["test/providers/error-bodies/groq.json"], all);
    expect(reached).toContain("test/providers/error-bodies.test.ts");
    expect(reached).toContain("test/tidy.test.ts");
  });

  test("include every folder of src among those whose owners are named", async () => {
    const { owners } = await import("./since.ts");
    const { readdirSync } = await import("node:fs");
    const folders = readdirSync(join(root, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}/`);
    const unnamed = folders.filter((folder) => owners[folder] === undefined);
    expect(unnamed).toEqual(["src/mail/"]);
    const missing = Object.values(owners)
      .flat()
      .filter((prefix) => !all.some((file) => file.startsWith(prefix)));
    expect(missing).toEqual([]);
  });
});

test("the words of a command are folders, files and flags of the runner", () => {
  expect(chooseFiles("test", [])).toEqual({ flags: [] });
  const { files, flags } = chooseFiles("test", ["src/keys", "-t", "revoked", "--randomize"]);
  expect(files).toContain("src/keys/keys.test.ts");
  expect(flags).toEqual(["-t", "revoked", "--randomize"]);
});
