/** What keeps a set from being made, in words for the person who can change it. */
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
  "It was stopped. What was fetched so far is kept: run it again, and it goes on from there.";

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

const elsewhere = "or name another folder with SVC_CACHE_DIR";
const diskFull = (_path: string, cacheDir: string) =>
  `The disk of ${cacheDir} is full. What was fetched so far is kept: free some space and run it again, ${elsewhere}.`;
const notAllowed = (path: string) =>
  `${path} may not be written by this user. Give it the right to write there, ${elsewhere}.`;
/** Below a link that leads nowhere, or where the system lets nobody make a folder. */
const notMade = (path: string, code: string) =>
  `The folder ${path} cannot be made (${code}). Make it yourself, ${elsewhere}.`;

const diskSentences: Readonly<Record<string, (path: string, cacheDir: string) => string>> = {
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  EACCES: notAllowed,
  EPERM: notAllowed,
  SQLITE_CANTOPEN: (_path, cacheDir) => notAllowed(cacheDir),
  SQLITE_READONLY: (_path, cacheDir) => notAllowed(cacheDir),
  EROFS: (path) => `${path} is on a file system that is read-only. Make it writable, ${elsewhere}.`,
  ENOTDIR: (path) =>
    `A part of ${path} is a file, not a folder. Move that file away, ${elsewhere}.`,
  EEXIST: (path) => `${path} is a file where a folder belongs. Move that file away, ${elsewhere}.`,
};

export function megabytes(bytes: number): string {
  const value = bytes / 1_000_000;
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}
