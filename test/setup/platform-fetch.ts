import type { RunningServer } from "../../src/app/server.ts";

const handlers = new Map<string, RunningServer["respondOnPlatform"]>();

/** From here on `platformFetch` calls the handler of this server. Returns what ends that. */
export function answersInProcess({ platformUrl, respondOnPlatform }: RunningServer): () => void {
  handlers.set(platformUrl, respondOnPlatform);
  return () => void handlers.delete(platformUrl);
}

/**
 * A fetch from the platform. A server of this process answers without its listener, which costs a
 * fraction of a request over a socket; tests of what the socket does use `fetch`.
 */
export function platformFetch(url: string, init: RequestInit): Promise<Response> {
  const { origin, host } = new URL(url);
  const respond = handlers.get(origin);
  if (respond === undefined) return fetch(url, init);
  const request = new Request(url, init);
  if (!request.headers.has("host")) request.headers.set("host", host);
  return respond(request, "127.0.0.1");
}
