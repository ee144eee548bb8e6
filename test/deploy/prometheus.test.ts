/** The alerts and the dashboard's queries, as Prometheus itself reads them. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestGateway } from "../setup/harness.ts";
import { debianTool } from "./tools.ts";

const root = join(import.meta.dir, "../..");
const promtool = debianTool("promtool", "prometheus");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-prometheus-"));
  copyFileSync(join(root, "deploy/prometheus/alerts.yaml"), join(folder, "alerts.yaml"));
  const rules = join(import.meta.dir, "prometheus/alerts.test.yaml");
  copyFileSync(rules, join(folder, "alerts.test.yaml"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(words: readonly string[], stdin = ""): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool, ...words], {
    cwd: folder,
    stdin: Buffer.from(stdin),
  });
  const said = stdout.toString() + stderr.toString();
  if (exitCode !== 0) throw new Error(said);
  return said;
}

test("promtool accepts the alerts", () => {
  expect(run(["check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml"])).toContain("SUCCESS");
});

test("each alert fires when it must, and none for a healthy gateway", () => {
  expect(run(["test", "rules", "alerts.test.yaml"])).toContain("SUCCESS");
});

test("promtool accepts every query of the dashboard", () => {
  const { panels }: { panels: readonly { targets?: readonly { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(root, "deploy/grafana/svc-gateway.json"), "utf8"),
  );
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const rules = queries.map((expr, at) => ({
    record: `svc:dashboard:query${at}`,
    expr: expr.replaceAll("$__rate_interval", "5m"),
  }));
  const path = join(folder, "dashboard.json");
  // JSON is YAML, too.
  writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  expect(run(["check", "rules", "dashboard.json"])).toContain(`${queries.length} rules found`);
});

test("promtool accepts the metrics of a gateway", async () => {
  const gateway = await startTestGateway();
  try {
    run(["check", "metrics"], await (await fetch(`${gateway.platformUrl}/metrics`)).text());
  } finally {
    await gateway.stop();
  }
});
