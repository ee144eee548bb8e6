/**
 * The least that a JSON-aware proxy in Bun does, and the yardstick of the bench: Bun.serve and fetch,
 * every request, reply and stream event parsed and written again with another model and id. Audio
 * is passed through. No keys, no checks, no billing. Not tuned, and not to be: it is what anyone would write.
 */
import { announce } from "./processes.ts";
import { type ModelKind, models, publicModel, upstreamModel } from "./traffic.ts";

type Body = { id?: string; model?: string; stream?: boolean };

const baseUrl = `http://127.0.0.1:${Number(process.argv[2])}/v1`;
const upstreamUrl = `${baseUrl}/chat/completions`;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  routes: {
    "/v1/embeddings": async (request) => {
      const upstream = await forwarded(request, "embeddings", "/embeddings");
      const reply = (await upstream.json()) as Body;
      reply.model = models.embeddings.public;
      return Response.json(reply, { status: upstream.status });
    },
    "/v1/audio/speech": async (request) => {
      const { body, status } = await forwarded(request, "speech", "/audio/speech");
      return new Response(body, { status, headers: { "content-type": "audio/pcm" } });
    },
  },
  async fetch(request) {
    const body = (await request.json()) as Body;
    const streamed = body.stream === true;
    body.model = upstreamModel;
    const upstream = await fetch(upstreamUrl, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer upstream" },
      body: JSON.stringify(body),
      signal: request.signal,
    });
    const id = `chatcmpl-${crypto.randomUUID()}`;
    if (streamed && upstream.body !== null) {
      return new Response(rewritten(upstream.body, id), {
        status: upstream.status,
        headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
      });
    }
    return Response.json(renamed((await upstream.json()) as Body, id), { status: upstream.status });
  },
});
announce(server.port);

async function forwarded(request: Request, kind: ModelKind, path: string): Promise<Response> {
  const body = (await request.json()) as Body;
  body.model = models[kind].upstream;
  return fetch(baseUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer upstream" },
    body: JSON.stringify(body),
    signal: request.signal,
  });
}

function renamed(body: Body, id: string): Body {
  body.id = id;
  body.model = publicModel;
  return body;
}

function rewritten(source: ReadableStream<Uint8Array>, id: string): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let pending = "";
  return new ReadableStream({
    async pull(controller) {
      while (true) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        const events = (pending + decoder.decode(value, { stream: true })).split("\n\n");
        pending = events.pop() ?? "";
        if (events.length === 0) continue;
        const text = events.map((event) => rewrittenEvent(event, id)).join("");
        return controller.enqueue(encoder.encode(text));
      }
    },
    cancel(reason) {
      return reader.cancel(reason);
    },
  });
}

function rewrittenEvent(event: string, id: string): string {
  const data = event.slice("data: ".length);
  if (data === "[DONE]") return `${event}\n\n`;
  return `data: ${JSON.stringify(renamed(JSON.parse(data) as Body, id))}\n\n`;
}
