import { listen } from "../base/listen.ts";
import { requestPath } from "../base/request-path.ts";

export interface PlatformServerOptions {
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly gatewayUrl: () => string;
}

/** The control plane's own listener, never reachable through the gateway's. */
export function startPlatform({ host, port, version, gatewayUrl }: PlatformServerOptions): {
  readonly port: number;
  close(): Promise<void>;
} {
  const headers = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
  const server = listen({ host, port, setting: "SVC_PLATFORM_PORT" }, () =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: 30,
      // Else the runtime shows its own error page, with our source in it.
      development: false,
      reusePort: false,
      fetch(request) {
        const pathname = requestPath(request.url);
        if (pathname === "/healthz") return Response.json({ status: "ok" }, { headers });
        if (pathname === "/")
          return Response.json(
            { name: "svc gateway", version, gateway: `${gatewayUrl()}/v1` },
            { headers },
          );
        return Response.json(
          { error: { message: "There is nothing at this path." } },
          { status: 404, headers },
        );
      },
    }),
  );
  return { port: server.port ?? port, close: () => server.stop(true) };
}
