import { homedir, hostname } from "node:os";
import { resolve } from "node:path";
import { type LogLevel, logLevels } from "../base/log.ts";
import { isLoopback } from "../base/network/address.ts";
import { fileName, type Setting, type SettingsInput } from "./setting.ts";
import {
  apiKey,
  bodiesMb,
  connections,
  count,
  databaseUrl,
  few,
  host,
  nodeName,
  oneOf,
  onOff,
  origins,
  path,
  platformUrl,
  port,
  proxies,
  publicUrl,
  seconds,
  secret,
  Wrong,
  withoutPassword,
  workers,
} from "./setting-readers.ts";
import { unknownSettings } from "./unknown-settings.ts";

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

/** The one list of settings. Nothing else in the program reads the environment. */
export const settingList = {
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
  dataDir: {
    env: "SVC_DATA_DIR",
    about: "directory of the database, master secret and control socket",
    fallback: ".svc",
    read: path,
  },
  cacheDir: {
    env: "SVC_CACHE_DIR",
    about: "directory for files that can be downloaded again",
    fallback: resolve(homedir(), ".cache/svc-gateway"),
    read: path,
  },
  secret: {
    env: "SVC_SECRET",
    about: "master secret (default: generated in the data directory)",
    fallback: undefined,
    read: secret,
    inFile: false,
    hidden: true,
  },
  apiKey: {
    env: "SVC_API_KEY",
    about: "API key of this gateway that svc connect can write into the files of tools",
    fallback: undefined,
    read: apiKey,
    inFile: false,
    hidden: true,
  },
  databaseUrl: {
    env: "SVC_DATABASE_URL",
    about: "database (default: SQLite in the data directory)",
    fallback: undefined,
    read: databaseUrl,
    inFile: false,
    show: withoutPassword,
  },
  config: {
    env: "SVC_CONFIG",
    about: "config file (default: svc.yaml if it exists)",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  receiptsDays: {
    env: "SVC_RECEIPTS_DAYS",
    about: "days that receipts are kept (default: forever)",
    fallback: undefined,
    read: count,
  },
  receiptsExportDir: {
    env: "SVC_RECEIPTS_EXPORT_DIR",
    about: "directory that old receipts are exported to before they are deleted",
    fallback: undefined,
    read: path,
  },
  receiptsExportFormat: {
    env: "SVC_RECEIPTS_EXPORT_FORMAT",
    about: "format of exported receipts: csv or parquet",
    fallback: "csv",
    read: oneOf("csv", "parquet"),
  },
  storeResponses: {
    env: "SVC_STORE_RESPONSES",
    about: "let callers store responses, to read and to continue them later",
    fallback: "off",
    read: onOff,
  },
  storedResponsesDays: {
    env: "SVC_STORED_RESPONSES_DAYS",
    about: "days that a stored response is kept",
    fallback: "30",
    read: count,
  },
  storedResponsesMb: {
    env: "SVC_STORED_RESPONSES_MB",
    about: "maximum size of the stored responses of one account, in MiB",
    fallback: "1024",
    read: bodiesMb,
  },
  engine: {
    env: "SVC_ENGINE",
    about: "embedded models",
    fallback: "on",
    read: oneOf("on", "off"),
  },
  engineIdleMs: {
    env: "SVC_ENGINE_IDLE_S",
    about: "idle seconds after which an embedded model is unloaded",
    fallback: "600",
    read: seconds,
  },
  engineQueue: {
    env: "SVC_ENGINE_QUEUE",
    about: "requests that may queue for an embedded model",
    fallback: "16",
    read: count,
  },
  firstKey: {
    env: "SVC_FIRST_KEY",
    about: "create an account and a key on first start",
    fallback: "on",
    read: oneOf("on", "off"),
  },
  logLevel: {
    env: "SVC_LOG_LEVEL",
    about: "minimum log level",
    fallback: "info",
    read: oneOf<LogLevel>(...logLevels),
  },
  maxCallMs: {
    env: "SVC_MAX_CALL_S",
    about: "maximum duration of a call, in seconds",
    fallback: "900",
    read: seconds,
  },
  maxBodiesMb: {
    env: "SVC_MAX_BODIES_MB",
    about: "maximum memory for request bodies, in MiB",
    fallback: "512",
    read: bodiesMb,
  },
  connectMs: {
    env: "SVC_CONNECT_S",
    about: "timeout for connecting to an upstream, in seconds",
    fallback: "10",
    read: seconds,
  },
  firstByteMs: {
    env: "SVC_FIRST_BYTE_S",
    about: "timeout for the start of an upstream's reply, in seconds",
    fallback: "600",
    read: seconds,
  },
  retries: {
    env: "SVC_RETRIES",
    about: "maximum retries per target and call, within the target's retry budget",
    fallback: "2",
    read: few,
  },
  breakers: {
    env: "SVC_BREAKERS",
    about: "temporarily skip failing targets (circuit breaker)",
    fallback: "on",
    read: oneOf("on", "off"),
  },
  idleMs: {
    env: "SVC_IDLE_S",
    about: "maximum silence within a reply of an upstream, in seconds",
    fallback: "120",
    read: seconds,
  },
  readerMs: {
    env: "SVC_READER_S",
    about: "seconds without reads after which a caller is considered disconnected",
    fallback: "60",
    read: seconds,
  },
  keepAliveMs: {
    env: "SVC_KEEP_ALIVE_S",
    about: "seconds of silence after which a stream gets an SSE comment",
    fallback: "10",
    read: seconds,
  },
  offlineMs: {
    env: "SVC_OFFLINE_S",
    about:
      "seconds, beside the longest call, after which a gateway that cannot reach PostgreSQL is given up",
    fallback: "60",
    read: seconds,
  },
  databaseConnections: {
    env: "SVC_DATABASE_CONNECTIONS",
    about: "maximum connections of one process to PostgreSQL",
    fallback: "10",
    read: connections,
  },
  graceMs: {
    env: "SVC_GRACE_S",
    about: "seconds that calls in flight get to finish after SIGTERM",
    fallback: "30",
    read: seconds,
  },
} as const satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof settingList;
type Value<N extends SettingName> = Exclude<ReturnType<(typeof settingList)[N]["read"]>, Wrong>;
type Optional =
  | "publicUrl"
  | "platformUrl"
  | "trustedProxies"
  | "corsOrigins"
  | "secret"
  | "databaseUrl"
  | "config"
  | "receiptsDays"
  | "receiptsExportDir";

export type Settings = Readonly<
  { [N in Exclude<SettingName, Optional>]: Value<N> } & { [N in Optional]: Value<N> | undefined }
>;

type Source = "environment" | "file" | "default";
/** A setting as `svc config` shows it. */
export interface SettingInForce {
  readonly name: string;
  readonly value: string | null;
  readonly source: Source;
  readonly about: string;
}

export interface SettingsRead {
  readonly settings: Settings;
  readonly inForce: readonly SettingInForce[];
  readonly problems: readonly string[];
}

/** Reads all settings and reports every problem at once. */
export function readSettings({ environment, file, references }: SettingsInput): SettingsRead {
  const problems = unknownSettings(Object.values(settingList), { environment, file, references });
  const values: Record<string, unknown> = {};
  const inForce: SettingInForce[] = [];
  for (const [name, setting] of Object.entries<Setting<unknown>>(settingList)) {
    const { text: said, source, at } = whereFrom(setting, environment, file);
    const text = said ?? setting.otherwise?.(values);
    const value = text === undefined ? undefined : setting.read(text);
    if (value instanceof Wrong)
      problems.push(`${at} must be ${value.expected}${given(setting, text)}.`);
    else values[name] = value;
    inForce.push({ name: setting.env, value: shown(setting, value), source, about: setting.about });
  }
  return { settings: values as Settings, inForce, problems };
}

/** A value that is wrong may still be a secret. */
function given({ hidden, show = (text) => text }: Setting<unknown>, text = ""): string {
  return hidden ? "" : `, not "${show(text)}"`;
}

function whereFrom(
  setting: Setting<unknown>,
  environment: SettingsInput["environment"],
  file: SettingsInput["file"],
) {
  const fromEnvironment = environment[setting.env];
  // Shells and compose files leave empty variables behind. They count as not set.
  if (fromEnvironment !== undefined && fromEnvironment !== "")
    return { text: fromEnvironment, source: "environment", at: setting.env } as const;
  const name = fileName(setting.env);
  const value = setting.inFile === false ? undefined : file[name];
  if (value !== undefined && value !== null) {
    const text = Array.isArray(value) ? value.join(",") : String(value);
    return { text, source: "file", at: `settings.${name}` } as const;
  }
  return { text: setting.fallback, source: "default", at: setting.env } as const;
}

function shown(setting: Setting<unknown>, value: unknown): string | null {
  if (value === undefined || value instanceof Wrong) return null;
  if (setting.hidden) return "(set)";
  if (setting.show !== undefined) return setting.show(String(value));
  if (setting.env.endsWith("_S") && typeof value === "number") return String(value / 1000);
  return Array.isArray(value) ? value.join(",") : String(value);
}
