/** Why a file could not be read, without the names of system calls. */
export function fileProblem(path: string, cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT") return `File ${path} does not exist.`;
  if (code === "EISDIR") return `${path} is a directory. Specify a file in it.`;
  if (code === "EACCES") return `File ${path} cannot be read: permission denied.`;
  return `File ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
}
