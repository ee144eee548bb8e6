/**
 * The path of a request's URL, without query. The runtime gives a bare path where the Host header
 * makes no valid address, so `new URL` would throw on what any caller can send.
 */
export function requestPath(url: string): string {
  const from = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  return from === -1 ? "/" : (url.slice(from).split(/[?#]/, 1)[0] ?? "/");
}
