import { expect, test } from "bun:test";
import { readSettings } from "../settings.ts";

const read = (environment: Record<string, string>) =>
  readSettings({ environment, file: {}, references: new Set() });

test("a collector is a base address, without secrets and without the path of a signal", () => {
  const url = (text: string) => read({ SVC_OTLP_URL: text });
  expect(url("https://otel.example/otlp/").settings.otlpUrl).toBe("https://otel.example/otlp");
  for (const text of [
    "otel:4318",
    "grpc://otel:4317",
    "http://h/v1/traces",
    "http://h/?key=abc123",
  ])
    expect(url(text).problems).toHaveLength(1);
  const [problem = ""] = url("http://user:hunter2@otel.example/?key=abc123").problems;
  expect(problem).toStartWith("SVC_OTLP_URL must be the base address of a collector");
  expect(problem).not.toMatch(/hunter2|abc123/);
});

test("headers are decoded, and never shown", () => {
  const { settings, inForce } = read({
    SVC_OTLP_HEADERS: "Authorization=Bearer%20hunter2, x-scope-orgid=1",
  });
  expect(settings.otlpHeaders).toEqual({ authorization: "Bearer hunter2", "x-scope-orgid": "1" });
  expect(JSON.stringify(inForce)).not.toContain("hunter2");
  for (const text of ["hunter2", "a=b%0d%0ax: y", "content-type=hunter2", "a=%zz", "ä=hunter2"]) {
    const { problems } = read({ SVC_OTLP_HEADERS: text });
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain("hunter2");
  }
});

test("shares, signals and resource attributes are checked", () => {
  expect(read({ SVC_TRACE_SAMPLE: "0.05" }).settings.traceSample).toBe(0.05);
  for (const text of ["-1", "1.5", "5%", "NaN", "1e-3"])
    expect(read({ SVC_TRACE_SAMPLE: text }).problems).toHaveLength(1);
  expect(read({ SVC_OTLP_SIGNALS: "logs, traces" }).settings.otlpSignals).toEqual([
    "traces",
    "logs",
  ]);
  expect(read({ SVC_OTLP_SIGNALS: "spans" }).problems).toHaveLength(1);
  expect(read({ SVC_OTLP_RESOURCE: "a.b=c%2Cd,e=f" }).settings.otlpResource).toEqual([
    "a.b=c,d",
    "e=f",
  ]);
  expect(read({ SVC_OTLP_RESOURCE: "=x" }).problems).toHaveLength(1);
});
