import { setTimeout as pause } from "node:timers/promises";

const mostBytes = 64 * 1024;
const usualMs = 10_000;
/** For the rest of the output, once the command has ended. */
const drainMs = 1_000;

export interface CommandOptions {
  /** An absolute path and the arguments. No shell sees them. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** What is wrong with a command: "ended with exit code 3". Neither words nor output are part of it. */
export class CommandTrouble extends Error {}

/**
 * What a command prints, without line ends and spaces around it. It has a process group of its own,
 * which is killed as a whole: at the timeout, and when the command ends. A process that has left the
 * group lives on and may hold the output open, so its end is not waited for.
 */
export async function commandOutput(options: CommandOptions): Promise<string> {
  const { timeoutMs = usualMs, signal } = options;
  const child = start(options);
  const reader = child.stdout.getReader();
  const stopped = Promise.withResolvers<never>();
  const stop = (why: string) => {
    stopped.reject(new CommandTrouble(why));
    if (child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  };
  const timer = setTimeout(
    () => stop(`did not end within ${timeoutMs / 1000} s and was killed`),
    timeoutMs,
  );
  const onAbort = () => stop("was stopped with the gateway");
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted === true) onAbort();
  const ended = child.exited.then((code) => {
    clearTimeout(timer);
    killGroup(child.pid);
    if (child.signalCode !== null) throw new CommandTrouble(`was ended by ${child.signalCode}`);
    if (code !== 0) throw new CommandTrouble(`ended with exit code ${code}`);
  });
  const chunks: Uint8Array[] = [];
  const read = readInto(chunks, reader, () => stop("printed more than 64 KiB"));
  const drained = ended.then(() => pause(drainMs, undefined, { ref: false }));
  const result = async () => {
    await Promise.all([ended, Promise.race([read, drained])]);
    const output = takeText(chunks);
    if (output === "") throw new CommandTrouble("printed nothing");
    return output;
  };
  try {
    return await Promise.race([stopped.promise, result()]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    void reader.cancel().catch(() => undefined);
  }
}

function start({ words, environment }: CommandOptions) {
  try {
    return Bun.spawn([...words], {
      cwd: "/",
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
      // Tools print secrets there when they fail.
      stderr: "ignore",
      detached: true,
    });
  } catch (error) {
    // The cause names the words of the command.
    throw new CommandTrouble(reasonOf(error));
  }
}

async function readInto(
  chunks: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onTooMuch: () => void,
): Promise<void> {
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    length += value.length;
    if (length > mostBytes) return onTooMuch();
    chunks.push(value);
  }
}

function takeText(chunks: readonly Uint8Array[]): string {
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString("utf8").trim();
  for (const one of [...chunks, bytes]) one.fill(0);
  return text;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "does not exist, or the interpreter in its first line does not";
  if (code === "EACCES" || code === "EPERM") return "is not executable by this user";
  if (code === "ENOEXEC") return "is not a program, and has no interpreter in its first line";
  return `cannot be started (${typeof code === "string" ? code : "unknown error"})`;
}
