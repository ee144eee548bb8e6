import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createPullHome, first, one, type PullHome } from "../test/weights/pull-home.ts";
import { noise } from "../test/weights/registry.ts";
import { partialPath } from "./layout.ts";
import { stateOf } from "./state.ts";

setDefaultTimeout(60_000);

const half = 150_000;

let home: PullHome;
beforeEach(async () => {
  home = await createPullHome();
});
afterEach(() => home.remove());

describe("a broken connection", () => {
  test("is taken up where it broke", async () => {
    home.registry.answerNext({ kind: "cut", afterBytes: half }, { kind: "status", status: 503 });
    const { results } = await home.pull([first]);
    expect(results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
    const [whole, ...rest] = home.ranges();
    expect(whole).toBeNull();
    expect(rest).toHaveLength(2);
    for (const range of rest) expect(range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  test("starts again with a registry that ignores ranges", async () => {
    home.registry.answerNext({ kind: "cut", afterBytes: half }, { kind: "no-ranges" });
    expect((await home.pull([first])).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
    expect(home.ranges()).toHaveLength(2);
  });

  test("starts again when the registry has no such range", async () => {
    home.registry.answerNext({ kind: "cut", afterBytes: half }, { kind: "status", status: 416 });
    expect((await home.pull([first])).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
    expect(home.ranges()[2]).toBeNull();
  });

  test("is given up after some tries, with what came kept for the next run", async () => {
    const broken = { kind: "status", status: 502 } as const;
    home.registry.answerNext({ kind: "cut", afterBytes: half }, broken, broken, broken, broken);
    const { results } = await home.pull([first]);
    expect(results[0]?.problem).toMatch(
      /returned 502 for one-model@1\.0\.0\. Downloaded data is kept/,
    );
    const keptBytes = stateOf({ cacheDir: home.cacheDir, sets: [first] })[0]?.partialBytes ?? 0;
    expect(keptBytes).toBeGreaterThan(0);
    await home.pull([first]);
    home.expectWhole(first, one);
    expect(home.ranges().at(-1)).toBe(`bytes=${keptBytes}-`);
  });
});

describe("a tarball", () => {
  test("is fetched anew when what an earlier run left is larger than the whole", async () => {
    const part = partialPath(home.cacheDir, one.packed);
    mkdirSync(dirname(part), { recursive: true });
    writeFileSync(part, Buffer.concat([one.tarball, Buffer.alloc(1)]));
    expect((await home.pull([first])).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
    expect(home.ranges()).toEqual([null]);
  });

  test("is refused when it is shorter or longer than it must be", async () => {
    for (const bytes of [one.packed.bytes - 100, one.packed.bytes + 100]) {
      home.registry.answerNext({ kind: "other-bytes", bytes: noise("other", bytes) });
      expect((await home.pull([first])).results[0]?.problem).toContain(
        "one-model@1.0.0 failed its integrity check",
      );
      expect(existsSync(partialPath(home.cacheDir, one.packed))).toBe(false);
    }
  });

  test("is refused when more bytes come than it may have, and no more are written", async () => {
    const bytes = noise("other", one.packed.bytes + 1_000_000);
    for (const announced of [{}, { hasNoLength: true }] as const) {
      home.registry.answerNext({ kind: "other-bytes", bytes, ...announced });
      const { results } = await home.pull([first]);
      expect(results[0]?.problem).toContain(`found more than ${one.packed.bytes} bytes`);
      expect(results[0]?.doneBytes).toBeLessThanOrEqual(one.packed.bytes);
      expect(existsSync(partialPath(home.cacheDir, one.packed))).toBe(false);
      home.expectNothingReady(first);
    }
    expect(home.ranges()).toEqual([null, null]);
  });
});
