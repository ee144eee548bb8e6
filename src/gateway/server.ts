import { ApiError } from "../base/errors.ts";
import { requestPath } from "../base/network/address.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import { Listener } from "../base/network/listener.ts";
import { eitherOf } from "../base/text/list-text.ts";
import { shuttingDown } from "./active-calls.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import { Draining, type DrainState } from "./draining.ts";
import { EndedConnections } from "./ended-connections.ts";
import type { Exchange } from "./exchange.ts";
import { noteFailure } from "./failures.ts";
import { respond, type Work } from "./pipeline.ts";
import { identify } from "./request/authenticate.ts";
import { type BunServer, idleTimeoutS } from "./served-call.ts";
import {
  type ApiVersion,
  type Endpoint,
  type Endpoints,
  findEndpoint,
  get,
  mount,
} from "./versions.ts";

export interface GatewayServerOptions {
  readonly dependencies: GatewayDependencies;
  readonly versions: readonly ApiVersion[];
  readonly host: string;
  readonly port: number;
  /** Other processes of this machine listen on the same port, and the kernel chooses among them. */
  readonly sharesPort: boolean;
  /** With one, it speaks TLS only. */
  readonly certificate: ListenerCertificate | undefined;
  /** How long a drain is announced before the port is closed. */
  readonly drainMs: number;
  /** Rejects when the gateway should get no traffic, although it is not drained; without waiting. */
  readonly checkReady: () => Promise<void>;
}

export interface GatewayServer {
  readonly port: number;
  /** No new connections or requests; those under way go on. */
  stopAccepting(): Promise<void>;
  /**
   * While it drains, `/readyz` fails and replies end their connections; then the port is closed. A
   * drain from the start needs no announcement.
   */
  setDraining(isDraining: boolean, isStart?: boolean): void;
  readonly drain: DrainState;
  /** Requests that have no complete reply yet. */
  readonly pending: number;
  /** The next replies end their connections, so that their callers connect again. */
  endConnections(count: number): void;
  close(): Promise<void>;
}

const flushWithinMs = 2_000;

const runtimeOptions = {
  // Bodies are bounded while they are read, so that the reply has our shape.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: idleTimeoutS,
  // Else the runtime prints the stack of every broken stream beside our log.
  development: false,
} as const;

/** The whole data plane: these paths and nothing else. Versions stand side by side, each below its prefix. */
export function startGateway(options: GatewayServerOptions): GatewayServer {
  const { dependencies, versions, host, port, sharesPort, certificate, checkReady } = options;
  let isStopping = false;
  const connections = new EndedConnections();
  // A process that is alone never ends a connection, so its replies are not looked at.
  const answer: typeof respond =
    sharesPort || dependencies.gate !== undefined
      ? (...given) => connections.endSome(respond(...given))
      : respond;
  const endpoints: Endpoints = {
    ...healthEndpoints({
      isAlive: () => dependencies.gate?.isStuck() !== true,
      async readiness() {
        if (draining.state !== "none") return "draining";
        return isStopping ? "not ready" : readinessBy(checkReady);
      },
    }),
    ...mount(versions, dependencies),
  };
  const run = runnerOf({ dependencies, endpoints, answer, isStopping: () => isStopping });
  const listener = new Listener({
    place: { host, port, setting: "SVC_PORT" },
    sharesPort,
    certificate,
    serve: (options) =>
      Bun.serve({
        ...options,
        ...runtimeOptions,
        // Exact paths are matched by the runtime, without a URL being built.
        routes: exactPaths(endpoints, run),
        fetch: (request, server) => {
          const found = findEndpoint(endpoints, request.url);
          return run(found?.endpoint, found?.rest)(request, server);
        },
        error: () => new Response(null, { status: 500 }),
      }),
  });
  const draining = new Draining({
    listener,
    connections,
    announceMs: options.drainMs,
    log: dependencies.log,
  });
  return {
    port: listener.port,
    setDraining(isWanted, isStart = false) {
      if (isStopping) return;
      if (isWanted) draining.begin({ isAnnounced: !isStart });
      else draining.end();
    },
    get drain() {
      return draining.state;
    },
    async stopAccepting() {
      draining.stop();
      await listener.stopAccepting();
      isStopping = true;
    },
    get pending() {
      return listener.pending;
    },
    endConnections(count) {
      if (draining.state === "none") connections.expect(count);
    },
    async close() {
      // The last replies may still be on their way to their sockets.
      const untilMs = Date.now() + flushWithinMs;
      while (listener.pending > 0 && Date.now() < untilMs) await Bun.sleep(5);
      await listener.close();
    },
  };
}

interface RunnerOptions {
  readonly dependencies: GatewayDependencies;
  readonly endpoints: Endpoints;
  readonly answer: typeof respond;
  readonly isStopping: () => boolean;
}

/** What the listener calls for a request, once its path is matched. */
function runnerOf({ dependencies, endpoints, answer, isStopping }: RunnerOptions) {
  const ungated = { ...dependencies, gate: undefined };
  return (endpoint: Endpoint | undefined, rest = "") =>
    (request: Request, server: BunServer) =>
      answer(endpoint?.isUngated === true ? ungated : dependencies, request, server, (exchange) => {
        if (request.method === "OPTIONS") return exchange.preflight();
        if (endpoint === undefined) {
          identify(exchange, dependencies.keys);
          throw notFound(request.url, Object.keys(endpoints));
        }
        if (!endpoint.methods.includes(request.method))
          return refuseMethod(dependencies, exchange, endpoint);
        if (isStopping() && request.method === "POST") throw shuttingDown();
        exchange.rest = rest;
        return endpoint.work(exchange, server);
      });
}

function exactPaths<T>(
  endpoints: Endpoints,
  run: (endpoint: Endpoint) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(endpoints)
      .filter(([path]) => !path.endsWith("*"))
      .map(([path, endpoint]) => [path, run(endpoint)]),
  );
}

function refuseMethod(
  dependencies: GatewayDependencies,
  exchange: Exchange,
  { methods }: Endpoint,
): Response {
  identify(exchange, dependencies.keys);
  const error = wrongMethod(methods);
  noteFailure(dependencies, exchange, error);
  const response = exchange.fail(error);
  response.headers.set("allow", `${methods.join(", ")}, OPTIONS`);
  return response;
}

type Readiness = "ok" | "draining" | "not ready";

const readinessBy = (check: () => Promise<void>): Promise<Readiness> =>
  check().then(
    () => "ok",
    () => "not ready",
  );

function healthEndpoints({
  isAlive,
  readiness,
}: {
  readonly isAlive: () => boolean;
  readonly readiness: () => Promise<Readiness>;
}): Endpoints {
  const probe = (work: Work): Endpoint => ({ ...get(work), isUngated: true });
  const answer = (exchange: Exchange, status: string, isOk: boolean) =>
    exchange.reply(JSON.stringify({ status }), "application/json", isOk ? 200 : 503);
  const health = probe((exchange) => {
    const isOk = isAlive();
    return answer(exchange, isOk ? "ok" : "stuck", isOk);
  });
  return {
    "/healthz": health,
    // The name that more probes and clients know.
    "/health": health,
    "/readyz": probe(async (exchange) => {
      const status = await readiness();
      return answer(exchange, status, status === "ok");
    }),
  };
}

/** Known client mistakes get a hint about what to set. */
function notFound(url: string, paths: readonly string[]): ApiError {
  const path = requestPath(url);
  const served = paths.filter((one) => path.startsWith(`${one.slice(0, one.indexOf("/", 1))}/`));
  const hint =
    served.length > 0
      ? `Available paths: ${served.join(", ").replaceAll("*", "{id}")}.`
      : "The base URL must end in /v1.";
  return new ApiError({ code: "not_found", message: `Unknown path. ${hint}` });
}

function wrongMethod(methods: readonly string[]): ApiError {
  return new ApiError({
    code: "method_not_allowed",
    message: `Method not allowed. Use ${eitherOf(methods)}.`,
  });
}
