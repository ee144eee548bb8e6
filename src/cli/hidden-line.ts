import type { ReadStream } from "node:tty";
import { Problem } from "../base/problem.ts";

/** Asks for a line on the terminal that is not shown while it is typed: a key. */
export function askHidden(question: string, input: ReadStream = process.stdin): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const end = () => {
    input.off("data", onData);
    input.setRawMode(false);
    input.pause();
    process.stderr.write("\n");
  };
  const onData = (bytes: Uint8Array | string) => {
    for (const sign of typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8")) {
      if (sign === "\r" || sign === "\n") {
        end();
        resolve(text.trim());
        return;
      }
      // ctrl-c and ctrl-d: in this mode the terminal does not act on them itself.
      if (sign === "\u0003" || sign === "\u0004") {
        end();
        reject(new Problem("failed", "Stopped: nothing was changed."));
        return;
      }
      text = sign === "\u007f" || sign === "\b" ? text.slice(0, -1) : text + sign;
    }
  };
  process.stderr.write(`${question} `);
  input.setRawMode(true);
  input.on("data", onData);
  input.resume();
  return promise;
}
