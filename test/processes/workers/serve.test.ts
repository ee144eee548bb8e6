/**
 * `svc serve --workers 2` on PostgreSQL with a certificate, from the first call to the last. The
 * tests build on each other.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import OpenAI, { APIConnectionError, APIError } from "openai";
import { openPostgres, type Postgres } from "../../../src/store/postgres/postgres.ts";
import { type Certificate, createCertificate } from "../../fake/certificate.ts";
import { chatAnswers, failures } from "../../fake/recordings.ts";
import { type FakeUpstream, startFakeUpstream } from "../../fake/upstream.ts";
import { readMetrics } from "../../replies/metrics-text.ts";
import { chatOnce } from "../../setup/callers.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { startCollector } from "../../setup/collector.ts";
import { standardManifest } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";
import { createCertificateFolder, replacements, serialAt } from "../tls/certificate-files.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const [first, next] = [0, 1].map(() =>
  createCertificate({ name: "127.0.0.1", issuer: authority }),
) as [Certificate, Certificate];
const certificate = createCertificateFolder(first);
const tls = { ca: authority.cert };

let url: string;
let postgres: Postgres;
let upstream: FakeUpstream;
let home: Home;
let server: ChildServer;
let client: OpenAI;
const collector = startCollector();
const environment = () => ({
  SVC_DATABASE_URL: url,
  SVC_NODE: "eu",
  SVC_DRAIN_S: "0.5",
  FAKE_KEY: "x",
  SVC_OTLP_URL: collector.url,
  SVC_OTLP_METRICS_S: "0.5",
  ...certificate.environment,
});
const svc = <T>(...words: string[]) => home.json<T>(words, { environment: environment() });

beforeAll(async () => {
  url = await createDatabase();
  postgres = await openPostgres({ url, connections: 2 });
  upstream = await startFakeUpstream();
  upstream.replyWith(chatAnswers.plain());
  home = createHome({ isBare: true });
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  server = await home.serve(environment(), { isProcess: true, flags: ["--workers", "2"] });
  await svc("apply");
  client = new OpenAI({
    baseURL: server.baseUrl,
    apiKey: server.key ?? "",
    // The kernel chooses a worker for each connection.
    fetch: (to, init) => fetch(to, { ...init, keepalive: false, tls }),
  });
});
afterAll(async () => {
  await home.remove();
  certificate.remove();
  await upstream.stop();
  await collector.stop();
  await postgres.close();
  await dropDatabase(url);
});

/** How often the processes have logged this. */
const logged = (text: string) => server.stderr().split(text).length - 1;

let served = 0;
async function call(from = client): Promise<void> {
  await chatOnce(from);
  served++;
}

async function select<T extends object>(text: string): Promise<readonly T[]> {
  return (await postgres.pool.query<T>(text)).rows;
}

/** Receipts of each worker since its last start. */
async function receiptsOf(): Promise<Readonly<Record<string, number>>> {
  const rows = await select<{ name: string; receipts: number }>(
    `select name, (select count(*) from receipts where receipts.epoch = nodes.epoch) as receipts
      from nodes`,
  );
  return Object.fromEntries(rows.map(({ name, receipts }) => [name, receipts]));
}

/** Calls until each worker has served this many since its last start. */
async function callBoth(least: number): Promise<void> {
  for (;;) {
    const counts = await receiptsOf();
    if (["eu/1", "eu/2"].every((name) => (counts[name] ?? 0) >= least)) return;
    await call();
  }
}

async function statesOf(): Promise<unknown> {
  const { nodes } = await svc<{ nodes: { name: string; state: string }[] }>("nodes");
  return nodes.map(({ name, state }) => `${name} ${state}`);
}

test("both workers serve one port, and the metrics count the calls of both", async () => {
  await callBoth(3);
  const metrics = readMetrics(await (await fetch(`${server.platformUrl}/metrics`, { tls })).text());
  expect(metrics.sum("svc_requests_total", { model: "svc-3-flash" })).toBe(served);
  expect(await statesOf()).toEqual(["eu/1 running", "eu/2 running"]);
});

test("a replaced certificate reaches every worker and the platform", async () => {
  const serials = async () => {
    // The kernel chooses a worker for each connection.
    const seen = await Promise.all(Array.from({ length: 32 }, () => serialAt(server.origin)));
    return new Set([...seen, await serialAt(server.platformUrl)]);
  };
  const serialOf = ({ cert }: Certificate) => new X509Certificate(cert).serialNumber;
  expect(await serials()).toEqual(new Set([serialOf(first)]));
  certificate.write(next);
  await waitUntil("the next one in each process", () => replacements(server) === 3);
  expect(await serials()).toEqual(new Set([serialOf(next)]));
});

test("a machine that drains closes the port of all of its workers, until it is resumed", async () => {
  const once = client.withOptions({ maxRetries: 0 });
  const statuses = async () => {
    const found = new Set<unknown>();
    for (let calls = 0; calls < 5; calls++)
      await call(once).then(
        () => found.add(200),
        (error: unknown) => found.add(error instanceof APIConnectionError ? "refused" : error),
      );
    return [...found];
  };
  const untilBoth = (state: string) =>
    waitUntil(`both to be ${state}`, async () =>
      Bun.deepEquals(await statesOf(), [`eu/1 ${state}`, `eu/2 ${state}`]),
    );
  await expect(svc("nodes", "drain", "eu/1")).rejects.toThrow("drain eu, which stands for all");
  await svc("nodes", "drain", "eu");
  await waitUntil("the port to be closed", () => logged("drained;") === 2);
  await untilBoth("drained");
  expect(await statuses()).toEqual(["refused"]);
  await svc("nodes", "resume", "eu");
  await waitUntil("the port to be open", () => logged("resumed;") === 2);
  await untilBoth("running");
  expect(await statuses()).toEqual([200]);
});

test("svc logs shows the lines of all workers", async () => {
  upstream.replyWith(failures.internal());
  const error = await call(client.withOptions({ maxRetries: 0 })).catch((error: unknown) => error);
  upstream.replyWith(chatAnswers.plain());
  const id = error instanceof APIError ? (error.requestID ?? "") : "";
  const find = async () =>
    (await home.svc(["logs", "--json", "--request", id], { environment: environment() })).stdout;
  let line = "";
  while (line === "") line = await find();
  expect(JSON.parse(line)).toMatchObject({ message: "request failed", request_id: id });
  expect(JSON.parse(line).worker).toMatch(/^eu\/[12]$/);
});

test("the supervisor and each worker send metrics and logs as instances of their own", async () => {
  const isFrom = (path: string, instance: string) =>
    collector.requests.some(
      (request) =>
        request.path === path &&
        request.body.includes(`"service.instance.id","value":{"stringValue":"${instance}"}`),
    );
  await waitUntil("metrics of all", () =>
    ["eu", "eu/1", "eu/2"].every((instance) => isFrom("/v1/metrics", instance)),
  );
  const failed = () => collector.logs().filter(({ body }) => body === "request failed");
  await waitUntil("the line of a worker", () => failed().length > 0);
  expect(failed().length).toBe(1);
  expect(isFrom("/v1/traces", "eu")).toBe(false);
});

test("a worker that is killed is started again, and callers notice nothing", async () => {
  const [killed] = await select<{ pid: number; epoch: number }>(
    "select pid, epoch from nodes where name = 'eu/2'",
  );
  const callMany = () => Promise.all(Array.from({ length: 8 }, () => call()));
  const inFlight = callMany();
  process.kill(killed?.pid ?? 0, "SIGKILL");
  await inFlight;
  await callMany();
  await server.waitForLog("worker is back");
  expect(server.stderr()).toContain('"worker":"eu/2","code":"SIGKILL"');
  // It has ended its own last run, and the money of that is back.
  const open = await select<{ node: string; id: number }>(
    "select node, id from epochs where is_open order by node",
  );
  expect(open.map(({ node }) => node)).toEqual(["eu/1", "eu/2"]);
  expect(open.map(({ id }) => id)).not.toContain(killed?.epoch);
  await callBoth(1);
});

test("SIGTERM ends all of them, and leaves a clean ledger and no open node", async () => {
  const workers = await select<{ pid: number }>("select pid from nodes");
  expect(await server.stop()).toBe(0);
  for (const { pid } of workers) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(await select("select node from epochs where is_open")).toEqual([]);
  expect(await statesOf()).toEqual(["eu/1 stopped", "eu/2 stopped"]);
  const findings = await svc<{ ok: boolean; receipts: number }>("ledger", "verify");
  expect(findings.ok).toBe(true);
  // A killed worker may have charged a call whose reply it could not send.
  expect(findings.receipts).toBeGreaterThanOrEqual(served);
});
