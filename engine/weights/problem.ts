/** What keeps a set from being created, in words for the person who can fix it. */
export class WeightsProblem extends Error {
  override readonly name = "WeightsProblem";
  /** Whether another try a moment later may do. */
  readonly isPassing: boolean;

  constructor(message: string, { cause, isPassing = false }: WeightsProblemOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.isPassing = isPassing;
  }
}

interface WeightsProblemOptions {
  readonly cause?: unknown;
  readonly isPassing?: boolean;
}

const stopped =
  "The download was stopped. Downloaded data is kept, so run the command again to resume.";

/** The sentence for whatever ended a pull. */
export function explain(error: unknown, cacheDir: string): string {
  if (error instanceof WeightsProblem) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "AbortError") return stopped;
  const path = "path" in error && typeof error.path === "string" ? error.path : cacheDir;
  const code = codeOf(error) ?? "";
  const sentence = diskSentences[code]?.(path, cacheDir);
  if (sentence !== undefined) return sentence;
  return "syscall" in error && error.syscall === "mkdir" ? notMade(path, code) : error.message;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}

const elsewhere = "or set SVC_CACHE_DIR to another directory";
const diskFull = (_path: string, cacheDir: string) =>
  `The disk that holds ${cacheDir} is full. Free some space and run the command again to resume the download, ${elsewhere}.`;
const notAllowed = (path: string) =>
  `This user cannot write to ${path}. Grant write permission, ${elsewhere}.`;
/** Below a dangling link, or where the system allows no new directories. */
const notMade = (path: string, code: string) =>
  `The directory ${path} cannot be created (${code}). Create it yourself, ${elsewhere}.`;

const diskSentences: Readonly<Record<string, (path: string, cacheDir: string) => string>> = {
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  EACCES: notAllowed,
  EPERM: notAllowed,
  SQLITE_CANTOPEN: (_path, cacheDir) => notAllowed(cacheDir),
  SQLITE_READONLY: (_path, cacheDir) => notAllowed(cacheDir),
  EROFS: (path) => `${path} is on a read-only file system. Make it writable, ${elsewhere}.`,
  ENOTDIR: (path) =>
    `Part of the path ${path} is a file, not a directory. Move or rename that file, ${elsewhere}.`,
  EEXIST: (path) =>
    `${path} is a file, but must be a directory. Move or rename that file, ${elsewhere}.`,
};

export function megabytes(bytes: number): string {
  const value = bytes / 1_000_000;
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}
