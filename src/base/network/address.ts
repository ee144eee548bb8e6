/** Whether a host name or address, an IPv6 one with brackets or without, leads to this machine alone. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === "localhost" || name === "::1" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name)
  );
}

/**
 * The path of a request's URL, without query. The runtime gives a bare path where the Host header
 * makes no valid address, so `new URL` would throw on what any caller can send.
 */
export function requestPath(url: string): string {
  const from = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  return from === -1 ? "/" : (url.slice(from).split(/[?#]/, 1)[0] ?? "/");
}
