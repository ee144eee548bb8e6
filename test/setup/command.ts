/** Runs `svc` commands in this process: what they load is loaded once, and not for each of them. */

import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import packageJson from "../../package.json" with { type: "json" };
import { createWiring } from "../../src/app/command-line.ts";
import { serve, serveGateway, servePlatform } from "../../src/app/serve.ts";
import { TokenCounter } from "../../src/ledger/tokens/token-counter.ts";
import { cheapPasswords } from "./cheap-passwords.ts";

export interface CommandOutput {
  stdout(data: string | Uint8Array): void;
  stderr(data: string | Uint8Array): void;
}

interface RunningCommand {
  readonly output: CommandOutput;
  readonly stdin: string;
}

/** The command on whose behalf code runs; several can run side by side. */
const running = new AsyncLocalStorage<RunningCommand>();

// As `svc < file` has it. Nothing else in the tests reads standard input.
const given = () => new Blob([running.getStore()?.stdin ?? ""]);
Object.assign(Bun, { stdin: { text: () => given().text(), stream: () => given().stream() } });

for (const name of ["stdout", "stderr"] as const) divert(name);
// A terminal in front of the tests is none of the commands' business.
for (const name of ["stdin", "stdout", "stderr"] as const)
  Object.defineProperty(process[name], "isTTY", { value: false });

/** What a command writes goes to its reader; all else goes where it always went. */
function divert(name: keyof CommandOutput): void {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...words: unknown[]) => boolean;
  stream.write = ((data: string | Uint8Array, ...rest: unknown[]) => {
    const command = running.getStore();
    if (command === undefined) return write(data, ...rest);
    command.output[name](data);
    const done = rest.find((word) => typeof word === "function");
    if (done !== undefined) queueMicrotask(done as () => void);
    return true;
  }) as typeof stream.write;
}

/** As the harness has them: loading a vocabulary or hashing passwords would take most of the time. */
const parts = {
  passwordCost: cheapPasswords,
  reportLimitMs: 120_000,
  sharedCounter: new TokenCounter(),
};

/** Returns the exit code. `serve` runs until a signal of its own stops it. */
export async function runCommand({
  words,
  environment,
  stdin = "",
  output,
  signals,
}: {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: string | undefined;
  readonly output: CommandOutput;
  readonly signals: EventEmitter;
}): Promise<number> {
  // After the streams were diverted: what it prints with looks at them when it is loaded.
  const { runCli } = await import("../../src/cli/cli.ts");
  const { version } = packageJson;
  const writeLog = output.stderr;
  const options = { environment, version, signals, writeLog, ownsProcess: false, parts };
  const wiring = createWiring(environment, {
    serve: (workers) => serve({ ...options, workers }),
    gateway: () => serveGateway(options),
    platform: () => servePlatform(options),
    engine: () => Promise.reject(new Error("the engine needs a process of its own")),
  });
  return running.run({ output, stdin }, () => runCli(words, wiring, version));
}

/** One command to its end, with what it printed. */
export async function runToEnd(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  let [stdout, stderr] = ["", ""];
  const output: CommandOutput = {
    stdout: (data) => void (stdout += String(data)),
    stderr: (data) => void (stderr += String(data)),
  };
  const code = await runCommand({ words, environment, output, signals: new EventEmitter() });
  return { code, stdout, stderr };
}
