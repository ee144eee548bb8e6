import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deployFolder, goTool, runOrThrow } from "../tools.ts";

const builder = "go.opentelemetry.io/collector/cmd/builder@v0.115.0";

/** Built once; some minutes on two cores. */
function collectorProgram(): string {
  const folder = join(deployFolder, "collector");
  const path = join(folder, "otelcol");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(import.meta.dir, "builder.yaml"), join(folder, "builder.yaml"));
  runOrThrow([goTool(builder), "--config", "builder.yaml"], {}, folder);
  return path;
}

export interface RealCollector {
  readonly url: string;
  /** Listens again on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** An OpenTelemetry collector that passes everything on to this address, as OTLP in JSON. */
export async function startCollector(sink: string): Promise<RealCollector> {
  const program = collectorProgram();
  const folder = mkdtempSync(join(tmpdir(), "svc-collector-"));
  const port = freePort();
  const path = join(folder, "config.yaml");
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      otlphttp: {
        endpoint: sink,
        encoding: "json",
        retry_on_failure: { enabled: false },
        // So that it answers with what its own exporter got.
        sending_queue: { enabled: false },
      },
    },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: Object.fromEntries(
        ["traces", "metrics", "logs"].map((signal) => [
          signal,
          { receivers: ["otlp"], exporters: ["otlphttp"] },
        ]),
      ),
    },
  };
  writeFileSync(path, JSON.stringify(config));
  let child: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  const collector: RealCollector = {
    url: `http://127.0.0.1:${port}`,
    async start() {
      const started = Bun.spawn([program, "--config", path], { stdout: "ignore", stderr: "pipe" });
      child = started;
      await whenReady(started.stderr);
    },
    async stop() {
      child?.kill();
      await child?.exited;
      child = undefined;
    },
    async remove() {
      await collector.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await collector.start();
  return collector;
}

/** Reads on afterwards, because a closed pipe would end the collector at its next line. */
function whenReady(stderr: ReadableStream<Uint8Array>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  void (async () => {
    let said = "";
    for await (const bytes of stderr) {
      if (said.length < 100_000) said += new TextDecoder().decode(bytes);
      if (said.includes("Everything is ready")) resolve();
    }
    reject(new Error(`the collector ended: ${said}`));
  })();
  return promise;
}

function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}
