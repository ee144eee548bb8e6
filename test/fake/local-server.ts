/** A server as people run it on their own machine: Ollama, by the paths that it documents. */
export interface LocalServer {
  readonly port: number;
  /** As OLLAMA_HOST has it. */
  readonly host: string;
  stop(): Promise<void>;
}

export interface LocalServerOptions {
  readonly models?: readonly string[];
  /** The status of its list of models, to be broken. */
  readonly listStatus?: number;
}

export function startLocalServer({
  models = ["llama3.2:3b", "nomic-embed-text:latest"],
  listStatus = 200,
}: LocalServerOptions = {}): LocalServer {
  const listed = models.map((id) => ({
    id,
    object: "model",
    created: 1_759_000_000,
    owned_by: "library",
  }));
  const replies: Readonly<Record<string, () => Response>> = {
    "/api/version": () => Response.json({ version: "0.12.6" }),
    "/api/tags": () =>
      Response.json({ models: models.map((name) => ({ name, model: name, size: 2_019_393_189 })) }),
    "/v1/models": () =>
      listStatus === 200
        ? Response.json({ object: "list", data: listed })
        : Response.json({ error: { message: "no", type: "api_error" } }, { status: listStatus }),
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      replies[new URL(request.url).pathname]?.() ??
      new Response("404 page not found", { status: 404 }),
  });
  const port = server.port ?? 0;
  return { port, host: `127.0.0.1:${port}`, stop: () => server.stop(true) };
}
