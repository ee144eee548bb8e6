import type { Invocation } from "../command.ts";
import { Asker } from "./ask.ts";

/** Whether somebody is there to answer: a terminal at both ends, and no machine that reads. */
export function isInteractive({ switches }: Pick<Invocation, "switches">): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !switches.has("json");
}

export function openAsker(signal: AbortSignal): Asker {
  return new Asker({
    input: process.stdin,
    write: (text) => void process.stdout.write(text),
    signal,
  });
}
