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
  const [resourceSpans, ...more] = list(object(JSON.parse(body), ["resourceSpans"]).resourceSpans);
  if (more.length > 0) throw new Error("several resources");
  const { resource, scopeSpans } = object(resourceSpans, ["resource", "scopeSpans"]);
  const spans = list(scopeSpans).flatMap((one) => {
    const { scope, spans } = object(one, ["scope", "spans"]);
    const { name } = object(scope, ["name", "version"]);
    text(name, /^svc-gateway$/);
    return list(spans).map(readSpan);
  });
  return { resource: readResource(resource), spans };
}

export const readResource = (resource: unknown) =>
  readAttributes(object(resource, ["attributes"])["attributes"]);

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
