import type { Log } from "../../base/log.ts";
import type { EndedCall } from "../tracing/call-record.ts";
import { type FindProvider, toSpans } from "../tracing/spans.ts";
import { Tracer, type TracerOptions } from "../tracing/tracer.ts";
import { Batches, type BatchLimits, newCounts, type Signal, type SignalCounts } from "./batches.ts";
import { type Attributes, toKeyValues } from "./values.ts";

export interface OtlpOptions {
  /** The base address; `/v1/traces` and the like come behind it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signals: readonly Signal[];
  readonly resource: Attributes;
  readonly version: string;
  readonly tracing: Pick<TracerOptions, "sample" | "parents" | "goesUpstream" | "hasContent">;
  readonly log: Log;
  readonly limits?: Partial<BatchLimits>;
}

const timeoutMs = 10_000;
/** A collector that works now and then must not fill the log. */
const quietMs = 60_000;

/** What goes to an OpenTelemetry collector, in OTLP over HTTP. */
export class Otlp {
  readonly counts: ReadonlyMap<Signal, SignalCounts>;
  readonly tracer: Tracer | undefined;
  /** How a provider of a span is found; set once the providers are known. */
  findProvider: FindProvider = () => undefined;
  readonly #options: OtlpOptions;
  readonly #traces: Batches<EndedCall> | undefined;
  readonly #failing = new Map<Signal, { readonly sinceMs: number; readonly dropped: number }>();
  readonly #toldMs = new Map<Signal, number>();

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.counts = new Map(options.signals.map((signal) => [signal, newCounts()]));
    const counts = this.counts.get("traces");
    if (counts === undefined) return;
    const traces = this.#batches<EndedCall>("traces", {
      encode: (ended) => {
        const spans = toSpans(ended, (name) => this.findProvider(name));
        return { json: spans.map((span) => JSON.stringify(span)).join(","), count: spans.length };
      },
      weigh: ({ record: { input = "", output = "" } }) => 1_024 + input.length + output.length,
      wrap: (spans) => this.#wrap("resourceSpans", "scopeSpans", `"spans":[${spans}]`),
    });
    this.#traces = traces;
    this.tracer = new Tracer({
      ...options.tracing,
      onEnd: (ended) => traces.add(ended),
      onExcess: () => counts.dropped.rate++,
    });
  }

  async close(withinMs: number): Promise<void> {
    await this.#traces?.close(withinMs);
  }

  #batches<T>(
    signal: Signal,
    how: Pick<ConstructorParameters<typeof Batches<T>>[0], "encode" | "weigh" | "wrap">,
  ): Batches<T> {
    const { url, headers, limits } = this.#options;
    return new Batches<T>({
      ...how,
      signal,
      delivery: { url: `${url}/v1/${signal}`, headers, timeoutMs },
      counts: this.counts.get(signal) ?? newCounts(),
      onState: (of, problem) => this.#note(of, problem),
      ...(limits === undefined ? {} : { limits }),
    });
  }

  #wrap(resources: string, scopes: string, records: string): string {
    const { resource, version } = this.#options;
    const attributes = JSON.stringify(toKeyValues(resource));
    const scope = JSON.stringify({ name: "svc-gateway", version });
    return `{"${resources}":[{"resource":{"attributes":${attributes}},"${scopes}":[{"scope":${scope},${records}}]}]}`;
  }

  /** One line when a signal begins to fail, and one when it works again. */
  #note(signal: Signal, problem: string | undefined): void {
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
