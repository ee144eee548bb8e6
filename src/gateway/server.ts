import { ApiError } from "../base/errors.ts";
import { listen } from "../base/listen.ts";
import { requestPath } from "../base/request-path.ts";
import { serveChat } from "./endpoints/chat/chat.ts";
import { serveEmbeddings } from "./endpoints/embeddings/embeddings.ts";
import { listModels, showModel } from "./endpoints/models/models.ts";
import { serveSpeech } from "./endpoints/speech/speech.ts";
import {
  type BunServer,
  type GatewayParts,
  idleTimeoutS,
  modelEndpoint,
  respond,
  type Work,
} from "./gateway.ts";

interface Endpoint {
  readonly methods: readonly string[];
  readonly work: Work;
}
type Endpoints = Readonly<Record<string, Endpoint>>;

export interface GatewayServerOptions {
  readonly parts: GatewayParts;
  readonly host: string;
  readonly port: number;
  /** Rejects when the gateway should get no traffic. */
  readonly checkReady: () => Promise<void>;
}

export interface GatewayServer {
  readonly port: number;
  /** No new connections or requests; those under way go on. */
  stopAccepting(): void;
  close(): Promise<void>;
}

const flushWithinMs = 2_000;

/** The whole data plane: these paths and nothing else. Majors stand side by side by their prefix. */
export function startGateway({
  parts,
  host,
  port,
  checkReady,
}: GatewayServerOptions): GatewayServer {
  let isDraining = false;
  const post = (work: Work): Endpoint => ({
    methods: ["POST"],
    work: (exchange, server) => {
      if (isDraining)
        throw new ApiError({
          code: "shutting_down",
          message: "The gateway is shutting down. Try again.",
        });
      return work(exchange, server);
    },
  });
  const get = (work: Work): Endpoint => ({ methods: ["GET", "HEAD"], work });
  const endpoints: Endpoints = {
    "/healthz": get((exchange) => exchange.json('{"status":"ok"}')),
    "/readyz": get(async (exchange) => {
      const isReady =
        !isDraining &&
        (await checkReady().then(
          () => true,
          () => false,
        ));
      return exchange.reply(
        JSON.stringify({ status: isReady ? "ok" : "not ready" }),
        "application/json",
        isReady ? 200 : 503,
      );
    }),
    "/v1/chat/completions": post(modelEndpoint(parts, "chat", serveChat)),
    "/v1/embeddings": post(modelEndpoint(parts, "embeddings", serveEmbeddings)),
    "/v1/audio/speech": post(modelEndpoint(parts, "speech", serveSpeech)),
    "/v1/models": get(listModels(parts)),
  };
  const run = (endpoint: Endpoint | undefined) => (request: Request, server: BunServer) =>
    respond(parts, request, server, (exchange) => {
      if (request.method === "OPTIONS") return exchange.preflight();
      if (endpoint === undefined) throw notFound();
      if (endpoint.methods.includes(request.method)) return endpoint.work(exchange, server);
      const response = exchange.fail(wrongMethod(endpoint.methods));
      response.headers.set("allow", `${endpoint.methods.join(", ")}, OPTIONS`);
      return response;
    });
  const find = (path: string): Endpoint | undefined => {
    const known = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
    const id =
      known === undefined && path.startsWith("/v1/models/")
        ? decode(path.slice("/v1/models/".length))
        : "";
    return id === "" ? known : get(showModel(parts, id));
  };
  const server = listen({ host, port, setting: "SVC_PORT" }, () =>
    Bun.serve({
      hostname: host,
      port,
      // Bodies are bounded while they are read, so that the reply has our shape.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: idleTimeoutS,
      // Else the runtime prints the stack of every broken stream beside our log.
      development: false,
      // Else a second process would share the port in silence, each with keys of its own.
      reusePort: false,
      // Exact paths are matched by the runtime, without a URL being built.
      routes: Object.fromEntries(
        Object.entries(endpoints).map(([path, endpoint]) => [path, run(endpoint)]),
      ),
      fetch: (request, server) => run(find(tidyPath(request.url)))(request, server),
      error: () => new Response(null, { status: 500 }),
    }),
  );
  return {
    port: server.port ?? port,
    stopAccepting() {
      isDraining = true;
      void server.stop(false);
    },
    async close() {
      // The last replies may still be on their way to their sockets.
      const untilMs = Date.now() + flushWithinMs;
      while (server.pendingRequests > 0 && Date.now() < untilMs) await Bun.sleep(5);
      await server.stop(true);
    },
  };
}

/** A base URL with a slash too many reaches the same routes. */
function tidyPath(url: string): string {
  return requestPath(url)
    .replace(/\/{2,}/g, "/")
    .replace(/(?<=.)\/$/, "");
}

/** SDKs percent-encode a slash in a model's id. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function notFound(): ApiError {
  return new ApiError({
    code: "not_found",
    message: "There is nothing at this path. The base URL ends in /v1.",
  });
}

function wrongMethod(methods: readonly string[]): ApiError {
  return new ApiError({
    code: "method_not_allowed",
    message: `This path answers ${methods.join(", ")} only.`,
  });
}
