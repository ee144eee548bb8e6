import { expect } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setDir, tarballName } from "../../weights/layout.ts";
import { type PullOptions, pullSets } from "../../weights/pull.ts";
import type { SetProgress, WeightSet } from "../../weights/sets.ts";
import { readyDirOf } from "../../weights/state.ts";
import {
  makePackage,
  makeSet,
  noise,
  startTestRegistry,
  type TestPackage,
  type TestRegistry,
} from "./registry.ts";

export const one = await makePackage("one-model", { "model.bin": noise("one", 300_000) });
export const two = await makePackage("two-model", { "deep/other.bin": noise("two", 80_000) });
export const scoped = await makePackage("@acme/model", { "scoped.bin": noise("scoped", 20_000) });
export const first = makeSet("first", [one]);
export const second = makeSet("second", [two]);

/** An empty cache, a registry and an npm configuration of their own, for one test. */
export interface PullHome {
  readonly root: string;
  readonly cacheDir: string;
  readonly registry: TestRegistry;
  /** Nothing of the machine's npm configuration is seen. */
  environment(npmrc?: string): Record<string, string>;
  pull(sets: readonly WeightSet[], options?: Partial<PullOptions<string>>): Promise<Pulled>;
  /** A folder with the tarballs of these packages. */
  folderOf(...packages: readonly TestPackage[]): string;
  /** The ranges that tarballs were asked for with. */
  ranges(): (string | null)[];
  expectWhole(set: WeightSet, ...packages: readonly TestPackage[]): void;
  expectNothingReady(set: WeightSet): void;
  remove(): void;
}

export interface Pulled {
  readonly results: readonly SetProgress<string>[];
  readonly told: readonly SetProgress<string>[];
}

export async function createPullHome(): Promise<PullHome> {
  const root = mkdtempSync(join(tmpdir(), "svc-weights-"));
  const cacheDir = join(root, "cache");
  const registry = await startTestRegistry([one, two, scoped]);
  let npmrcs = 0;
  const environment: PullHome["environment"] = (npmrc = `registry=${registry.url}\n`) => {
    npmrcs++;
    const userconfig = join(root, `npmrc-${npmrcs}`);
    writeFileSync(userconfig, npmrc);
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: root,
      npm_config_userconfig: userconfig,
      npm_config_globalconfig: join(root, "no-such-npmrc"),
    };
  };
  return {
    root,
    cacheDir,
    registry,
    environment,
    async pull(sets, options = {}) {
      const told: SetProgress<string>[] = [];
      const results = await pullSets({
        cacheDir,
        sets,
        environment: environment(),
        retryDelayMs: 1,
        onProgress: (progress) => void told.push(progress),
        ...options,
      });
      return { results, told };
    },
    folderOf(...packages) {
      const from = join(root, "from");
      mkdirSync(from, { recursive: true });
      for (const { packed, tarball } of packages)
        writeFileSync(join(from, tarballName(packed)), tarball);
      return from;
    },
    ranges: () =>
      registry.requests
        .filter(({ path }) => path.startsWith("/-/"))
        .map(({ range }) => range ?? null),
    expectWhole(set, ...packages) {
      const dir = readyDirOf(cacheDir, set);
      expect(dir).toBe(setDir(cacheDir, set));
      for (const { files } of packages)
        for (const [path, bytes] of Object.entries(files))
          expect(Buffer.compare(readFileSync(join(dir ?? "", path)), bytes)).toBe(0);
    },
    expectNothingReady(set) {
      expect(readyDirOf(cacheDir, set)).toBeUndefined();
      expect(existsSync(setDir(cacheDir, set))).toBe(false);
    },
    remove() {
      registry.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
