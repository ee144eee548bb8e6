import { hostname } from "node:os";
import { isLoopback } from "../../base/network/address.ts";
import type { Setting } from "../setting.ts";
import {
  host,
  nodeName,
  oneOf,
  origins,
  path,
  platformUrl,
  port,
  proxies,
  publicUrl,
  workers,
} from "../setting-readers.ts";

const usualNode = () =>
  hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, 64) || "node";

/** A proxy in front of a public address connects from this machine, for any client. */
function usualMetricsAccess(values: Readonly<Record<string, unknown>>): "open" | "token" {
  const { platformHost, platformUrl: address } = values;
  const isPublic = typeof address === "string" && !isLoopback(new URL(address).hostname);
  return isLoopback(String(platformHost)) && !isPublic ? "open" : "token";
}

/** Where the listeners are, and who may reach them. */
export const listenSettings = {
  host: {
    env: "SVC_HOST",
    about: "address the gateway listens on",
    fallback: "127.0.0.1",
    read: host,
  },
  port: { env: "SVC_PORT", about: "port of the gateway", fallback: "8080", read: port },
  platformHost: {
    env: "SVC_PLATFORM_HOST",
    about: "address the platform listens on",
    fallback: "127.0.0.1",
    read: host,
  },
  platformPort: {
    env: "SVC_PLATFORM_PORT",
    about: "port of the platform",
    fallback: "8081",
    read: port,
  },
  publicUrl: {
    env: "SVC_PUBLIC_URL",
    about: "public address of the gateway",
    fallback: undefined,
    read: publicUrl,
  },
  platformUrl: {
    env: "SVC_PLATFORM_URL",
    about: "public address of the platform",
    fallback: undefined,
    read: platformUrl,
  },
  tlsCert: {
    env: "SVC_TLS_CERT",
    about: "PEM file with the TLS certificate of gateway and platform, and its chain",
    fallback: undefined,
    read: path,
  },
  tlsKey: {
    env: "SVC_TLS_KEY",
    about: "PEM file with the key of the TLS certificate",
    fallback: undefined,
    read: path,
  },
  trustedProxies: {
    env: "SVC_TRUSTED_PROXIES",
    about: "proxies whose X-Forwarded-For is trusted",
    fallback: undefined,
    read: proxies,
  },
  metricsAccess: {
    env: "SVC_METRICS",
    about: "who may read /metrics on the platform",
    fallback: undefined,
    otherwise: usualMetricsAccess,
    read: oneOf("open", "token", "off"),
  },
  metricsPort: {
    env: "SVC_METRICS_PORT",
    about: "port of /metrics where svc gateway runs alone",
    fallback: "8082",
    read: port,
  },
  workers: {
    env: "SVC_WORKERS",
    about: "gateway processes of svc serve (auto: one per core); more than 1 needs PostgreSQL",
    fallback: "1",
    read: workers,
  },
  node: {
    env: "SVC_NODE",
    about: "name of this machine among those that share a database (default: host name)",
    fallback: undefined,
    otherwise: usualNode,
    read: nodeName,
  },
  corsOrigins: {
    env: "SVC_CORS_ORIGINS",
    about: "origins of web pages that may call the gateway",
    fallback: undefined,
    read: origins,
  },
} as const satisfies Record<string, Setting<unknown>>;
