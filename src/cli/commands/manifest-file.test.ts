import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
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
import {
  type OperationsHome,
  openOperations,
  problemOf,
} from "../../../test/setup/operations-home.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { Operations } from "../../platform/operations.ts";
import type { Wiring } from "../command.ts";
import { type ManifestFile, openManifest, putManifest } from "./manifest-file.ts";

const before = `# mine
providers: { up: { kind: openai, base_url: "https://up.example/v1", api_key: literal-key } }
`;
const after = before.replace("up.example", "other.example");

let folder: string;
let path: string;
let home: OperationsHome;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-file-"));
  path = join(folder, "svc.yaml");
  writeFileSync(path, before, { mode: 0o640 });
  home = await openOperations();
  await home.operations.manifest.apply({ text: before, dryRun: false, isOwnFile: true });
});
afterEach(async () => {
  await home.remove();
  rmSync(folder, { recursive: true });
});

function wiring(options: { hasFile?: boolean; onApply?: () => void } = {}): Wiring {
  const { hasFile = true, onApply = () => {} } = options;
  const unused = () => Promise.reject(new Error("not needed here"));
  const operations: Operations = {
    ...home.operations,
    manifest: {
      ...home.operations.manifest,
      async apply(input) {
        if (!input.dryRun) onApply();
        return home.operations.manifest.apply(input);
      },
    },
  };
  return {
    configuration: () => ({
      ...loadConfiguration({ SVC_CONFIG: path }),
      ...(hasFile ? {} : { file: undefined }),
    }),
    withOperations: (run) => run(operations),
    withLedger: unused,
    serve: unused,
    engine: unused,
  };
}

const addresses = async () =>
  (await home.operations.providers.list({})).map(({ base_url: url }) => url);

test("a changed file is in place and in force, with the rights that it had", async () => {
  const real = join(folder, "real.yaml");
  renameSync(path, real);
  symlinkSync(real, path);
  const file = await openManifest(wiring());
  await putManifest({ wiring: wiring(), file, text: after, dryRun: false });
  expect(readFileSync(real, "utf8")).toBe(after);
  expect(await addresses()).toEqual(["https://other.example/v1"]);
  expect(readdirSync(folder).toSorted()).toEqual(["real.yaml", "svc.yaml"]);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(await home.operations.manifest.drift({ text: after })).toEqual([]);
});

/** As a file that is mounted by itself answers, and a disk that is full. */
const failsWith = (code: string) => () => {
  throw Object.assign(new Error(`${code}: as the system says it`), { code });
};
const unused = () => {
  throw new Error("nothing must be applied");
};

test("a file that cannot be exchanged is written through, and in force", async () => {
  for (const [code, text] of [
    ["EBUSY", after],
    ["EXDEV", before],
    ["EBUSY", "# shorter\n"],
  ] as const) {
    const { ino } = statSync(path);
    const file = await openManifest(wiring());
    const move = failsWith(code);
    await putManifest({ wiring: wiring(), file, text, dryRun: false, removes: "up", move });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(statSync(path).ino).toBe(ino);
    expect(readdirSync(folder)).toEqual(["svc.yaml"]);
  }
  expect(await addresses()).toEqual([]);
});

test("where the file cannot be written nothing is applied, and no file is left behind", async () => {
  const there = await openManifest(wiring());
  const lacking: ManifestFile = { path: join(folder, "new.yaml"), text: "", isThere: false };
  for (const [file, code] of [
    [there, "ENOSPC"],
    [lacking, "ENOSPC"],
    [lacking, "EBUSY"],
  ] as const) {
    const put = putManifest({
      wiring: wiring({ onApply: unused }),
      file,
      text: after,
      dryRun: false,
      move: failsWith(code),
    });
    const problem = await problemOf(put);
    expect(problem.code).toBe("failed");
    expect(problem.message).toMatch(/cannot be written: .*Nothing was changed/);
  }
  expect(readdirSync(folder)).toEqual(["svc.yaml"]);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(await addresses()).toEqual(["https://up.example/v1"]);
});

test("a change that cannot be put in force leaves file and stored keys as they were", async () => {
  const stored = before.replace("literal-key", "<stored>");
  writeFileSync(path, stored);
  await home.operations.manifest.apply({ text: stored, dryRun: false, isOwnFile: true });
  const busy = () => {
    throw new Error("the store is busy");
  };
  for (const move of [renameSync, failsWith("EBUSY")]) {
    const file = await openManifest(wiring());
    const faulty = wiring({ onApply: busy });
    const put = { wiring: faulty, file, text: "# none\n", dryRun: false, removes: "up", move };
    await expect(putManifest(put)).rejects.toThrow("the store is busy");
    expect(readFileSync(path, "utf8")).toBe(stored);
  }
  // As a start does: the key is still there.
  await home.operations.manifest.apply({ text: stored, dryRun: false, isOwnFile: true });
  expect(await home.operations.providers.list({})).toMatchObject([
    { name: "up", api_key: { from: "store", is_set: true } },
  ]);

  const lacking: ManifestFile = { path: join(folder, "new.yaml"), text: stored, isThere: false };
  const put = { wiring: wiring({ onApply: busy }), file: lacking, text: stored, dryRun: false };
  await expect(putManifest(put)).rejects.toThrow("the store is busy");
  expect(existsSync(lacking.path)).toBe(false);
});

test("the new file has the rights and the owner of the old one before it is in its place", async () => {
  // Only root may give a file away; for others there is but one owner.
  if (process.getuid?.() === 0) chownSync(path, 12_345, 12_346);
  const rights = (name: string) => {
    const { uid, gid, mode } = statSync(name);
    return { uid, gid, mode: mode & 0o777 };
  };
  const old = rights(path);
  const seen: unknown[] = [];
  const move = (from: string, to: string) => {
    seen.push(rights(from));
    renameSync(from, to);
  };
  const file = await openManifest(wiring());
  await putManifest({ wiring: wiring(), file, text: after, dryRun: false, move });
  expect([...seen, rights(path)]).toEqual([old, old]);
});

test("a file that somebody else changes meanwhile is not overwritten", async () => {
  const file = await openManifest(wiring());
  writeFileSync(path, `${before}# theirs\n`);
  const { code } = await problemOf(
    putManifest({ wiring: wiring(), file, text: after, dryRun: false }),
  );
  expect(code).toBe("conflict");
  expect(readFileSync(path, "utf8")).toContain("# theirs");
  expect(await addresses()).toEqual(["https://up.example/v1"]);
});

test("where there is no file, it begins with what is in force, without its secrets", async () => {
  const { text, isThere } = await openManifest(wiring({ hasFile: false }));
  expect(isThere).toBe(false);
  expect(text).toContain("base_url: https://up.example/v1");
  expect(text).toContain("api_key: <stored>");
  expect(text).not.toContain("literal-key");
});
