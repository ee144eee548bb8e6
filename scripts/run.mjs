import { spawn } from "node:child_process";

// By default, Bun sends at most 256 requests at once and silently queues the rest. The limit can
// only be set before it starts.
const environment = { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...process.env };
delete environment.SVC_LAUNCHER;

/** Runs a program in place of this one: forwards its output, its exit code and all signals. */
export function run(command, words, more = {}) {
  Object.assign(environment, more);
  // If Node supports it, this process becomes the program.
  if (typeof process.execve === "function" && process.platform !== "win32") {
    try {
      process.execve(command, [command, ...words], environment);
    } catch {
      // Not allowed here; continue as older versions do.
    }
  }
  // A server watches this process: killed, it can pass no signal on (src/config/launcher.ts).
  const env = { ...environment, SVC_LAUNCHER: String(process.pid) };
  const child = spawn(command, words, { stdio: "inherit", env });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`error: Cannot start ${command}: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGKILL" ? 137 : 1)));
}
