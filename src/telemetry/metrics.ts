import { type ErrorCode, errorKinds, faultOf } from "../base/errors.ts";
import { toUsd } from "../base/money.ts";
import type { TargetHealth } from "../catalog/health.ts";
import type { Journal } from "../ledger/journal.ts";
import type { Purses } from "../ledger/purses.ts";
import { EventLoopLag } from "./event-loop.ts";
import { Exposition, type MetricsWriter, toLabels } from "./exposition.ts";
import type { ModelTraffic } from "./model-traffic.ts";
import type { Signal, SignalCounts } from "./otlp/batches.ts";
import { Traffic } from "./traffic.ts";

/** Values that are read on each scrape instead of being counted all the time. */
interface MetricsSources {
  readonly version: string;
  readonly calls: { readonly size: number };
  readonly router: { health(): readonly TargetHealth[] };
  readonly purses: Pick<Purses, "heldNano">;
  readonly journal: Pick<Journal, "isFailing">;
  readonly rejections: { readonly dropped: number };
  /** Undefined where nothing is sent to a collector. */
  readonly telemetry: TelemetryCounts | undefined;
  /** Undefined where the listeners have none. */
  readonly certificate?: ServedCertificate | undefined;
  /** Undefined where the database is this process's own. */
  readonly losses?: { readonly lost: { readonly receipts: number } } | undefined;
}

export interface ServedCertificate {
  readonly current: { readonly expiresMs: number };
}

export type TelemetryCounts = ReadonlyMap<Signal, SignalCounts>;

/** Catalogs have far fewer. Beyond this number, one series shows the worst of the rest. */
const mostTargets = 500;

/** The numbers of this process, as text for a monitoring system. */
export class Metrics {
  readonly traffic = new Traffic();
  readonly #sources: MetricsSources;
  readonly #lag = new EventLoopLag();

  constructor(sources: MetricsSources) {
    this.#sources = sources;
  }

  text(): string {
    const text = new Exposition();
    this.write(text);
    return text.text();
  }

  write(text: MetricsWriter): void {
    const { version, telemetry, certificate, losses } = this.#sources;
    this.#addRequests(text);
    this.#addRejections(text);
    this.#addUnits(text);
    this.#addMoney(text);
    this.#addTimes(text);
    this.#addAttempts(text);
    this.#addState(text);
    this.#addTargets(text);
    if (telemetry !== undefined) addTelemetry(text, telemetry);
    if (certificate !== undefined) addCertificate(text, certificate);
    if (losses !== undefined)
      text
        .family({
          name: "svc_lost_receipts_total",
          type: "counter",
          help: "Receipts that the database had confirmed and lost, such as in a failover.",
        })
        .add("", losses.lost.receipts);
    addProcess(text, version);
    text
      .family({
        name: "svc_event_loop_lag_seconds",
        type: "histogram",
        help: "Event loop delay, sampled 20 times per second.",
      })
      .addHistogram("", this.#lag.late);
  }

  close(): void {
    this.#lag.close();
  }

  /** Models with receipts. Rejected requests are only counted. */
  *#served(): Iterable<ModelTraffic> {
    for (const traffic of this.traffic.models) if (traffic.receipts > 0) yield traffic;
  }

  #addRequests(text: MetricsWriter): void {
    text.family({
      name: "svc_requests_total",
      type: "counter",
      help: "Answered requests by outcome (ok, left, replayed or an error code) and by fault (caller, upstream or gateway).",
    });
    for (const { labels, requests } of this.traffic.models)
      for (const [outcome, { count }] of requests)
        text.add(`${labels},${toLabels({ outcome, fault: faultIn(outcome) })}`, count);
  }

  #addRejections(text: MetricsWriter): void {
    text.family({
      name: "svc_rejections_total",
      type: "counter",
      help: "Requests rejected before admission, by status and error code.",
    });
    for (const [status, counters] of this.traffic.rejections)
      for (const [code, { count }] of counters)
        text.add(toLabels({ status: String(status), code }), count);
    text
      .family({
        name: "svc_rejection_records_dropped_total",
        type: "counter",
        help: "Rejected requests that left no record because the store could not be written or too many were waiting.",
      })
      .add("", this.#sources.rejections.dropped);
  }

  #addUnits(text: MetricsWriter): void {
    text.family({
      name: "svc_tokens_total",
      type: "counter",
      help: "Tokens on receipts by class. Each token belongs to exactly one class.",
    });
    for (const traffic of this.#served())
      for (const [name, count] of tokensOf(traffic))
        if (count > 0) text.add(`${traffic.labels},class="${name}"`, count);
    text.family({
      name: "svc_images_total",
      type: "counter",
      help: "Embedded images on receipts.",
    });
    for (const { labels, images } of this.#served()) if (images > 0) text.add(labels, images);
    text.family({
      name: "svc_video_seconds_total",
      type: "counter",
      help: "Whole seconds of embedded video on receipts.",
    });
    for (const { labels, videoSeconds } of this.#served())
      if (videoSeconds > 0) text.add(labels, videoSeconds);
    text.family({
      name: "svc_audio_seconds_total",
      type: "counter",
      help: "Whole seconds of transcribed audio on receipts.",
    });
    for (const { labels, audioSeconds } of this.#served())
      if (audioSeconds > 0) text.add(labels, audioSeconds);
  }

  #addMoney(text: MetricsWriter): void {
    const sums = [
      ["charged", "Total charged to accounts."],
      ["vendorCost", "Vendor cost of calls whose route has a known cost."],
      ["shortfall", "Cost of calls beyond their holds, borne by the operator."],
    ] as const;
    const names = { charged: "charged", vendorCost: "vendor_cost", shortfall: "shortfall" };
    for (const [sum, help] of sums) {
      text.family({ name: `svc_${names[sum]}_usd_total`, type: "counter", help });
      for (const traffic of this.#served()) text.add(traffic.labels, toUsd(traffic[sum].nano));
    }
  }

  #addTimes(text: MetricsWriter): void {
    text.family({
      name: "svc_request_duration_seconds",
      type: "histogram",
      help: "Duration of admitted calls from request to end, for every outcome.",
    });
    for (const { labels, duration } of this.#served()) text.addHistogram(labels, duration);
    text.family({
      name: "svc_first_byte_seconds",
      type: "histogram",
      help: "Time from the request to the first byte of the reply, for calls that sent one.",
    });
    for (const { labels, firstByte } of this.#served()) text.addHistogram(labels, firstByte);
  }

  #addAttempts(text: MetricsWriter): void {
    text.family({
      name: "svc_upstream_attempts_total",
      type: "counter",
      help: "Upstream attempts of admitted calls by outcome. A call may need more than one.",
    });
    for (const [provider, { attempts }] of this.traffic.providers)
      for (const [outcome, { count }] of attempts) text.add(toLabels({ provider, outcome }), count);
    text.family({
      name: "svc_provider_shortfall_usd_total",
      type: "counter",
      help: "Cost of calls beyond their holds, borne by the operator, by provider and by who counted the usage (reported by the provider, or estimated by the gateway).",
    });
    // From 0 on, so that the first shortfall of a provider is an increase.
    for (const [provider, { reported, estimated }] of this.traffic.providers)
      for (const [usage, sum] of [
        ["reported", reported],
        ["estimated", estimated],
      ] as const)
        text.add(toLabels({ provider, usage }), toUsd(sum.nano));
  }

  #addState(text: MetricsWriter): void {
    const { calls, purses, journal } = this.#sources;
    text
      .family({ name: "svc_calls_under_way", type: "gauge", help: "Calls in flight." })
      .add("", calls.size)
      .family({
        name: "svc_held_usd",
        type: "gauge",
        help: "Money held for calls in flight, across all accounts.",
      })
      .add("", toUsd(purses.heldNano()))
      .family({
        name: "svc_ledger_failing",
        type: "gauge",
        help: "1 while receipts cannot be written and no calls are admitted.",
      })
      .add("", journal.isFailing ? 1 : 0);
  }

  #addTargets(text: MetricsWriter): void {
    const targets = this.#sources.router.health();
    const told = targets.slice(0, mostTargets).map((target) => ({
      labels: toLabels({
        provider: target.provider,
        model: target.model,
        ...(target.key === null ? {} : { key: target.key }),
      }),
      target: [target],
    }));
    if (targets.length > mostTargets)
      told.push({
        labels: toLabels({ provider: "other", model: "other" }),
        target: targets.slice(mostTargets),
      });
    text.family({
      name: "svc_breaker_state",
      type: "gauge",
      help: "Circuit breaker state of a target (provider and model): 0 closed, 1 half-open, 2 open.",
    });
    for (const { labels, target } of told) text.add(labels, Math.max(...target.map(stateNumber)));
    text.family({
      name: "svc_target_resting",
      type: "gauge",
      help: "1 while a target is skipped because it returned a rate limit or asked to retry later.",
    });
    for (const { labels, target } of told)
      text.add(labels, target.some(({ state }) => state === "resting") ? 1 : 0);
  }
}

function stateNumber({ state }: TargetHealth): number {
  switch (state) {
    case "open":
      return 2;
    case "half-open":
      return 1;
    case "closed":
    case "resting":
      return 0;
    default:
      return state satisfies never;
  }
}

function tokensOf(traffic: ModelTraffic): readonly (readonly [string, number])[] {
  return [
    ["input", traffic.input],
    ["cached_input", traffic.cachedInput],
    ["cache_write", traffic.cacheWrite],
    ["output", traffic.output],
    ["audio_output", traffic.audioOutput],
  ];
}

const isErrorCode = (outcome: string): outcome is ErrorCode => Object.hasOwn(errorKinds, outcome);

/** "" where nothing went wrong. */
const faultIn = (outcome: string) => (isErrorCode(outcome) ? faultOf(outcome) : "");

/** Of a process that serves no calls. */
export class ProcessMetrics {
  readonly #sources: Pick<MetricsSources, "version" | "telemetry" | "certificate">;

  constructor(sources: Pick<MetricsSources, "version" | "telemetry" | "certificate">) {
    this.#sources = sources;
  }

  text(): string {
    const text = new Exposition();
    this.write(text);
    return text.text();
  }

  write(text: MetricsWriter): void {
    const { version, telemetry, certificate } = this.#sources;
    if (telemetry !== undefined) addTelemetry(text, telemetry);
    if (certificate !== undefined) addCertificate(text, certificate);
    addProcess(text, version);
  }
}

function addTelemetry(text: MetricsWriter, counts: TelemetryCounts): void {
  text.family({
    name: "svc_telemetry_exported_total",
    type: "counter",
    help: "Spans, data points and log records that the OpenTelemetry collector took.",
  });
  for (const [signal, { exported }] of counts) text.add(toLabels({ signal }), exported);
  text.family({
    name: "svc_telemetry_dropped_total",
    type: "counter",
    help: "Telemetry that was lost, by signal and reason.",
  });
  for (const [signal, { dropped }] of counts)
    for (const [reason, count] of Object.entries(dropped))
      text.add(toLabels({ signal, reason }), count);
}

function addCertificate(text: MetricsWriter, { current }: ServedCertificate): void {
  text
    .family({
      name: "svc_tls_certificate_expiry_seconds",
      type: "gauge",
      help: "When the TLS certificate in use expires, in seconds since the Unix epoch.",
    })
    .add("", current.expiresMs / 1000);
}

const startedS = Date.now() / 1000 - process.uptime();
/** All counters begin here. */
export const startedMs = startedS * 1000;

function addProcess(text: MetricsWriter, version: string): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  text
    .family({
      name: "svc_process_cpu_seconds_total",
      type: "counter",
      help: "CPU time of this process, across all threads.",
    })
    .add("", (user + system) / 1e6)
    .family({
      name: "svc_process_resident_memory_bytes",
      type: "gauge",
      help: "Resident memory of this process.",
    })
    .add("", rss)
    .family({ name: "svc_process_heap_bytes", type: "gauge", help: "Heap memory in use." })
    .add("", heapUsed)
    .family({
      name: "svc_process_start_time_seconds",
      type: "gauge",
      help: "Start time of this process, in seconds since the Unix epoch.",
    })
    .add("", startedS)
    .family({
      name: "svc_build_info",
      type: "gauge",
      help: "Always 1. The labels show the version and the runtime.",
    })
    .add(toLabels({ version, runtime: `bun ${Bun.version}` }), 1);
}
