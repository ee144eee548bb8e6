/** The real program as a process of its own, started so that something can go wrong with it. */

import { resolve } from "node:path";

const main = resolve(import.meta.dir, "../../src/main.ts");
const startWithinMs = 60_000;
const endWithinMs = 60_000;
const maxLogCharacters = 1_000_000;

export interface ServerProcessOptions {
  readonly dataDir: string;
  readonly configPath: string;
  /** A file that is loaded before the program. */
  readonly preload?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Words that stand before the command, such as `strace`. */
  readonly wrapper?: readonly string[];
  /** What the preloaded file says. */
  readonly onMessage?: (message: unknown) => void;
}

export interface ServerProcess {
  readonly pid: number;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The signal that ended it, or its exit code. */
  readonly ended: Promise<string | number>;
  readonly log: () => string;
  /** To the preloaded file. */
  send(message: unknown): void;
  kill(): void;
  /** SIGTERM; ends with how it ended. */
  stop(): Promise<string | number>;
}

export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { dataDir, configPath, preload, environment, wrapper = [], onMessage } = options;
  const child = Bun.spawn(
    [
      ...wrapper,
      process.execPath,
      ...(preload === undefined ? [] : ["--preload", preload]),
      main,
      "serve",
    ],
    {
      env: { ...environmentOf({ dataDir, configPath }), ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      ...(onMessage === undefined ? {} : { ipc: onMessage }),
    },
  );
  const ended = child.exited.then((code) => child.signalCode ?? code);
  const output = follow(child.stdout);
  const log = follow(child.stderr);
  const said = await within(startWithinMs, output.until("Ctrl-C stops the server"));
  const origin = /gateway {3}(\S+)\/v1/.exec(output.text())?.[1];
  if (said === undefined || origin === undefined) {
    child.kill("SIGKILL");
    await ended;
    throw new Error(`the server did not start: ${output.text()}${log.text()}`);
  }
  return {
    pid: child.pid,
    origin,
    ended,
    log: log.text,
    send: (message) => child.send(message),
    kill: () => child.kill("SIGKILL"),
    async stop() {
      child.kill("SIGTERM");
      const ending = await within(endWithinMs, ended);
      if (ending === undefined) child.kill("SIGKILL");
      return ending ?? `killed: it did not stop within ${endWithinMs} ms`;
    },
  };
}

interface Places {
  readonly dataDir: string;
  readonly configPath: string;
}

function environmentOf({ dataDir, configPath }: Places): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: dataDir,
    SVC_PORT: "0",
    SVC_PLATFORM_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_CONFIG: configPath,
    SVC_ENGINE: "off",
    FAKE_KEY: "vendor-secret",
  };
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
}

/** One `svc` command, to its end. */
export async function runSvc(words: readonly string[], places: Places): Promise<Finished> {
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: environmentOf(places),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: endWithinMs,
  });
  const stdout = await new Response(child.stdout).text();
  return { code: await child.exited, stdout };
}

/** Undefined when it takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolveLate) => {
    timer = setTimeout(() => resolveLate(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function follow(stream: ReadableStream<Uint8Array>) {
  let text = "";
  const state = { isOver: false };
  let wake = () => {};
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      text = (text + decoder.decode(bytes, { stream: true })).slice(-maxLogCharacters);
      wake();
    }
    state.isOver = true;
    wake();
  })();
  return {
    text: () => text,
    /** True when it came, false when the stream ended without it. */
    async until(wanted: string): Promise<boolean> {
      while (!state.isOver && !text.includes(wanted))
        await new Promise<void>((resolveNext) => {
          wake = resolveNext;
        });
      return text.includes(wanted);
    },
  };
}
