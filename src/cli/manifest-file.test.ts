import { afterEach, beforeEach, expect, test } from "bun:test";
import {
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
import { type OperationsHome, openOperations, problemOf } from "../../test/operations-home.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Operations } from "../platform/operations.ts";
import type { Wiring } from "./command.ts";
import { openManifest, putManifest } from "./manifest-file.ts";

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
  await home.operations.applyManifest({ text: before, dryRun: false, isOwnFile: true });
});
afterEach(async () => {
  await home.remove();
  rmSync(folder, { recursive: true });
});

function wiring(options: { hasFile?: boolean; onApplied?: () => void } = {}): Wiring {
  const { hasFile = true, onApplied = () => {} } = options;
  const unused = () => Promise.reject(new Error("not needed here"));
  const operations: Operations = {
    ...home.operations,
    async applyManifest(input) {
      const view = await home.operations.applyManifest(input);
      if (!input.dryRun) onApplied();
      return view;
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
  (await home.operations.listProviders({})).map(({ base_url: url }) => url);

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
  expect(await home.operations.manifestDrift({ text: after })).toEqual([]);
});

test("a file that cannot be put in place leaves what is in force as it was", async () => {
  const lose = () => {
    for (const name of readdirSync(folder)) if (name.endsWith(".tmp")) rmSync(join(folder, name));
  };
  const file = await openManifest(wiring());
  const faulty = wiring({ onApplied: lose });
  const { code, message } = await problemOf(
    putManifest({ wiring: faulty, file, text: after, dryRun: false }),
  );
  expect([code, message.includes("Nothing was changed")]).toEqual(["failed", true]);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(await addresses()).toEqual(["https://up.example/v1"]);
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
