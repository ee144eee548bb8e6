import type { LineLevel, LogRecord } from "../../base/log.ts";
import { type Attribute, toKeyValues, toUnixNano } from "./values.ts";

/** As OpenTelemetry numbers them. */
const severities: Readonly<Record<LineLevel, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** Fields that spans have under a name of the conventions; all others are ours. */
const names: Readonly<Record<string, string>> = {
  model: "gen_ai.request.model",
  code: "error.type",
  status: "http.response.status_code",
};

/** A line of the log as OTLP writes it in JSON. */
export function toOtlpRecord({ atMs, level, message, fields }: LogRecord): string {
  const { trace_id: traceId, ...rest } = fields;
  const attributes: Record<string, Attribute> = {};
  for (const name in rest) {
    const value = rest[name];
    if (value !== null) attributes[names[name] ?? `svc.${name}`] = value;
  }
  return JSON.stringify({
    timeUnixNano: toUnixNano(atMs),
    observedTimeUnixNano: toUnixNano(atMs),
    severityNumber: severities[level],
    severityText: level.toUpperCase(),
    body: { stringValue: message },
    attributes: toKeyValues(attributes),
    ...(typeof traceId === "string" ? { traceId } : {}),
  });
}
