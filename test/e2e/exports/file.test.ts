import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { Check } from "../../../src/cli/doctor-wiring.ts";
import type { ExportView } from "../../../src/platform/exports/schemas.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { startCollector } from "../../setup/collector.ts";
import { filesIn, idsIn, useExportsHome, wholeIn } from "../../setup/exports-home.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { refusal } from "../../setup/outcomes.ts";

const home = useExportsHome(3);

const add = (line: string) => home.json<ExportView>(`exports add ${line} --to file://${home.dir}`);

test("a running gateway exports whole hours, and each receipt is in one file", async () => {
  const server = await home.serve();
  const added = await add("archive");
  expect(added).toMatchObject({ name: "archive", state: "running", format: "jsonl", from: null });
  await waitUntil("all receipts", () => wholeIn(home.dir).length === 2);
  expect(idsIn(home.dir)).toEqual(home.ids);
  const paths = filesIn(home.dir).filter((path) => path.startsWith("receipts/"));
  expect(paths).toHaveLength(2);
  expect(paths[0]).toMatch(
    /^receipts\/\d{4}-\d\d-\d\d\/\d\d\/receipts-\d{4}-\d\d-\d\dT\d\d-0001\.jsonl\.gz$/,
  );
  expect(statSync(join(home.dir, paths[0] ?? "")).mode & 0o777).toBe(0o600);
  // Another hour may become due at any moment.
  await waitUntil("no lag", async () =>
    (await home.show("archive")).streams.every(({ lag_s }) => lag_s === 0),
  );
  const { streams } = await home.show("archive");
  expect(streams.map(({ stream, rows, failure }) => [stream, rows, failure])).toEqual([
    ["audit", expect.any(Number), null],
    ["receipts", 6, null],
  ]);
  let metrics = "";
  await waitUntil("no lag in the metrics", async () => {
    metrics = await (await fetch(`${server.platformUrl}/metrics`)).text();
    return metrics.includes('svc_export_lag_seconds{export="archive",stream="receipts"} 0\n');
  });
  expect(metrics).toContain('svc_export_rows_total{export="archive",stream="receipts"} 6');
  expect(metrics).toContain('svc_export_failures_total{export="archive",stream="audit"} 0');
  expect(await server.stop()).toBe(0);
});

test("the collector gets the metrics of exports too, counted since they were added", async () => {
  const collector = startCollector();
  const server = await home.serve({ SVC_OTLP_URL: collector.url, SVC_OTLP_METRICS_S: "0.05" });
  try {
    const { created_at } = await add("archive --what receipts");
    await home.json("exports run archive");
    const find = (name: string) => collector.points().find(({ metric }) => metric === name);
    await waitUntil("all rows", () => find("svc_export_rows_total")?.value === 6);
    const attributes = { export: "archive", stream: "receipts" };
    expect(find("svc_export_rows_total")).toMatchObject({
      kind: "sum",
      attributes,
      startNano: BigInt(Date.parse(created_at)) * 1_000_000n,
    });
    expect(find("svc_export_failures_total")).toMatchObject({ value: 0, attributes });
    await waitUntil("no lag", () => find("svc_export_lag_seconds")?.value === 0);
    await home.json("exports remove archive");
    await waitUntil("its end", () => find("svc_export_rows_total") === undefined);
    expect(find("svc_build_info")).toBeDefined();
  } finally {
    await server.stop();
    await collector.stop();
  }
});

test("commands work without a gateway: add, test, run, pause, resume, remove", async () => {
  await add("archive --what receipts");
  await home.ok("exports test archive");
  expect(filesIn(home.dir)).toEqual([]);
  await home.json("exports pause archive");
  expect((await home.svc("exports run archive")).stderr).toContain("is paused");
  await home.json("exports resume archive");
  expect(await home.json<object>("exports run archive")).toMatchObject({ rows: 6 });
  expect(idsIn(home.dir)).toEqual(home.ids);
  expect(await home.json<object>("exports run archive")).toMatchObject({ rows: 0 });
  expect((await home.svc("exports")).stdout).toContain("archive");
  await home.json("exports remove archive");
  expect(await home.json<object>("exports")).toEqual({ exports: [] });
  expect(idsIn(home.dir)).toEqual(home.ids);
});

test("Parquet has typed columns: money as exact decimals of 64 bits, times as times", async () => {
  await add("lake --format parquet");
  await home.json("exports run lake");
  const paths = filesIn(home.dir);
  expect(paths.every((path) => path.endsWith("-0001.parquet"))).toBe(true);
  const rowsOf = async (stream: string) => {
    const files = paths.filter((path) => path.startsWith(stream));
    const rows = await Promise.all(
      files.map(async (path) =>
        parquetReadObjects({ file: await asyncBufferFromFile(join(home.dir, path)) }),
      ),
    );
    return rows.flat();
  };
  const receipts = await rowsOf("receipts");
  expect(receipts.map((row) => row["id"])).toEqual(home.ids);
  expect(receipts[0]).toMatchObject({ charged_usd: 1e-8, began_at: expect.any(Date), input: 1n });
  const first = paths.find((path) => path.startsWith("receipts")) ?? "";
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(join(home.dir, first)));
  expect(schema.find(({ name }) => name === "charged_usd")).toMatchObject({
    type: "INT64",
    converted_type: "DECIMAL",
    scale: 9,
  });
  const audit = (await home.json<ExportView>("exports show lake")).streams[0];
  expect(await rowsOf("audit")).toHaveLength(audit?.rows ?? -1);
});

test("rows from before a date stay out", async () => {
  const to = new Date(Date.now() - 7_200_000).toISOString().slice(0, 19);
  await add(`archive --what receipts --from ${to}Z`);
  expect(await home.json<object>("exports run archive")).toMatchObject({ rows: 0 });
});

test("a directory that is missing or not writable is refused, and nothing is created or added", async () => {
  const server = await home.serve();
  const refused = async () => {
    const { code, stderr } = await home.svc(["exports", "add", "archive", "--to", address]);
    expect(code).toBe(1);
    return stderr;
  };
  const address = `file://${home.dir}`;
  rmSync(home.dir, { recursive: true });
  expect(await refused()).toContain(
    `--to: Must be a directory that the gateway can write to: ${home.dir} does not exist (ENOENT). Create it or change its owner; if it is on another machine or not mounted yet, add --no-test.`,
  );
  writeFileSync(home.dir, "");
  expect(await refused()).toContain(`${home.dir} is not a directory`);
  rmSync(home.dir);
  // Root can write to all other directories.
  expect(await home.svc("exports add archive --to file:///sys")).toMatchObject(
    refusal(1, "/sys cannot be written"),
  );
  expect(await home.json<object>("exports")).toEqual({ exports: [] });
  mkdirSync(home.dir);
  await add("archive");
  expect(filesIn(home.dir).filter((path) => path.includes("test"))).toEqual([]);
  expect(await server.stop()).toBe(0);
});

test("a directory that goes away is not created; its export fails, says why, and recovers", async () => {
  rmSync(home.dir, { recursive: true });
  const server = await home.serve();
  await add("archive --what receipts --no-test");
  await home.json("exports run archive");
  expect((await home.show("archive")).state).toBe("failing");
  const [stream] = (await home.show("archive")).streams;
  expect(stream?.failure).toBe(`${home.dir} does not exist (ENOENT)`);
  expect(server.stderr()).toContain("the export fails");
  expect(await home.svc("exports test archive")).toMatchObject(refusal(1, "does not exist"));
  expect(await doctor()).toEqual([
    {
      group: "exports",
      state: "problem",
      finding: expect.stringMatching(
        new RegExp(
          `^archive: receipts cannot be delivered to file://${home.dir}: ${home.dir} does not exist \\(ENOENT\\) \\(nothing delivered yet, \\d hours behind\\)\\.$`,
        ),
      ),
      advice:
        "Fix this, then run svc exports run archive. Nothing is lost: the next attempt continues where the last one stopped.",
    },
  ]);
  mkdirSync(home.dir);
  expect(await home.json<object>("exports run archive")).toMatchObject({ rows: 6 });
  expect((await home.show("archive")).state).toBe("running");
  expect(idsIn(home.dir)).toEqual(home.ids);
  // Another hour may become due in between.
  let found: Check | undefined;
  await waitUntil("no lag", async () => {
    await home.json("exports run archive");
    [found] = await doctor();
    return found?.finding.endsWith(", up to date") === true;
  });
  expect(found?.state).toBe("ok");
  expect(found?.finding).toMatch(
    /^archive: receipts: last delivery at \d{4}-\S+Z, 6 rows in total, up to date$/,
  );
  await home.json("exports pause archive");
  expect(await doctor()).toMatchObject([{ state: "skipped", finding: "archive is paused" }]);
});

const doctor = async (): Promise<readonly Check[]> => {
  const { checks } = JSON.parse((await home.svc("doctor --json")).stdout);
  return checks.filter(({ group }: Check) => group === "exports");
};

test("a position in the future is shown with what is really due", async () => {
  await add("archive --what receipts");
  const { raw } = openSqlite(join(home.dataDir, "svc.db"));
  raw.run("update export_streams set hour_ms = 4000000000000 - 4000000000000 % 3600000");
  raw.close();
  const [stream] = (await home.show("archive")).streams;
  expect(stream?.ahead_s).toBeGreaterThan(86_400);
  expect(stream?.lag_s).toBeGreaterThan(3_600);
  expect((await home.svc("exports show archive")).stdout).toContain("in the future");
  expect(await doctor()).toEqual([
    expect.objectContaining({
      state: "warning",
      finding: expect.stringMatching(
        /^archive: receipts: its position is \d+ hours in the future.* hours behind\)\.$/,
      ),
    }),
  ]);
  await home.json("exports run archive");
  expect(idsIn(home.dir)).toEqual(home.ids);
  expect(await doctor()).toMatchObject([{ state: "ok" }]);
});

test("what a crash has left half written is replaced", async () => {
  await add("archive --what receipts");
  await home.json("exports run archive");
  const [path = ""] = filesIn(home.dir);
  const folder = join(home.dir, path, "..");
  const partial = join(folder, `.${path.split("/").at(-1)}.part`);
  writeFileSync(partial, "half");
  chmodSync(partial, 0o400);
  rmSync(join(home.dir, path));
  await home.json("exports remove archive");
  await add("archive --what receipts");
  await home.json("exports run archive");
  expect(idsIn(home.dir)).toEqual(home.ids);
  expect(filesIn(home.dir)).toHaveLength(2);
});

test("every change is in the audit log, and no route of the platform API leads to exports", async () => {
  await add("archive");
  for (const command of ["pause", "resume", "remove"])
    await home.json(["exports", command, "archive"]);
  const server = await home.serve();
  const actions = await auditActions();
  for (const action of ["export.create", "export.pause", "export.resume", "export.remove"])
    expect(actions).toContain(action);
  for (const path of ["/api/exports", "/api/exports/archive"])
    expect((await fetch(`${server.platformUrl}${path}`, { method: "POST" })).status).toBe(404);
});

/** As an export has them. */
async function auditActions(): Promise<readonly unknown[]> {
  const { raw } = openSqlite(join(home.dataDir, "svc.db"));
  const rows = raw.query<{ action: string }, []>("select action from audit").all();
  raw.close();
  return rows.map(({ action }) => action);
}
