import type { RunningServer } from "../../src/app/server.ts";

const handlers = new Map<string, RunningServer["respondOnPlatform"]>();

/** The same server; until it has stopped, `platformFetch` calls its handler. */
export function answeringInProcess(server: RunningServer): RunningServer {
  const { platformUrl, respondOnPlatform } = server;
  handlers.set(platformUrl, respondOnPlatform);
  const stop = () => server.stop().finally(() => handlers.delete(platformUrl));
  return { ...server, stop };
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
