export type ProblemCode = "invalid" | "not_found" | "conflict" | "test_failed" | "busy" | "failed";

interface ProblemOptions {
  readonly code: ProblemCode;
  /** Speaks of the thing, for people: "Email must be an address." */
  readonly message: string;
  /** What is wrong, by its name in the API, such as `key_env`. */
  readonly field?: string | undefined;
  /** The command that helps, without its program, such as `model list`. */
  readonly command?: string | undefined;
  readonly cause?: unknown;
}

/**
 * What went wrong for the operator: at the command line, at start, over the control socket.
 * Callers of the gateway get an ApiError instead.
 */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly field: string | undefined;
  readonly command: string | undefined;

  constructor({ code, message, field, command, cause }: ProblemOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.field = field;
    this.command = command;
  }

  /** The same problem in other words. */
  reworded(message: string): Problem {
    const { code, field, command } = this;
    return new Problem({ code, message, field, command, cause: this });
  }
}

/** The same problem with the file in front that it was found in. */
export function inFile(path: string, error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "invalid") return error;
  const lines = error.message.split("\n").map((line) => `${path}: ${line}`);
  return error.reworded(lines.join("\n"));
}

/** A field that is wrong, by its name in the API, and why: `invalid({ usd: "… must be more than 0." })`. */
export function invalid(fault: Readonly<Record<string, string>>): Problem {
  const [[field, message] = ["", ""]] = Object.entries(fault);
  return new Problem({ code: "invalid", field, message });
}

/** The same for a field that is right by itself but not beside what is there. */
export function conflict(fault: Readonly<Record<string, string>>): Problem {
  const { message, field } = invalid(fault);
  return new Problem({ code: "conflict", field, message });
}
