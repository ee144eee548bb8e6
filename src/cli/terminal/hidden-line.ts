import { Problem } from "../../base/problem.ts";

/** Asks for a line on the terminal that is not shown while it is typed: a key. */
export function askHidden(question: string, signal: AbortSignal): Promise<string> {
  const input = process.stdin;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const end = () => {
    signal.removeEventListener("abort", stop);
    input.off("data", onData);
    input.setRawMode(false);
    input.pause();
    process.stderr.write("\n");
  };
  const stop = () => {
    end();
    reject(new Problem({ code: "failed", message: "Stopped: nothing was changed." }));
  };
  const onData = (bytes: Uint8Array | string) => {
    for (const sign of typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8")) {
      if (sign === "\r" || sign === "\n") {
        end();
        resolve(text.trim());
        return;
      }
      if (sign === controlD) return stop();
      // In this mode the terminal does not act on ctrl-c itself.
      if (sign === controlC) process.kill(process.pid, "SIGINT");
      else text = isErasing(sign) ? text.slice(0, -1) : text + sign;
    }
  };
  signal.addEventListener("abort", stop, { once: true });
  // Before the question: whoever answers it at once must not see the answer either.
  input.setRawMode(true);
  input.on("data", onData);
  input.resume();
  process.stderr.write(`${question} `);
  return promise;
}

const controlC = "\u0003";
const controlD = "\u0004";
const isErasing = (sign: string) => sign === "\u007f" || sign === "\b";
