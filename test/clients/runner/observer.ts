import type { FakeUpstream, RecordedRequest } from "../../fake/upstream.ts";
import { type Answers, askedIn } from "./answers.ts";

/** Tells the programs, over HTTP, what the upstream has seen of them. */
export interface Observer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * `GET /requests?tag=TAG`: what the upstream was sent, all of it without a tag.
 * `GET /ended?tag=TAG`: answers when the last of them has ended, and says whether it was broken off.
 * `GET /release?tag=TAG`: the program has read what came so far, and the stream may go on to break.
 */
export function startObserver(upstream: FakeUpstream, answers: Answers): Observer {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // The programs wait for 30 seconds at most.
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const tag = searchParams.get("tag");
      const seen = requestsWith(upstream, tag);
      if (pathname === "/requests")
        return Response.json(
          seen.map((one) => {
            // Uploads are forms: they are seen as well where a check cannot tag its request.
            const json = one.body.startsWith("{") ? one.json : null;
            return { path: one.path, json, headers: one.headers };
          }),
        );
      if (pathname === "/release") {
        answers.release(tag ?? "");
        return Response.json({});
      }
      const last = seen.at(-1);
      if (pathname !== "/ended" || last === undefined)
        return Response.json({ problem: `nothing is known at ${request.url}` }, { status: 404 });
      await last.closed;
      return Response.json({ aborted: last.abortedByClient });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function requestsWith(upstream: FakeUpstream, tag: string | null): readonly RecordedRequest[] {
  return upstream.requests.filter((request) => tag === null || askedIn(request)?.tag === tag);
}
