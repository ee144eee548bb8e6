import type { Log, LogRecord } from "../../base/log.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import type { WriteMetrics } from "../exports.ts";
import type { RecentLog } from "../logs/recent-log.ts";
import { startedMs } from "../metrics.ts";
import type { EndedCall } from "../tracing/call-record.ts";
import { type FindProvider, toSpans } from "../tracing/spans.ts";
import { Tracer, type TracerOptions } from "../tracing/tracer.ts";
import { Batches, type BatchLimits, newCounts, type Signal, type SignalCounts } from "./batches.ts";
import { toOtlpRecord } from "./log-records.ts";
import { MetricPoints } from "./metric-points.ts";
import { type Attributes, toKeyValues } from "./values.ts";

export interface OtlpOptions {
  /** The base address; `/v1/traces` and the like come behind it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  readonly signals: readonly Signal[];
  readonly resource: Attributes;
  readonly version: string;
  readonly tracing: Pick<TracerOptions, "sample" | "parents" | "goesUpstream" | "hasContent">;
  readonly metricsMs: number;
  readonly log: Log;
  readonly recent: Pick<RecentLog, "since" | "watchers">;
  readonly limits?: Partial<BatchLimits>;
}

const timeoutMs = 10_000;
/** Metrics do not wait longer than this for a store. */
const mostReadMs = 5_000;
/** A collector that works now and then must not fill the log. */
const quietMs = 60_000;
/** A log that is written faster is not read any more. */
const logsPerSecond = 100;

/** What goes to an OpenTelemetry collector, in OTLP over HTTP. */
export class Otlp {
  readonly counts: ReadonlyMap<Signal, SignalCounts>;
  readonly tracer: Tracer | undefined;
  /** How a provider of a span is found; set once the providers are known. */
  findProvider: FindProvider = () => undefined;
  /** Writes the metrics of this process; set once they are counted. */
  writeMetrics: WriteMetrics | undefined;
  /** Reads metrics from the store; called before metrics are sent. */
  readMore: (() => Promise<WriteMetrics | undefined>) | undefined;
  readonly #options: OtlpOptions;
  /** Ends each signal, within the time. */
  readonly #closers: ((withinMs: number) => Promise<void>)[] = [];
  readonly #failing = new Map<Signal, { readonly sinceMs: number; readonly dropped: number }>();
  readonly #toldMs = new Map<Signal, number>();
  #isNoting = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.counts = new Map(options.signals.map((signal) => [signal, newCounts()]));
    const { traces, metrics, logs } = Object.fromEntries(this.counts);
    if (traces !== undefined) this.tracer = this.#openTraces(traces);
    if (metrics !== undefined) this.#openMetrics();
    if (logs !== undefined) this.#openLogs(logs);
  }

  async close(withinMs: number): Promise<void> {
    await Promise.all(this.#closers.map((close) => close(withinMs)));
  }

  #openTraces(counts: SignalCounts): Tracer {
    const traces = this.#batches<EndedCall>("traces", {
      encode: (ended) => {
        const spans = toSpans(ended, (name) => this.findProvider(name));
        return { json: spans.map((span) => JSON.stringify(span)).join(","), count: spans.length };
      },
      weigh: ({ record: { input = "", output = "" } }) => 1_024 + input.length + output.length,
      wrap: (spans) => this.#wrap("resourceSpans", "scopeSpans", `"spans":[${spans}]`),
    });
    this.#closers.push((withinMs) => traces.close(withinMs));
    return new Tracer({
      ...this.#options.tracing,
      onEnd: (ended) => traces.add(ended),
      onExcess: () => counts.dropped.rate++,
    });
  }

  /**
   * Only the moment to send waits in the queue; the numbers are read when it comes. While a collector
   * is away, the latest numbers replace older ones, and no sum is lost. Those of a store are read
   * first, and are left out if it does not answer in time.
   */
  #openMetrics(): void {
    const { metricsMs } = this.#options;
    let more: WriteMetrics | undefined;
    let isReading = false;
    const due = this.#batches<"due">("metrics", {
      encode: () => {
        const points = new MetricPoints(startedMs, Date.now());
        this.writeMetrics?.(points);
        more?.(points);
        return points.encoded();
      },
      weigh: () => 1,
      wrap: (metrics) => this.#wrap("resourceMetrics", "scopeMetrics", `"metrics":[${metrics}]`),
      limits: { mostItems: 1, batchItems: 1 },
    });
    const send = () => {
      if (due.size === 0 && this.writeMetrics !== undefined) due.add("due");
    };
    const read = async () => {
      isReading = true;
      const found = await this.readMore?.().catch(() => undefined);
      isReading = false;
      return found;
    };
    const readAndSend = async () => {
      // One read at a time. Values of before are never sent again in place of those that are missing.
      more = isReading ? undefined : await within(read(), Math.min(mostReadMs, metricsMs));
      send();
    };
    const timer = setInterval(() => void readAndSend(), metricsMs);
    timer.unref();
    this.#closers.push((withinMs) => {
      clearInterval(timer);
      send();
      return due.close(withinMs);
    });
  }

  #openLogs(counts: SignalCounts): void {
    const { recent } = this.#options;
    const logs = this.#batches<LogRecord>("logs", {
      encode: (record) => ({ json: toOtlpRecord(record), count: 1 }),
      weigh: ({ message }) => 1_024 + message.length,
      wrap: (records) => this.#wrap("resourceLogs", "scopeLogs", `"logRecords":[${records}]`),
    });
    const rate = new RateLimit(logsPerSecond);
    const add = (record: LogRecord) => {
      // What is said about the collector would begin the next failure.
      if (this.#isNoting) return;
      if (rate.admits()) logs.add(record);
      else counts.dropped.rate++;
    };
    for (const record of recent.since().records) add(record);
    recent.watchers.add(add);
    this.#closers.push(async (withinMs) => {
      await logs.close(withinMs);
      recent.watchers.delete(add);
    });
  }

  #batches<T>(
    signal: Signal,
    how: Pick<ConstructorParameters<typeof Batches<T>>[0], "encode" | "weigh" | "wrap" | "limits">,
  ): Batches<T> {
    const { url, headers, isCompressed, limits } = this.#options;
    return new Batches<T>({
      ...how,
      signal,
      delivery: { url: `${url}/v1/${signal}`, headers, isCompressed, timeoutMs },
      counts: this.counts.get(signal) ?? newCounts(),
      onState: (of, problem) => this.#note(of, problem),
      limits: { ...how.limits, ...limits },
    });
  }

  #wrap(resources: string, scopes: string, records: string): string {
    const { resource, version } = this.#options;
    const attributes = JSON.stringify(toKeyValues(resource));
    const scope = JSON.stringify({ name: "svc-gateway", version });
    return `{"${resources}":[{"resource":{"attributes":${attributes}},"${scopes}":[{"scope":${scope},${records}}]}]}`;
  }

  /** Such lines are in the log and go to no collector. */
  #note(signal: Signal, problem: string | undefined): void {
    this.#isNoting = true;
    this.#logState(signal, problem);
    this.#isNoting = false;
  }

  /** One line when a signal begins to fail, and one when it works again. */
  #logState(signal: Signal, problem: string | undefined): void {
    const { log } = this.#options;
    const failing = this.#failing.get(signal);
    const dropped = this.#droppedOf(signal);
    if (problem === undefined) {
      if (failing === undefined) return;
      this.#failing.delete(signal);
      log.info("the collector accepts telemetry again", {
        signal,
        after_s: Math.round((performance.now() - failing.sinceMs) / 1000),
        dropped: dropped - failing.dropped,
      });
      return;
    }
    if (failing !== undefined) return;
    const nowMs = performance.now();
    if (nowMs - (this.#toldMs.get(signal) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    this.#toldMs.set(signal, nowMs);
    this.#failing.set(signal, { sinceMs: nowMs, dropped });
    log.warn("the collector does not accept telemetry; what finds no room is dropped and counted", {
      signal,
      detail: problem,
    });
  }

  #droppedOf(signal: Signal): number {
    const { dropped } = this.counts.get(signal) ?? newCounts();
    return Object.values(dropped).reduce((sum, count) => sum + count, 0);
  }
}

/** Undefined if it takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
