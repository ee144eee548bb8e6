/** The dashboard, the alerts and the docs name the metrics that a gateway really has. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { chatJson, failures } from "../../fake/recordings.ts";
import { readPromQl } from "../../replies/prom-ql.ts";
import { startCollector, type TestCollector } from "../../setup/collector.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const root = join(import.meta.dir, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat?: string;
  }[];
}

interface Dashboard {
  readonly uid: string;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[];
  };
  readonly panels: readonly Panel[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const dashboard: Dashboard = JSON.parse(read("deploy/grafana/svc-gateway.json"));
const alerts: readonly Alert[] = parse(read("deploy/prometheus/alerts.yaml")).groups.flatMap(
  ({ rules }: { rules: readonly Alert[] }) => rules,
);

interface Documented {
  readonly labels: readonly string[];
  readonly description: string;
}

/** By the table of docs/metrics.md. */
const documented = new Map<string, Documented>(
  Array.from(
    read("docs/metrics.md").matchAll(/^\| (`svc_[^|]+) \|([^|]*)\| (.*) \|$/gm),
    ([, names = "", labels = "", description = ""]) =>
      Array.from(names.matchAll(/`(\w+)`/g), ([, name = ""]) => {
        const list = labels.split(",").map((label) => label.trim());
        return [name, { labels: list.filter((label) => label !== ""), description }] as const;
      }),
  ).flat(),
);

let collector: TestCollector;
let gateway: TestGateway;
let text: string;

beforeAll(async () => {
  collector = startCollector();
  gateway = await startTestGateway({ environment: { SVC_OTLP_URL: collector.url } });
  gateway.upstream.replyWith(chatJson());
  const messages = [{ role: "user", content: "hello" }];
  for (const model of ["svc-3-flash", "svc-3-flash", "nobody"]) {
    await (await gateway.call("/chat/completions", { model, messages })).text();
    gateway.upstream.replyOnce(failures.internal());
  }
  text = await (await fetch(`${gateway.platformUrl}/metrics`)).text();
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

/** The name that has a TYPE line: histograms have three series. */
function familyOf(series: string): string {
  const name = series.replace(/_(bucket|sum|count)$/, "");
  return new RegExp(`^# TYPE ${name} histogram$`, "m").test(text) ? name : series;
}

test("docs/metrics.md has every metric of a real gateway, and its labels", () => {
  const real = Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name = ""]) => name);
  expect(real.filter((name) => !documented.has(name))).toEqual([]);
  const absent = Array.from(documented).filter(([name]) => !real.includes(name));
  expect(absent.filter(([, { description }]) => !description.includes("only with"))).toEqual([]);
  for (const [, series = "", labels = ""] of text.matchAll(/^(svc_\w+)\{(.*)\} /gm)) {
    const names = Array.from(labels.matchAll(/(\w+)="/g), ([, name = ""]) => name);
    const known = [...(documented.get(familyOf(series))?.labels ?? []), "le"];
    expect([series, names.filter((name) => !known.includes(name))]).toEqual([series, []]);
  }
});

const added = ["job", "instance"];

/** The labels that the result of an expression may have. */
function checked(expression: string): readonly string[] {
  const { series, grouped } = readPromQl(expression);
  expect([expression, series.length > 0]).toEqual([expression, true]);
  const all = new Set<string>(added);
  for (const { name, labels } of series) {
    const own = name === "up" ? { labels: [] } : documented.get(familyOf(name));
    if (own === undefined) throw new Error(`${name} is not a metric: ${expression}`);
    const isBare =
      familyOf(name) === name && new RegExp(`^# TYPE ${name} histogram$`, "m").test(text);
    if (isBare) throw new Error(`a histogram has no series of this name: ${name}`);
    const known = [...added, ...own.labels, ...(name.endsWith("_bucket") ? ["le"] : [])];
    expect([expression, labels.filter((label) => !known.includes(label))]).toEqual([
      expression,
      [],
    ]);
    for (const label of known) all.add(label);
  }
  expect([expression, grouped.filter((label) => !all.has(label))]).toEqual([expression, []]);
  const isGrouped = /\b(sum|max|count|histogram_quantile)\b/.test(expression);
  return isGrouped ? grouped : [...all];
}

const panels = dashboard.panels.filter(({ type }) => type !== "row");
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

describe("the dashboard", () => {
  test.each(queries.map(({ title, refId, ...rest }) => [title, refId, rest] as const))(
    "%s, %s reads metrics that exist",
    (_, __, { expr, legendFormat = "" }) => {
      const labels = checked(expr);
      const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, name = ""]) => name);
      expect(shown.filter((name) => !labels.includes(name))).toEqual([]);
      const known = ["__rate_interval", ...dashboard.templating.list.map(({ name }) => name)];
      expect(readPromQl(expr).variables.filter((name) => !known.includes(name))).toEqual([]);
    },
  );

  test("shows every metric", () => {
    const shown = new Set(
      queries.flatMap(({ expr }) => readPromQl(expr).series.map(({ name }) => familyOf(name))),
    );
    expect([...documented.keys()].filter((name) => !shown.has(name))).toEqual([]);
  });

  test("its variables read metrics that exist", () => {
    const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(definitions.length).toBe(2);
    for (const definition of definitions) checked(definition);
  });

  test("has panels that Grafana can place", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const taken = new Set<string>();
    for (const { gridPos, title, type, targets = [], datasource } of dashboard.panels) {
      expect(["row", "timeseries", "stat", "table"]).toContain(type);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
          taken.add(`${x} ${y}`);
        }
      if (type === "row") continue;
      expect(datasource?.uid).toBe(`\${${dashboard.templating.list[0]?.name}}`);
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  });
});

describe("the alerts", () => {
  test.each(alerts.map((alert) => [alert.alert, alert] as const))(
    "%s reads metrics that exist, and has a section in the docs",
    (name, { expr, annotations }) => {
      const labels = checked(expr);
      const shown = Array.from(
        annotations.summary.matchAll(/\$labels\.(\w+)/g),
        ([, label = ""]) => label,
      );
      expect(shown.filter((label) => !labels.includes(label))).toEqual([]);
      expect(annotations.runbook_url).toBe(`docs/deploy/observability.md#${name.toLowerCase()}`);
      expect(read("docs/deploy/observability.md")).toContain(`\n### ${name}\n`);
    },
  );

  test("the docs have no other", () => {
    const sections = read("docs/deploy/observability.md").matchAll(/^### (Svc\w+)$/gm);
    expect(Array.from(sections, ([, name]) => name ?? "")).toEqual(
      alerts.map(({ alert }) => alert),
    );
  });
});
