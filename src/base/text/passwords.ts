/**
 * A password that is not percent-encoded may contain any character, `/` and `@` too. So all up to the
 * last `@` is hidden, even if it may be a port and a path.
 */

/** A sentence without the users and passwords of the addresses in it. Spaces and quotes end them. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/(\/\/)[^\s:"]*:[^\s"]*@/g, "$1…@");
}

/**
 * An address of a server without its password and that of its TLS key; a path as it is. What looks like
 * an address and is none is hidden as a whole.
 */
export function withoutPassword(text: string): string {
  const isPath = /^\/(?!\/)/.test(text) || !/[@?]|\/\//.test(text);
  if (isPath) return text;
  const masked = text.replace(/(\/\/[^:]*:).*@/s, "$1***@");
  const url = URL.parse(masked);
  if (url === null || (url.host === "" && masked.includes("@"))) return "…";
  const inQuery = ["password", "sslpassword"].filter((name) => url.searchParams.has(name));
  if (inQuery.length === 0) return masked;
  for (const name of inQuery) url.searchParams.set(name, "***");
  // It may be the rest of a password.
  url.hash = "";
  return url.href;
}
