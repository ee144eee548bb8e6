import { requestPath } from "../base/network/address.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import { clientAddress, type TrustedProxies } from "../base/network/client-address.ts";
import { Listener } from "../base/network/listener.ts";
import type { Tokens } from "../people/tokens.ts";
import { type Change, toChangesText } from "../wire/changes.ts";
import { toOpenApi } from "../wire/v1/openapi/openapi.ts";
import type { Api } from "./http/api.ts";
import { toPlatformOpenApi } from "./http/openapi.ts";
import { type MetricsOptions, metricsPage } from "./metrics-page.ts";
import { isOwnHost } from "./own-host.ts";
import { routes } from "./routes.ts";
import type { Site } from "./site/site.ts";

export interface PlatformServerOptions {
  readonly host: string;
  readonly port: number;
  /** With one, it speaks TLS only. */
  readonly certificate: ListenerCertificate | undefined;
  /** SVC_PLATFORM_URL, where it is set. */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly version: string;
  readonly gatewayUrl: string;
  readonly changes: readonly Change[];
  readonly api: Pick<Api, "respond">;
  /** The console; what none of its paths is, it leaves alone. */
  readonly site: Pick<Site, "respond" | "build">;
  readonly tokens: Pick<Tokens, "find">;
  readonly metrics: Pick<MetricsOptions, "access" | "text">;
}

const plainHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
/** More than the API takes, so that its own words answer who sends a little too much. */
const mostBodyBytes = 4 * 1024 * 1024;

type Page = (request: Request) => Response | Promise<Response>;

/** Answers a request of a peer, given by its IP address. */
export type Respond = (request: Request, peer: string) => Promise<Response>;

/** The control plane's own listener, never reachable through the gateway's. */
export function startPlatform(options: PlatformServerOptions): {
  readonly port: number;
  readonly respond: Respond;
  close(): Promise<void>;
} {
  const { host, port, certificate } = options;
  const respond = toRespond(options);
  const listener = new Listener({
    place: { host, port, setting: "SVC_PLATFORM_PORT" },
    certificate,
    serve: (options) =>
      Bun.serve({
        ...options,
        idleTimeout: 30,
        maxRequestBodySize: mostBodyBytes,
        // Else the runtime shows its own error page, with our source in it.
        development: false,
        fetch: (request, running) => respond(request, running.requestIP(request)?.address ?? ""),
      }),
  });
  return { port: listener.port, respond, close: () => listener.close() };
}

function toRespond(options: PlatformServerOptions): Respond {
  const { host, publicUrl, trustedProxies, api, site } = options;
  const own = { listensOn: host, publicUrl };
  const documents = toDocuments(options);
  return async (request, peer) => {
    if (!isOwnHost(request.headers.get("host"), own)) return misdirected();
    const path = requestPath(request.url);
    const document = Object.hasOwn(documents, path) ? documents[path] : undefined;
    if (document !== undefined) return readOnly(request) ?? document(request);
    const address = clientAddress({
      peer,
      forwardedFor: request.headers.get("x-forwarded-for"),
      trusted: trustedProxies,
    });
    const reply = await api.respond(request, address);
    if (reply !== undefined) return withBuild(reply, site.build());
    const page = site.respond(request) ?? nothingHere();
    return page.status === 404 ? page : (readOnly(request) ?? page);
  };
}

/** An open page learns from any reply that there is a newer one. */
function withBuild(reply: Response, build: string | undefined): Response {
  if (build !== undefined) reply.headers.set("x-svc-build", build);
  return reply;
}

const misdirected = () =>
  refusal(421, {
    code: "wrong_host",
    message:
      "The Host header does not match an address of the platform. Use the address it listens on, or set SVC_PLATFORM_URL to its public address.",
  });

const nothingHere = () => refusal(404, { message: "Unknown path." });

function readOnly({ method }: Request): Response | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  const response = refusal(405, { message: "This path allows only GET and HEAD." });
  response.headers.set("allow", "GET, HEAD");
  return response;
}

/** For machines. Everything except the metrics is public. */
function toDocuments(options: PlatformServerOptions): Readonly<Record<string, Page>> {
  const { version, gatewayUrl, changes, site, host, tokens, metrics } = options;
  const describe = () => json(toPlatformOpenApi(routes, version));
  return {
    "/healthz": () => withBuild(json({ status: "ok" }), site.build()),
    "/openapi.json": () => json(toOpenApi(`${gatewayUrl}/v1`)),
    "/api/openapi.json": describe,
    "/changelog.txt": () =>
      new Response(toChangesText(changes), {
        headers: { ...plainHeaders, "content-type": "text/plain; charset=utf-8" },
      }),
    "/metrics": (request) => metricsPage({ host, tokens, ...metrics }, request),
  };
}

const json = (body: unknown, status = 200) =>
  Response.json(body, { status, headers: plainHeaders });

const refusal = (status: number, error: { readonly message: string; readonly code?: string }) =>
  json({ error }, status);
