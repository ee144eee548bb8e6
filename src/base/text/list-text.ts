/** `bash, zsh or fish` */
export const eitherOf = (names: readonly string[]): string => joined(names, "or");

/** `bash, zsh and fish` */
export const allOf = (names: readonly string[]): string => joined(names, "and");

function joined(names: readonly string[], conjunction: string): string {
  return names.length < 2
    ? names.join("")
    : `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1) ?? ""}`;
}
