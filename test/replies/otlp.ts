/** Reads what an OTLP exporter posts to the letter: what a collector would forgive, this does not. */

export type OtlpValue = string | number | boolean | bigint | readonly OtlpValue[];

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, OtlpValue>>;
  readonly events: readonly string[];
  readonly status: number;
}

export interface OtlpRead {
  readonly resource: Readonly<Record<string, OtlpValue>>;
  readonly spans: readonly OtlpSpan[];
}

type Fields = Readonly<Record<string, unknown>>;

function object(value: unknown, names: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`not an object: ${JSON.stringify(value)}`);
  const strange = Object.keys(value).filter((name) => !names.includes(name));
  if (strange.length > 0) throw new Error(`unknown fields: ${strange.join(", ")}`);
  return value as Fields;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value;
}

function text(value: unknown, form = /^[^]*$/): string {
  if (typeof value !== "string" || !form.test(value))
    throw new Error(`not as it must be: ${JSON.stringify(value)}`);
  return value;
}

const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === undefined ? undefined : read(value);

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Error(`not an integer: ${JSON.stringify(value)}`);
  return Number(value);
}

function nano(value: unknown): bigint {
  return BigInt(text(value, /^\d{19}$/));
}

export function readAttributes(value: unknown): Readonly<Record<string, OtlpValue>> {
  const read: Record<string, OtlpValue> = {};
  for (const one of list(value)) {
    const { key, value: given } = object(one, ["key", "value"]);
    const name = text(key, /^[a-z][a-z0-9_.]*$/);
    if (Object.hasOwn(read, name)) throw new Error(`twice: ${name}`);
    read[name] = anyValue(given);
  }
  return read;
}

function anyValue(value: unknown): OtlpValue {
  const names = ["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue"];
  const given = object(value, names);
  const [name = "", ...others] = Object.keys(given);
  if (others.length > 0) throw new Error(`several values: ${JSON.stringify(value)}`);
  const one = given[name];
  switch (name) {
    case "stringValue":
      return text(one);
    case "boolValue":
      if (typeof one !== "boolean") break;
      return one;
    case "intValue":
      return BigInt(text(one, /^-?\d{1,19}$/));
    case "doubleValue":
      if (typeof one !== "number") break;
      return one;
    case "arrayValue":
      return list(object(one, ["values"])["values"]).map(anyValue);
  }
  throw new Error(`not a value: ${JSON.stringify(value)}`);
}

export function readTraces(body: string): OtlpRead {
  const { resource, records } = readSignal(body, ["resourceSpans", "scopeSpans", "spans"]);
  return { resource, spans: records.map(readSpan) };
}

/** The three signals differ only in the names of the fields around their records. */
function readSignal(body: string, [outer, inner, name]: readonly [string, string, string]) {
  const [first, ...more] = list(object(JSON.parse(body), [outer])[outer]);
  if (more.length > 0) throw new Error("several resources");
  const { resource, [inner]: scopes } = object(first, ["resource", inner]);
  const records = list(scopes).flatMap((one) => {
    const { scope, [name]: records } = object(one, ["scope", name]);
    text(object(scope, ["name", "version"])["name"], /^svc-gateway$/);
    return list(records);
  });
  return { resource: readAttributes(object(resource, ["attributes"])["attributes"]), records };
}

export interface OtlpLog {
  readonly timeNano: bigint;
  readonly severity: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, OtlpValue>>;
  readonly traceId: string | undefined;
}

export function readLogs(body: string): readonly OtlpLog[] {
  return readSignal(body, ["resourceLogs", "scopeLogs", "logRecords"]).records.map((one) => {
    const record = object(one, [
      "timeUnixNano",
      "observedTimeUnixNano",
      "severityNumber",
      "severityText",
      "body",
      "attributes",
      "traceId",
    ]);
    nano(record["observedTimeUnixNano"]);
    return {
      timeNano: nano(record["timeUnixNano"]),
      severity: whole(record["severityNumber"]),
      severityText: text(record["severityText"], /^(DEBUG|INFO|WARN|ERROR)$/),
      body: text(object(record["body"], ["stringValue"])["stringValue"]),
      attributes: readAttributes(record["attributes"]),
      traceId: optional(record["traceId"], (id) => text(id, /^(?!0+$)[0-9a-f]{32}$/)),
    };
  });
}

export interface OtlpPoint {
  readonly metric: string;
  readonly kind: "sum" | "gauge" | "histogram";
  readonly attributes: Readonly<Record<string, OtlpValue>>;
  readonly startNano: bigint | undefined;
  readonly value: number;
  /** Of a histogram. */
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
}

const metricName = /^svc_[a-z_]+$/;

export function readMetrics(body: string): readonly OtlpPoint[] {
  const { records } = readSignal(body, ["resourceMetrics", "scopeMetrics", "metrics"]);
  const names = new Set<string>();
  return records.flatMap((one) => {
    const kinds = ["sum", "gauge", "histogram"] as const;
    const metric = object(one, ["name", "description", "unit", ...kinds]);
    const name = text(metric["name"], metricName);
    if (names.has(name)) throw new Error(`twice: ${name}`);
    names.add(name);
    text(metric["description"], /./);
    optional(metric["unit"], (unit) => text(unit, /^(s|By)$/));
    const [kind, ...others] = kinds.filter((kind) => metric[kind] !== undefined);
    if (kind === undefined || others.length > 0) throw new Error(`not one kind: ${name}`);
    const extra = { sum: ["aggregationTemporality", "isMonotonic"], gauge: [] }[kind as "sum"];
    const data = object(metric[kind], ["dataPoints", ...(extra ?? ["aggregationTemporality"])]);
    if (kind !== "gauge" && data["aggregationTemporality"] !== 2) throw new Error("not cumulative");
    if (kind === "sum" && data["isMonotonic"] !== true) throw new Error("not monotonic");
    return list(data["dataPoints"]).map((point) => readPoint(name, kind, point));
  });
}

function readPoint(metric: string, kind: OtlpPoint["kind"], value: unknown): OtlpPoint {
  const times = kind === "gauge" ? ["timeUnixNano"] : ["startTimeUnixNano", "timeUnixNano"];
  const values = { histogram: ["count", "sum", "bucketCounts", "explicitBounds"] }[
    kind as "histogram"
  ];
  const point = object(value, ["attributes", ...times, ...(values ?? ["asInt", "asDouble"])]);
  const startNano = kind === "gauge" ? undefined : nano(point["startTimeUnixNano"]);
  const timeNano = nano(point["timeUnixNano"]);
  if (startNano !== undefined && startNano > timeNano) throw new Error("it ends before it starts");
  const attributes = readAttributes(point["attributes"]);
  const head = { metric, kind, attributes, startNano };
  if (kind !== "histogram") return { ...head, value: readNumber(point), buckets: [], bounds: [] };
  const buckets = list(point["bucketCounts"]).map((one) => Number(text(one, /^\d{1,19}$/)));
  const bounds = list(point["explicitBounds"]).map(Number);
  if (bounds.length + 1 !== buckets.length) throw new Error(`bounds do not fit: ${metric}`);
  if (bounds.some((bound, at) => at > 0 && bound <= (bounds[at - 1] ?? 0)))
    throw new Error(`bounds do not rise: ${metric}`);
  const count = Number(text(point["count"], /^\d{1,19}$/));
  if (buckets.reduce((sum, one) => sum + one, 0) !== count) throw new Error(`not ${count}`);
  if (typeof point["sum"] !== "number") throw new Error(`no sum: ${metric}`);
  return { ...head, value: count, buckets, bounds };
}

function readNumber({ asInt, asDouble }: Fields): number {
  if (asInt !== undefined && asDouble === undefined) return Number(text(asInt, /^-?\d{1,19}$/));
  if (typeof asDouble !== "number" || asInt !== undefined) throw new Error("not one number");
  return asDouble;
}

const spanFields = [
  "traceId",
  "spanId",
  "parentSpanId",
  "traceState",
  "flags",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "attributes",
  "events",
  "status",
];

function readSpan(value: unknown): OtlpSpan {
  const span = object(value, spanFields);
  const { code = 0, message } = object(span["status"], ["code", "message"]);
  optional(message, (value) => text(value));
  if ((whole(span["flags"]) & 0x1_01) !== 0x1_01) throw new Error("the flags lack a bit");
  const read = {
    traceId: text(span["traceId"], /^(?!0+$)[0-9a-f]{32}$/),
    spanId: text(span["spanId"], /^(?!0+$)[0-9a-f]{16}$/),
    parentSpanId: optional(span["parentSpanId"], (id) => text(id, /^(?!0+$)[0-9a-f]{16}$/)),
    traceState: optional(span["traceState"], (state) => text(state, /^[\x20-\x7e]{1,512}$/)),
    name: text(span["name"], /./),
    kind: whole(span["kind"]),
    startNano: nano(span["startTimeUnixNano"]),
    endNano: nano(span["endTimeUnixNano"]),
    attributes: readAttributes(span["attributes"]),
    events: list(span["events"] ?? []).map((event) => {
      const { name, timeUnixNano, attributes } = object(event, [
        "name",
        "timeUnixNano",
        "attributes",
      ]);
      nano(timeUnixNano);
      readAttributes(attributes);
      return text(name, /./);
    }),
    status: whole(code),
  };
  if (read.endNano < read.startNano) throw new Error("a span ends before it starts");
  return read;
}
