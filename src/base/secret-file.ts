import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const mostBytes = 64 * 1024;

/** A secret that a vault, systemd, Docker or Kubernetes has put into a file. */
export interface SecretFile {
  /** Without line ends and spaces around it. */
  readonly text: string;
  /** Whether every user of the machine can read it. */
  readonly isOpenToAll: boolean;
}

/** What is wrong with the file: "does not exist", "is a directory". The text is never part of it. */
export class SecretFileTrouble extends Error {
  /** Whether it may be a good file that this user cannot read. */
  readonly isDenied: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isDenied?: boolean } = {}) {
    super(message, options);
    this.isDenied = options.isDenied ?? false;
  }
}

/** Follows links: Kubernetes swaps a link to replace a secret. */
export function readSecretFile(path: string): SecretFile {
  let file: number | undefined;
  try {
    // Does not wait for the writer of a pipe.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(file);
    if (found.isDirectory()) throw new SecretFileTrouble("is a directory");
    if (!found.isFile()) throw new SecretFileTrouble("is not a regular file");
    const bytes = Buffer.alloc(mostBytes + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
      if (length > mostBytes) throw new SecretFileTrouble("is larger than 64 KiB");
    }
    const text = bytes.toString("utf8", 0, length).trim();
    bytes.fill(0);
    if (text === "") throw new SecretFileTrouble("is empty");
    return { text, isOpenToAll: (found.mode & 0o004) !== 0 };
  } catch (cause) {
    if (cause instanceof SecretFileTrouble) throw cause;
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const isDenied = code === "EACCES" || code === "EPERM";
    throw new SecretFileTrouble(reasonOf(code), { cause, isDenied });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function reasonOf(code: unknown): string {
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be read by this user";
  if (code === "ENOTDIR") return "is below a file that is no directory";
  return `cannot be read (${typeof code === "string" ? code : "unknown error"})`;
}
