import { Problem } from "../../base/problem.ts";
import type { Invocation } from "../command.ts";

/** The exit code of a process whose reader closed the pipe (128 + SIGPIPE). */
const readerLeftCode = 141;

/** The gateway's limit for a request body. */
const maxInputBytes = 32 * 1024 * 1024;

/** Resolves when the reader has received it, so that a slow reader is waited for. */
export function writeOut(data: string | Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: NodeJS.ErrnoException) =>
    error.code === "EPIPE" ? process.exit(readerLeftCode) : reject(error);
  process.stdout.once("error", onError);
  process.stdout.write(data, (error) => {
    process.stdout.off("error", onError);
    if (error === undefined || error === null) resolve();
    else onError(error);
  });
  return promise;
}

/** The words as one text; a single `-` reads standard input. */
export async function readWords(words: readonly string[], name: string): Promise<string> {
  const text = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
  if (text.trim() === "") throw new Problem({ code: "invalid", message: `${name} is empty.` });
  return text;
}

/** All of standard input, without the last line end. */
export async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of Bun.stdin.stream()) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxInputBytes)
      throw new Problem({
        code: "invalid",
        message: "Standard input is larger than 32 MiB.",
      });
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** The number after a flag; the gateway checks its range. */
export function numberFlag(flags: Invocation["flags"], name: string): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number))
    throw new Problem({
      code: "invalid",
      field: name.replaceAll("-", "_"),
      message: `Expected a number, not "${text}".`,
    });
  return number;
}
