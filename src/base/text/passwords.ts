/**
 * A password that is not percent-encoded may contain any character, `/` and `@` too. So all up to the
 * last `@` is hidden, even if it may be a port and a path. Texts may be long and from others: both
 * functions take linear time.
 */

/** A sentence without the users and passwords of the addresses in it. Spaces and quotes end them. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/[^\s"]+/g, (word) => {
    const start = word.indexOf("//") + 2;
    const at = word.lastIndexOf("@");
    const hasUser = start >= 2 && word.lastIndexOf(":", at) >= start;
    return hasUser ? `${word.slice(0, start)}…${word.slice(at)}` : word;
  });
}

const scheme = /^\s*[a-z][a-z\d+.-]*:\/\//i;

/**
 * An address of a server without its password and that of its TLS key; a path as it is. What looks like
 * an address and is none is hidden as a whole.
 */
export function withoutPassword(text: string): string {
  const isPath = /^\/(?!\/)/.test(text) || !/[@?]|\/\//.test(text);
  if (isPath) return text;
  const masked = text.replace(/^([^:]*:\/\/[^:]*:).*@/s, "$1***@");
  // What follows the last `@` is then the rest of a password.
  const hidden = text.slice(0, text.lastIndexOf("@") + 1);
  if (masked !== text && /[?&](ssl)?password=/.test(hidden)) return "…";
  const url = URL.parse(masked);
  const isAddress = url !== null && url.host !== "" && scheme.test(masked);
  if (url === null || (!isAddress && masked.includes("@"))) return "…";
  const inQuery = ["password", "sslpassword"].filter((name) => url.searchParams.has(name));
  if (inQuery.length === 0) return masked;
  for (const name of inQuery) url.searchParams.set(name, "***");
  // It may be the rest of a password.
  url.hash = "";
  return url.href;
}
