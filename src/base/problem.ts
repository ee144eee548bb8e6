export type ProblemCode = "invalid" | "not_found" | "conflict" | "busy" | "failed";

/**
 * What went wrong for the operator: at the command line, at start, over the control socket.
 * Callers of the gateway get an ApiError instead.
 */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** The same problem with the file in front that it was found in. */
export function inFile(path: string, error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "invalid") return error;
  const lines = error.message.split("\n").map((line) => `${path}: ${line}`);
  return new Problem(error.code, lines.join("\n"), error);
}
