import { gunzipSync } from "node:zlib";
import {
  type OtlpLog,
  type OtlpPoint,
  type OtlpSpan,
  readLogs,
  readMetrics,
  readTraces,
} from "../replies/otlp.ts";

/** A request that the collector got, its body unpacked. */
export interface CollectedRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface TestCollector {
  readonly url: string;
  readonly requests: readonly CollectedRequest[];
  /** All spans so far. Throws where a request breaks a rule of OTLP. */
  spans(): readonly OtlpSpan[];
  logs(): readonly OtlpLog[];
  /** Of the latest request with metrics. */
  points(): readonly OtlpPoint[];
  /** What the next requests get; 200 and an empty object by default. */
  answer: (request: CollectedRequest) => Response | Promise<Response>;
  stop(): Promise<void>;
}

/** A plain listener in place of a collector: it takes any bytes, and the tests judge them. */
export function startCollector(): TestCollector {
  const requests: CollectedRequest[] = [];
  const at = (path: string) => requests.filter((one) => one.path === path).map(({ body }) => body);
  const usual = () => Response.json({});
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const sent = new Uint8Array(await request.arrayBuffer());
      const isPacked = request.headers.get("content-encoding") === "gzip";
      const { pathname: path } = new URL(request.url);
      const got = {
        path,
        headers: request.headers,
        body: Buffer.from(isPacked ? gunzipSync(sent) : sent).toString(),
      };
      requests.push(got);
      return collector.answer(got);
    },
  });
  const collector: TestCollector = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    spans: () => at("/v1/traces").flatMap((body) => readTraces(body).spans),
    logs: () => at("/v1/logs").flatMap(readLogs),
    points: () => at("/v1/metrics").slice(-1).flatMap(readMetrics),
    answer: usual,
    stop: () => server.stop(true),
  };
  return collector;
}
