import { join } from "node:path";
import type { Carrier } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import type { FileTarget } from "./destination.ts";
import type { DirectoryRequest, DirectoryTask } from "./directory.ts";
import type { DirectoryReply } from "./directory-process.ts";
import type { Owner } from "./marker.ts";

export interface FileOptions {
  readonly owner: () => Promise<Owner>;
  /** Nothing was delivered yet: a directory without a marker gets one. */
  readonly isNew: boolean;
  /** The server's, where root tests the directory for it. */
  readonly user?: number | undefined;
  /** Of the process that works in the directory. */
  readonly environment: Readonly<Record<string, string>>;
}

export function fileCarrier(
  { dir }: FileTarget,
  { owner, isNew, user, environment }: FileOptions,
): Carrier {
  const worker = new DirectoryWorker(dir, environment);
  let mayMark = isNew;
  const ask = async (task: DirectoryTask, signal: AbortSignal) =>
    worker.ask({ dir, owner: await owner(), mayMark, user, task }, signal);
  return {
    mostRows: 20_000,
    mostBytes: 16 * 1024 * 1024,
    packs: true,
    async deliver(part, signal) {
      const otherName = await ask({ kind: "deliver", part }, signal);
      mayMark = false;
      return otherName;
    },
    claim: async (signal) => void (await ask({ kind: "claim" }, signal)),
    release: async (signal) => void (await ask({ kind: "release" }, signal)),
    test: async (signal) => void (await ask({ kind: "test" }, signal)),
  };
}

type Child = Bun.Subprocess<"ignore", "inherit", "inherit">;

/** A process that has nothing to do is ended, so that no carrier must be closed. */
const idleMs = 1_000;

/**
 * Works in a directory through a process of its own: on a dead disk, a file operation does not end. In
 * this process it would keep a thread of the few that also read files, check passwords and look up host
 * names, and could keep the process itself from ending.
 */
class DirectoryWorker {
  readonly #dir: string;
  readonly #environment: FileOptions["environment"];
  #child: Child | undefined;
  #idle: Timer | undefined;
  #hear: (reply: DirectoryReply) => void = () => {};

  constructor(dir: string, environment: FileOptions["environment"]) {
    this.#dir = dir;
    this.#environment = environment;
  }

  /** One at a time. After an abort it rejects when the process has ended, which a dead disk delays. */
  async ask(request: DirectoryRequest, signal: AbortSignal): Promise<string | undefined> {
    const child = this.#wake();
    const { promise, resolve } = Promise.withResolvers<DirectoryReply>();
    this.#hear = resolve;
    const kill = () => this.#kill(child);
    signal.addEventListener("abort", kill);
    if (signal.aborted) kill();
    else child.send(request);
    const reply = await Promise.race([promise, child.exited]);
    signal.removeEventListener("abort", kill);
    if (typeof reply === "number")
      throw new DeliveryFailure(
        `the process that writes to ${this.#dir} ended with ${child.signalCode ?? reply}`,
      );
    this.#rest(child);
    if ("failure" in reply) throw new DeliveryFailure(reply.failure, { isFinal: reply.isFinal });
    return reply.otherName;
  }

  #wake(): Child {
    clearTimeout(this.#idle);
    const child = this.#child ?? this.#spawn();
    child.ref();
    this.#child = child;
    return child;
  }

  #rest(child: Child): void {
    child.unref();
    this.#idle = setTimeout(() => this.#kill(child), idleMs);
    this.#idle.unref();
  }

  #kill(child: Child): void {
    this.#child = undefined;
    child.kill("SIGKILL");
  }

  #spawn(): Child {
    const script = join(import.meta.dir, "directory-process.ts");
    return Bun.spawn([process.execPath, "--no-env-file", script], {
      env: this.#environment,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      serialization: "advanced",
      // The last words of one that was killed answer nothing.
      ipc: (reply: DirectoryReply, child) => {
        if (this.#child === child) this.#hear(reply);
      },
      onExit: (child) => {
        if (this.#child === child) this.#child = undefined;
      },
    });
  }
}
