import { listen } from "../base/listen.ts";
import { requestPath } from "../base/request-path.ts";
import { type Change, toChangesText } from "../wire/changes.ts";
import { toOpenApi } from "../wire/v1/openapi.ts";
import { pageHeaders, toChangesPage } from "./changes-page.ts";

export interface PlatformServerOptions {
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly gatewayUrl: () => string;
  readonly changes: readonly Change[];
}

const plainHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/** The control plane's own listener, never reachable through the gateway's. */
export function startPlatform(options: PlatformServerOptions): {
  readonly port: number;
  close(): Promise<void>;
} {
  const { host, port } = options;
  const pages = toPages(options);
  const server = listen({ host, port, setting: "SVC_PLATFORM_PORT" }, () =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: 30,
      // Else the runtime shows its own error page, with our source in it.
      development: false,
      reusePort: false,
      fetch(request) {
        const path = requestPath(request.url);
        const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
        if (page === undefined)
          return json({ error: { message: "There is nothing at this path." } }, 404);
        if (request.method === "GET" || request.method === "HEAD") return page();
        const response = json({ error: { message: "This path answers GET and HEAD only." } }, 405);
        response.headers.set("allow", "GET, HEAD");
        return response;
      },
    }),
  );
  return { port: server.port ?? port, close: () => server.stop(true) };
}

/** What anybody may read. */
function toPages({
  version,
  gatewayUrl,
  changes,
}: PlatformServerOptions): Readonly<Record<string, () => Response>> {
  const base = () => `${gatewayUrl()}/v1`;
  return {
    "/": () =>
      json({
        name: "svc gateway",
        version,
        gateway: base(),
        openapi: "/openapi.json",
        changelog: "/changelog",
      }),
    "/healthz": () => json({ status: "ok" }),
    "/openapi.json": () => json(toOpenApi(base())),
    "/changelog": () => new Response(toChangesPage(changes), { headers: pageHeaders }),
    "/changelog.txt": () =>
      new Response(toChangesText(changes), {
        headers: { ...plainHeaders, "content-type": "text/plain; charset=utf-8" },
      }),
  };
}

const json = (body: unknown, status = 200) =>
  Response.json(body, { status, headers: plainHeaders });
