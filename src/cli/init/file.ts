import { existsSync, readFileSync } from "node:fs";
import { Problem } from "../../base/problem.ts";
import { messageOf } from "../../base/replace-file.ts";

/** Undefined: there is none. */
export function readFileIfThere(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Problem({
      code: "failed",
      message: `${path} cannot be read: ${messageOf(cause)}`,
      cause,
    });
  }
}
