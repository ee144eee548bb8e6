import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createPullHome,
  first,
  one,
  type PullHome,
  second,
  two,
} from "../test/weights/pull-home.ts";
import { partialPath, setDir } from "./layout.ts";
import { readyDirOf, removeSets, stateOf } from "./state.ts";

setDefaultTimeout(60_000);

let home: PullHome;
beforeEach(async () => {
  home = await createPullHome();
});
afterEach(() => home.remove());

describe("what is there", () => {
  test("is not ready any more when a file was cut by one byte, and is fetched again", async () => {
    await home.pull([first]);
    truncateSync(join(setDir(home.cacheDir, first), "model.bin"), 299_999);
    expect(readyDirOf(home.cacheDir, first)).toBeUndefined();
    await home.pull([first]);
    home.expectWhole(first, one);
  });

  test("is told with its size, and removed with all that belongs to it", async () => {
    expect(stateOf({ cacheDir: home.cacheDir, sets: [first] })).toEqual([
      { set: "first", dir: undefined, diskBytes: 0, partialBytes: 0, totalBytes: one.packed.bytes },
    ]);
    expect(removeSets({ cacheDir: home.cacheDir, sets: [first] })).toEqual([
      { set: "first", freedBytes: 0 },
    ]);
    await home.pull([first, second]);
    const older = join(home.cacheDir, "models", "first-0123456789");
    mkdirSync(older);
    writeFileSync(join(older, "model.bin"), "1234");
    writeFileSync(partialPath(home.cacheDir, one.packed), "12");
    expect(stateOf({ cacheDir: home.cacheDir, sets: [first] })).toEqual([
      {
        set: "first",
        dir: setDir(home.cacheDir, first),
        diskBytes: 300_004,
        partialBytes: 2,
        totalBytes: one.packed.bytes,
      },
    ]);
    expect(removeSets({ cacheDir: home.cacheDir, sets: [first] })).toEqual([
      { set: "first", freedBytes: 300_006 },
    ]);
    home.expectNothingReady(first);
    expect(existsSync(older)).toBe(false);
    home.expectWhole(second, two);
  });
});
