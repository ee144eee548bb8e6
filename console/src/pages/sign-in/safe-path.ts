/** Where to go after signing in: a path of ours, never another site that a link smuggled in. */
export function safePath(then: string | undefined): string {
  if (then === undefined || !then.startsWith("/")) return "/";
  // As the browser would read it: `//host` and `/\host` are other sites.
  const here = "http://here.invalid";
  const url = new URL(then, here);
  return url.origin === here ? `${url.pathname}${url.search}${url.hash}` : "/";
}
