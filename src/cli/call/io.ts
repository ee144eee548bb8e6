import { Problem } from "../../base/problem.ts";
import type { Invocation } from "../command.ts";

/** A reader that has enough closes the pipe; shells give this code to whoever wrote into it. */
const readerLeftCode = 141;

/** The gateway takes no larger body. */
const maxInputBytes = 32 * 1024 * 1024;

/** Resolves when the reader has taken it: what comes next waits for a slow one. */
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

/** The words as one text; `-` alone stands for what is on stdin. */
export async function readWords(words: readonly string[], name: string): Promise<string> {
  const text = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
  if (text.trim() === "") throw new Problem({ code: "invalid", message: `${name} is empty.` });
  return text;
}

/** All of stdin, without the line end that closes it. */
export async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of Bun.stdin.stream()) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxInputBytes)
      throw new Problem({
        code: "invalid",
        message: "There is more than 32 MiB on standard input.",
      });
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** The number behind a flag; whether it may be so large is the gateway's to say. */
export function numberFlag(flags: Invocation["flags"], name: string): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number))
    throw new Problem({
      code: "invalid",
      field: name.replaceAll("-", "_"),
      message: `This must be a number, not "${text}".`,
    });
  return number;
}
