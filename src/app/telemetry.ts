import type { Catalog } from "../catalog/catalog.ts";
import { engineProvider, type ProviderEntry } from "../catalog/model.ts";
import type { Configuration } from "../config/load.ts";
import { vendorOf } from "../platform/providers/views.ts";
import { ProcessMetrics, type ServedCertificate } from "../telemetry/metrics.ts";
import type { BatchLimits } from "../telemetry/otlp/batches.ts";
import { Otlp } from "../telemetry/otlp/otlp.ts";
import type { FindProvider, TracedProvider } from "../telemetry/tracing/spans.ts";
import type { ServerLog } from "./log.ts";
import type { Opened } from "./opened.ts";
import { closingShare, type Undo } from "./undo.ts";

export interface TelemetryOptions extends ServerLog {
  readonly configuration: Configuration;
  readonly opened: Pick<Opened, "shared">;
  readonly version: string;
  /** The name of this process among those that send telemetry. */
  readonly instance: string;
  /** Gets what this opens. */
  readonly undo: Undo;
  /** Of each signal's queue and its requests. */
  readonly limits?: Partial<BatchLimits> | undefined;
}

/** How long the end of a process may wait for the collector. */
const flushWithinMs = 3_000;

/** Undefined where the operator has named no collector. */
export function openTelemetry(options: TelemetryOptions): Otlp | undefined {
  const { configuration, opened, version, instance, log, recent, undo } = options;
  const { settings } = configuration;
  if (settings.otlpUrl === undefined) return undefined;
  const named = (settings.otlpResource ?? []).map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const otlp = new Otlp({
    url: settings.otlpUrl,
    headers: settings.otlpHeaders ?? {},
    isCompressed: settings.otlpCompression === "gzip",
    signals: settings.otlpSignals,
    version,
    resource: {
      "service.name": "svc-gateway",
      "service.version": version,
      "service.instance.id": instance,
      "process.pid": process.pid,
      "process.runtime.name": "bun",
      "process.runtime.version": Bun.version,
      ...Object.fromEntries(named),
    },
    tracing: {
      sample: settings.traceSample,
      parents: settings.traceParents,
      goesUpstream: settings.traceUpstream === "on",
      hasContent: settings.traceContent === "on",
    },
    metricsMs: settings.otlpMetricsMs,
    log,
    recent,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  undo.push(
    (withinMs = flushWithinMs) => otlp.close(Math.min(flushWithinMs, settings.graceMs, withinMs)),
    closingShare(opened, "telemetry"),
  );
  return otlp;
}

/** For a process that serves no calls: its metrics, and its log. It has nothing to trace. */
export function openProcessTelemetry(
  options: TelemetryOptions & { readonly certificate: ServedCertificate | undefined },
): { readonly metrics: ProcessMetrics; readonly otlp: Otlp | undefined } {
  const { version, certificate } = options;
  const otlp = openTelemetry(options);
  const metrics = new ProcessMetrics({ version, certificate, telemetry: otlp?.counts });
  if (otlp !== undefined) otlp.writeMetrics = (to) => metrics.write(to);
  return { metrics, otlp };
}

/** The names of OpenTelemetry, where they are not our own. */
const systems: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  mistral: "mistral_ai",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
};

/** By the entries of the catalog; each is read once, until it changes. */
export function providerFinder(catalog: Pick<Catalog, "providers">): FindProvider {
  let entries: readonly ProviderEntry[] | undefined;
  let known = new Map<string, TracedProvider>();
  return (name) => {
    if (entries !== catalog.providers) {
      entries = catalog.providers;
      known = new Map(entries.map((entry) => [entry.name, toTraced(entry)]));
      known.set(engineProvider, { system: "svc", address: undefined, port: undefined });
    }
    return known.get(name);
  };
}

function toTraced(entry: ProviderEntry): TracedProvider {
  const vendor = vendorOf(entry)?.id;
  const url = URL.parse(entry.baseUrl);
  const usualPort = url?.protocol === "https:" ? 443 : 80;
  return {
    system: vendor === undefined ? entry.name : (systems[vendor] ?? vendor),
    address: url?.hostname,
    port: url === null ? undefined : Number(url.port || usualPort),
  };
}
