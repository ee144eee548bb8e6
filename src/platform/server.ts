import { isIP } from "node:net";
import { listen } from "../base/listen.ts";
import { isLoopback } from "../base/loopback.ts";
import { requestPath } from "../base/request-path.ts";
import { mayEnter } from "../people/role.ts";
import type { Tokens } from "../people/tokens.ts";
import { type Change, toChangesText } from "../wire/changes.ts";
import { toOpenApi } from "../wire/v1/openapi.ts";
import type { Api } from "./api/api.ts";
import { bearerOf } from "./api/entry.ts";
import { toPlatformOpenApi } from "./api/openapi.ts";
import { routes } from "./api/routes.ts";

export interface PlatformServerOptions {
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly gatewayUrl: string;
  readonly changes: readonly Change[];
  readonly api: Pick<Api, "respond">;
  /** The console; what none of its paths is, it leaves alone. */
  readonly site: { respond(request: Request): Response | undefined };
  readonly tokens: Pick<Tokens, "find">;
  readonly metrics: { readonly access: "open" | "token" | "off"; readonly text: () => string };
}

/** The text format of Prometheus. */
const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";
const plainHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
/** More than the API takes, so that its own words answer who sends a little too much. */
const mostBodyBytes = 4 * 1024 * 1024;

type Page = (request: Request) => Response | Promise<Response>;

/** The control plane's own listener, never reachable through the gateway's. */
export function startPlatform(options: PlatformServerOptions): {
  readonly port: number;
  close(): Promise<void>;
} {
  const { host, port, api, site } = options;
  const documents = toDocuments(options);
  const server = listen({ host, port, setting: "SVC_PLATFORM_PORT" }, () =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: 30,
      maxRequestBodySize: mostBodyBytes,
      // Else the runtime shows its own error page, with our source in it.
      development: false,
      reusePort: false,
      async fetch(request, running) {
        const path = requestPath(request.url);
        const document = Object.hasOwn(documents, path) ? documents[path] : undefined;
        if (document !== undefined) return readOnly(request) ?? document(request);
        const address = running.requestIP(request)?.address ?? "";
        const reply = await api.respond(request, address);
        if (reply !== undefined) return reply;
        const page = site.respond(request) ?? nothingHere();
        return page.status === 404 ? page : (readOnly(request) ?? page);
      },
    }),
  );
  return { port: server.port ?? port, close: () => server.stop(true) };
}

const nothingHere = () => json({ error: { message: "There is nothing at this path." } }, 404);

function readOnly({ method }: Request): Response | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  const response = json({ error: { message: "This path answers GET and HEAD only." } }, 405);
  response.headers.set("allow", "GET, HEAD");
  return response;
}

/** For machines. All but the metrics may be read by anybody. */
function toDocuments(options: PlatformServerOptions): Readonly<Record<string, Page>> {
  const { version, gatewayUrl, changes } = options;
  const describe = () => json(toPlatformOpenApi(routes, version));
  return {
    "/healthz": () => json({ status: "ok" }),
    "/openapi.json": () => json(toOpenApi(`${gatewayUrl}/v1`)),
    "/api/openapi.json": describe,
    "/changelog.txt": () =>
      new Response(toChangesText(changes), {
        headers: { ...plainHeaders, "content-type": "text/plain; charset=utf-8" },
      }),
    "/metrics": (request) => metrics(options, request),
  };
}

async function metrics(
  { host, metrics: { access, text }, tokens }: PlatformServerOptions,
  request: Request,
): Promise<Response> {
  if (access === "off")
    return json({ error: { message: "Metrics are switched off (SVC_METRICS)." } }, 404);
  if (access === "token") {
    const token = await tokens.find(bearerOf(request) ?? "");
    if (token?.role !== "operator" || !mayEnter(token.scopes, "metrics", false))
      return json(
        {
          error: {
            message:
              "Send an operator's token with the scope metrics:read as Authorization: Bearer.",
          },
        },
        401,
      );
  }
  if (access === "open" && !isOwnHost(request, host))
    return json(
      {
        error: {
          message:
            "Without a token the metrics are told only to who asks for them by the address the platform listens on. Ask by that, or set SVC_METRICS to token.",
        },
      },
      403,
    );
  return new Response(text(), {
    headers: { ...plainHeaders, "content-type": metricsContentType },
  });
}

/** A page elsewhere can point its own name here and read what a browser gets: names must be ours. */
function isOwnHost(request: Request, listensOn: string): boolean {
  const given = `http://${request.headers.get("host") ?? ""}`;
  if (!URL.canParse(given)) return false;
  const { hostname } = new URL(given);
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isLoopback(name) || name === listensOn.toLowerCase()) return true;
  // Listening on all of them, each address is its own; nobody else can give out an address.
  const isEvery = listensOn === "0.0.0.0" || listensOn === "::";
  return isEvery && isIP(name) !== 0;
}

const json = (body: unknown, status = 200) =>
  Response.json(body, { status, headers: plainHeaders });
