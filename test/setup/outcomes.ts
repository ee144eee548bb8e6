import { expect } from "bun:test";
import type { Finished } from "./child.ts";

/** Returns what a command printed that must have succeeded without a warning. */
export function succeeds({ code, stderr, stdout }: Finished): string {
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

/** For `toMatchObject`: the end of a command that was refused with this text. */
export const refusal = (code: number, text: string) => ({
  code,
  stderr: expect.stringContaining(text),
});

export type Refused = readonly [line: string, code: number, text: string];

/** Runs each line, which must print nothing but an error with this text, and end with this code. */
export async function refusesAll(
  run: (line: string) => Promise<Finished>,
  cases: readonly Refused[],
): Promise<void> {
  for (const [line, code, text] of cases)
    expect({ line, ...(await run(line)) }).toMatchObject({
      line,
      stdout: "",
      ...refusal(code, text),
    });
}
