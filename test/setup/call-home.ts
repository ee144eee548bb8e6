import { afterAll, beforeEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import {
  type ChildServer,
  createHome,
  type Finished,
  type Home,
  listOf,
  type Words,
} from "./child.ts";
import { standardManifest } from "./harness.ts";

const main = resolve(import.meta.dir, "../../src/main.ts");

export interface Ended extends Finished {
  /** What stdout was, byte for byte. */
  readonly bytes: Buffer;
}

export type CallChild = Bun.Subprocess<"ignore" | Buffer, "pipe", "pipe">;

/** A server in front of the fake upstream, and commands beside it that call it. */
export interface CallHome {
  readonly home: Home;
  readonly server: ChildServer;
  readonly upstream: FakeUpstream;
  /** Where the commands run and leave their files. */
  readonly folder: string;
  /** A command in a process of its own, for its signals and pipes. */
  start(words: Words, stdin?: string): CallChild;
  /** The same, to its end. */
  run(words: Words, stdin?: string): Promise<Ended>;
  /** One command to its end, in this process. */
  svc(words: Words, stdin?: string): Promise<Finished>;
  /** Runs a script in a POSIX shell, with the first start's key in KEY. */
  shell(script: string): Promise<Ended>;
  stop(): Promise<void>;
}

async function startCallHome(): Promise<CallHome> {
  const upstream = await startFakeUpstream();
  const home = createHome();
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  const server = await home.serve({ FAKE_KEY: "x" });
  const folder = mkdtempSync(join(tmpdir(), "svc-call-"));
  const spawn = (command: readonly string[], options: { stdin?: string; key?: string }) =>
    Bun.spawn([...command], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        ...(options.key === undefined
          ? { SVC_DATA_DIR: home.dataDir, SVC_CONFIG: home.configPath }
          : { KEY: options.key }),
      },
      stdin: options.stdin === undefined ? "ignore" : Buffer.from(options.stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
  const start: CallHome["start"] = (words, stdin) =>
    spawn([process.execPath, main, ...listOf(words)], stdin === undefined ? {} : { stdin });
  return {
    home,
    server,
    upstream,
    folder,
    start,
    run: (words, stdin) => ended(start(words, stdin)),
    async svc(words, stdin) {
      const before = process.cwd();
      process.chdir(folder);
      try {
        return await home.svc(words, stdin === undefined ? {} : { stdin });
      } finally {
        process.chdir(before);
      }
    },
    shell: (script) => ended(spawn(["sh"], { stdin: script, key: server.key ?? "" })),
    async stop() {
      await home.remove();
      await upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One for all tests of a file; its upstream is reset before each. */
export async function useCallHome(): Promise<CallHome> {
  const calls = await startCallHome();
  afterAll(() => calls.stop());
  beforeEach(() => calls.upstream.reset());
  return calls;
}

async function ended(child: CallChild): Promise<Ended> {
  const [code, bytes, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ]);
  return { code, stderr, bytes: Buffer.from(bytes), stdout: Buffer.from(bytes).toString("utf8") };
}
