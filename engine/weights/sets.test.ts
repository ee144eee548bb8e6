import { expect, test } from "bun:test";
import { fileBytes, packedBytes, setDir } from "./layout.ts";
import { explain } from "./problem.ts";
import { setNames, type WeightSet, weightSets } from "./sets.ts";

const all: readonly WeightSet[] = Object.values(weightSets);

test("every set is pinned to the last byte", () => {
  for (const { name, packages, files } of all) {
    for (const { version, integrity, bytes } of packages) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
      expect(bytes).toBeGreaterThan(0);
    }
    for (const file of files) {
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(fileBytes(file)).toBeGreaterThan(0);
      expect(file.path).not.toContain("..");
    }
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    const used = files.flatMap(({ parts }) => parts.map((part) => part.package));
    expect([name, [...new Set(used)].toSorted()]).toEqual([
      name,
      packages.map((packed) => packed.name).toSorted(),
    ]);
  }
});

test("the sets are in the order of their names, the smallest first", () => {
  expect(Object.keys(weightSets)).toEqual([...setNames]);
  const [smallest, ...others] = setNames.map((name) => packedBytes(weightSets[name]));
  for (const bytes of others) expect(bytes).toBeGreaterThan(smallest ?? 0);
});

test("other pins or another prepare step live in another folder", () => {
  const { image } = weightSets;
  const before = setDir("/cache", image);
  expect(setDir("/cache", { ...image })).toBe(before);
  const others: readonly WeightSet[] = [
    { ...image, prepare: { ...image.prepare, step: "image", revision: 99, makes: [] } },
    { ...image, packages: image.packages.map((packed) => ({ ...packed, version: "9.9.9" })) },
    { ...image, files: image.files.slice(1) },
  ];
  for (const other of others) expect(setDir("/cache", other)).not.toBe(before);
});

test("what the disk refuses is said in plain words", () => {
  const refusal = (code: string) =>
    explain(Object.assign(new Error(code), { code, path: "/cache/models" }), "/cache");
  expect(refusal("ENOSPC")).toMatch(
    /^The disk that holds \/cache is full\. Free some space and run the command again to resume/,
  );
  expect(refusal("EACCES")).toMatch(/^This user cannot write to \/cache\/models\./);
  expect(refusal("EROFS")).toMatch(/^\/cache\/models is on a read-only file system\./);
  const notMade = Object.assign(new Error("x"), { code: "ENOENT", path: "/cache/locks" });
  expect(explain(Object.assign(notMade, { syscall: "mkdir" }), "/cache")).toMatch(
    /^The directory \/cache\/locks cannot be created \(ENOENT\)\./,
  );
  expect(explain(new Error("something else"), "/cache")).toBe("something else");
});
