import { requestPath } from "../base/network/address.ts";
import { listen } from "../base/network/listen.ts";
import { mayEnter } from "../people/role.ts";
import type { Tokens } from "../people/tokens.ts";
import { bearerOf } from "./http/entry.ts";
import { isOwnHost } from "./own-host.ts";

export interface MetricsOptions {
  /** The address that the listener has. */
  readonly host: string;
  readonly access: "open" | "token" | "off";
  readonly text: () => Promise<string>;
  readonly tokens: Pick<Tokens, "find">;
}

/** The text format of Prometheus. */
const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";
const plainHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

export async function metricsPage(
  { host, access, text, tokens }: MetricsOptions,
  request: Request,
): Promise<Response> {
  if (access === "off") return refusal(404, "Metrics are switched off (SVC_METRICS).");
  if (access === "token") {
    const token = await tokens.find(bearerOf(request) ?? "");
    if (token?.role !== "operator" || !mayEnter(token.scopes, "metrics", false))
      return refusal(
        401,
        "Send an operator token with the scope metrics:read as Authorization: Bearer.",
      );
  }
  // A proxy in front of the public address connects from this machine, on behalf of any client.
  if (access === "open" && !isOwnHost(request.headers.get("host"), { listensOn: host }))
    return refusal(
      403,
      "Without a token, metrics are served only at the address the platform listens on. Use that address, or set SVC_METRICS to token.",
    );
  return new Response(await text(), {
    headers: { ...plainHeaders, "content-type": metricsContentType },
  });
}

/** For a gateway that has no platform beside it. */
export function startMetrics(options: MetricsOptions & { readonly port: number }): {
  readonly port: number;
  close(): Promise<void>;
} {
  const { host, port } = options;
  const server = listen({ host, port, setting: "SVC_METRICS_PORT" }, () =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: 30,
      // Else the runtime shows its own error page, with our source in it.
      development: false,
      reusePort: false,
      fetch: (request) =>
        requestPath(request.url) === "/metrics" && request.method === "GET"
          ? metricsPage(options, request)
          : refusal(404, "This port serves GET /metrics only."),
    }),
  );
  return { port: server.port ?? port, close: () => server.stop(true) };
}

const refusal = (status: number, message: string) =>
  Response.json({ error: { message } }, { status, headers: plainHeaders });
