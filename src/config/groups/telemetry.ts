import { withoutPassword } from "../../base/text/passwords.ts";
import type { Setting } from "../setting.ts";
import { oneOf, onOff, seconds, Wrong } from "../setting-readers.ts";

const signals = ["traces", "metrics", "logs"] as const;
type Signal = (typeof signals)[number];

/** Traces, metrics and logs for an OpenTelemetry collector, and the log of slow requests. */
export const telemetrySettings = {
  otlpUrl: {
    env: "SVC_OTLP_URL",
    about: "OpenTelemetry collector (OTLP over HTTP); without it, nothing is sent",
    fallback: undefined,
    read: collectorUrl,
    show: withoutSecrets,
  },
  otlpHeaders: {
    env: "SVC_OTLP_HEADERS",
    about: "headers for the collector, such as authorization=Bearer%20TOKEN",
    fallback: undefined,
    read: headers,
    inFile: false,
    hidden: true,
  },
  otlpCompression: {
    env: "SVC_OTLP_COMPRESSION",
    about: "compression of what goes to the collector: gzip or none",
    fallback: "gzip",
    read: oneOf("gzip", "none"),
  },
  otlpSignals: {
    env: "SVC_OTLP_SIGNALS",
    about: "what is sent to the collector",
    fallback: signals.join(","),
    read: signalList,
  },
  otlpResource: {
    env: "SVC_OTLP_RESOURCE",
    about: "further resource attributes, such as deployment.environment.name=production",
    fallback: undefined,
    read: resource,
  },
  otlpMetricsMs: {
    env: "SVC_OTLP_METRICS_S",
    about: "seconds between two exports of the metrics",
    fallback: "60",
    read: seconds,
  },
  slowRequestMs: {
    env: "SVC_SLOW_REQUEST_MS",
    about: "log calls whose caller waited this long for the first byte, in ms; 0: none",
    fallback: "0",
    read: milliseconds,
  },
  traceSample: {
    env: "SVC_TRACE_SAMPLE",
    about: "share of requests that are traced, from 0 to 1",
    fallback: "1",
    read: share,
  },
  traceParents: {
    env: "SVC_TRACE_PARENTS",
    about: "traces that callers name: continue them, follow their sampling too, or ignore them",
    fallback: "continue",
    read: oneOf("continue", "follow", "ignore"),
  },
  traceUpstream: {
    env: "SVC_TRACE_UPSTREAM",
    about: "pass the trace on to providers in the header traceparent",
    fallback: "on",
    read: onOff,
  },
  traceContent: {
    env: "SVC_TRACE_CONTENT",
    about: "record prompts and replies of chats in traces",
    fallback: "off",
    read: onOff,
  },
} as const satisfies Record<string, Setting<unknown>>;

function collectorUrl(text: string): string | Wrong {
  const url = URL.parse(text);
  const isPlain =
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!isPlain) return new Wrong("the base address of a collector, such as http://127.0.0.1:4318");
  const base = url.href.replace(/\/+$/, "");
  return /\/v1\/(traces|metrics|logs)$/.test(base)
    ? new Wrong("the base address of a collector, without /v1/traces")
    : base;
}

/** People put keys into addresses. */
function withoutSecrets(text: string): string {
  const masked = withoutPassword(text);
  const url = URL.parse(masked);
  if (url === null) return masked;
  if (url.pathname.includes("@")) return "…";
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
}

function signalList(text: string): readonly Signal[] | Wrong {
  const words = text.split(",").map((word) => word.trim());
  const known = signals.filter((signal) => words.includes(signal));
  return known.length === words.length && known.length > 0
    ? known
    : new Wrong(`one or more of ${signals.join(", ")}, separated by commas`);
}

/** Up to an hour. */
function milliseconds(text: string): number | Wrong {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 3_600_000 ? value : new Wrong("a whole number of ms from 0 to 3600000");
}

function share(text: string): number | Wrong {
  const value = /^(0|1|[01]?\.\d{1,9}|1\.0{1,9})$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : new Wrong("a number from 0 to 1, such as 0.05");
}

const headerName = /^[!#-'*+\-.0-9A-Z^-z|~]{1,100}$/;
const headerValue = /^[\t\x20-\x7e]{1,4096}$/;
/** Set by the exporter: another value would break what it sends. */
const ownHeaders = new Set([
  "content-type",
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "host",
  "connection",
]);

/** As OpenTelemetry writes them: names and percent-encoded values, separated by commas. */
function headers(text: string): Readonly<Record<string, string>> | Wrong {
  const wrong = new Wrong(
    "names and percent-encoded values such as authorization=Bearer%20TOKEN, separated by commas",
  );
  const read = pairs(text);
  if (read === undefined) return wrong;
  const entries = read.map(([name, value]) => [name.toLowerCase(), value] as const);
  const isSendable = entries.every(
    ([name, value]) => headerName.test(name) && headerValue.test(value) && !ownHeaders.has(name),
  );
  return isSendable ? Object.fromEntries(entries) : wrong;
}

const attributeName = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
const mostAttributeChars = 250;

/** Each as name=value. */
function resource(text: string): readonly string[] | Wrong {
  const read = pairs(text);
  const isUsable = read?.every(
    ([name, value]) => attributeName.test(name) && value.length <= mostAttributeChars,
  );
  return read !== undefined && isUsable === true
    ? read.map(([name, value]) => `${name}=${value}`)
    : new Wrong(
        "names and values such as deployment.environment.name=production, separated by commas",
      );
}

function pairs(text: string): readonly (readonly [string, string])[] | undefined {
  const words = text.split(",").map((word) => word.trim());
  const read = words
    .filter((word) => word !== "")
    .map((word) => {
      const at = word.indexOf("=");
      const value = decoded(word.slice(at + 1).trim());
      return at < 1 || value === undefined
        ? undefined
        : ([word.slice(0, at).trim(), value] as const);
    });
  const known = read.filter((pair) => pair !== undefined);
  return known.length === read.length ? known : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
