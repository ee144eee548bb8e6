import { spawn } from "node:child_process";

// Bun sends at most 256 requests at once unless told otherwise before it starts, and queues the
// rest in silence.
const environment = { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...process.env };

/** Runs a program in this one's place: its output, its exit code, and every signal sent to us. */
export function run(command, words) {
  // Where Node can, it becomes the program, and no process is left in between.
  if (typeof process.execve === "function" && process.platform !== "win32") {
    try {
      process.execve(command, [command, ...words], environment);
    } catch {
      // Not allowed here: go on as older versions do.
    }
  }
  const child = spawn(command, words, { stdio: "inherit", env: environment });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`error: ${command} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGKILL" ? 137 : 1)));
}
