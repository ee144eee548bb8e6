import { ApiError } from "../base/errors.ts";
import { listen } from "../base/network/listen.ts";
import { requestPath } from "../base/network/request-path.ts";
import { shuttingDown } from "./active-calls.ts";
import { noteFailure } from "./failures.ts";
import { type BunServer, type GatewayParts, idleTimeoutS, respond } from "./pipeline.ts";
import { type Endpoint, type Endpoints, findEndpoint, get, type Major, mount } from "./versions.ts";

export interface GatewayServerOptions {
  readonly parts: GatewayParts;
  readonly majors: readonly Major[];
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
export function startGateway(options: GatewayServerOptions): GatewayServer {
  const { parts, majors, host, port, checkReady } = options;
  let isDraining = false;
  const endpoints: Endpoints = {
    ...healthEndpoints(async () => {
      if (isDraining) throw new Error("draining");
      await checkReady();
    }),
    ...mount(majors, parts),
  };
  const run =
    (endpoint: Endpoint | undefined, rest = "") =>
    (request: Request, server: BunServer) =>
      respond(parts, request, server, (exchange) => {
        if (request.method === "OPTIONS") return exchange.preflight();
        if (endpoint === undefined) throw notFound(request.url, Object.keys(endpoints));
        if (!endpoint.methods.includes(request.method)) {
          const error = wrongMethod(endpoint.methods);
          noteFailure(parts, exchange, error);
          const response = exchange.fail(error);
          response.headers.set("allow", `${endpoint.methods.join(", ")}, OPTIONS`);
          return response;
        }
        if (isDraining && request.method === "POST") throw shuttingDown();
        exchange.rest = rest;
        return endpoint.work(exchange, server);
      });
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
        Object.entries(endpoints)
          .filter(([path]) => !path.endsWith("*"))
          .map(([path, endpoint]) => [path, run(endpoint)]),
      ),
      fetch: (request, server) => {
        const found = findEndpoint(endpoints, request.url);
        return run(found?.endpoint, found?.rest)(request, server);
      },
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

function healthEndpoints(checkReady: () => Promise<void>): Endpoints {
  const health = get((exchange) => exchange.json('{"status":"ok"}'));
  return {
    "/healthz": health,
    // The name that more probes and clients know.
    "/health": health,
    "/readyz": get(async (exchange) => {
      const isReady = await checkReady().then(
        () => true,
        () => false,
      );
      return exchange.reply(
        JSON.stringify({ status: isReady ? "ok" : "not ready" }),
        "application/json",
        isReady ? 200 : 503,
      );
    }),
  };
}

/** Some paths are a client's mistake that we know: those get told what to set. */
function notFound(url: string, paths: readonly string[]): ApiError {
  const path = requestPath(url);
  const served = paths.filter((one) => path.startsWith(`${one.slice(0, one.indexOf("/", 1))}/`));
  const hint = path.endsWith("/responses")
    ? "The responses format is not served: use chat completions (in the AI SDK, `provider.chat(model)` or @ai-sdk/openai-compatible)."
    : served.length > 0
      ? `Served are ${served.join(", ").replaceAll("*", "{id}")}.`
      : "The base URL ends in /v1.";
  return new ApiError({ code: "not_found", message: `There is nothing at this path. ${hint}` });
}

function wrongMethod(methods: readonly string[]): ApiError {
  return new ApiError({
    code: "method_not_allowed",
    message: `This path answers ${methods.join(", ")} only.`,
  });
}
