/** What each driver does when something goes wrong, seen in small experiments on real servers. */
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "../../test/fake/certificate.ts";
import {
  administer,
  createFolder,
  type PostgresServer,
  startPostgres,
} from "../../test/setup/postgres.ts";
import { number } from "../gateway/report.ts";
import { processTree } from "../load/weight.ts";
import { type Driver, type DriverClient, drivers } from "./driver-clients.ts";

export type Observation = { readonly what: string; readonly pg: string; readonly bun: string };

type Experiment = {
  readonly what: string;
  readonly run: (driver: Driver, server: PostgresServer) => Promise<string>;
};

/** A driver that has not answered by then is not going to. */
const patienceMs = 8_000;
const answerMs = 1_000;

export async function observeDrivers(
  tell: (line: string) => void,
): Promise<readonly Observation[]> {
  const folder = createFolder();
  try {
    const observations: Observation[] = [];
    for (const experiment of experiments)
      observations.push(await observe(experiment, folder, tell));
    return [...observations, ...(await observeTls(tell))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both drivers in turn, each on a server that has just started. */
async function observe(
  { what, run }: Experiment,
  folder: string,
  tell: (line: string) => void,
): Promise<Observation> {
  const seen: Partial<Record<Driver["name"], string>> = {};
  for (const driver of drivers) {
    tell(`${driver.name}: ${what}`);
    const server = await startPostgres({ folder });
    try {
      await administer(server.url, "create table if not exists marks (mark text)");
      await administer(server.url, "delete from marks");
      seen[driver.name] = await run(driver, server);
    } finally {
      await server.stop();
    }
  }
  return { what, pg: seen.pg ?? "", bun: seen["Bun.SQL"] ?? "" };
}

const experiments: readonly Experiment[] = [
  {
    what: "the server is stopped (SIGSTOP) and an answer is awaited for 1 s",
    async run(driver, server) {
      const client = await driver.open({ url: server.url });
      await client.run({ text: "select 1" });
      const resume = pause(server);
      const text = "insert into marks values ('silent') returning mark";
      const first = await outcome(client.run({ text, answerMs }));
      resume();
      const next = await outcome(client.run({ text: "select count(*)::int as count from marks" }));
      await client.close();
      return `${first}; the next statement, with the server back: ${next}`;
    },
  },
  {
    what: "a statement of 3 s with a limit of 1 s on the server (statement_timeout)",
    async run(driver, server) {
      const client = await driver.open({ url: server.url, statementMs: answerMs });
      const first = await outcome(client.run({ text: "select pg_sleep(3)" }));
      const next = await outcome(client.run({ text: "select 1 as one" }));
      await client.close();
      return `${first}; the next statement: ${next}`;
    },
  },
  {
    what: "a statement of 4 s is given up after 1 s",
    async run(driver, server) {
      const [client, other] = await Promise.all([
        driver.open({ url: server.url }),
        driver.open({ url: server.url }),
      ]);
      const first = await outcome(client.run({ text: "select pg_sleep(4)", answerMs }));
      const running = await other.run({
        text: "select count(*)::int as count from pg_stat_activity where query = 'select pg_sleep(4)' and state = 'active'",
      });
      const next = await outcome(client.run({ text: "select 1 as one" }));
      await Promise.all([client.close(), other.close()]);
      return `${first}; still running on the server: ${running[0]?.["count"]}; the next statement: ${next}`;
    },
  },
  {
    what: "a statement of 4 s is cancelled after 1 s with the driver's own means",
    run: (driver, server) => cancelled(driver, server, false),
  },
  {
    what: "the same, while the server is stopped (SIGSTOP)",
    run: (driver, server) => cancelled(driver, server, true),
  },
  {
    what: "the connection is cut after the server has executed the statement",
    async run(driver, server) {
      const proxy = await startCut(server.port);
      const url = new URL(server.url);
      url.port = String(proxy.port);
      url.searchParams.set("sslmode", "disable");
      const client = await driver.open({ url: url.toString() });
      await client.run({ text: "select 1" });
      proxy.cut();
      const first = await outcome(client.run({ text: "insert into marks values ('cut')" }));
      const next = await outcome(client.run({ text: "select count(*)::int as count from marks" }));
      await client.close();
      proxy.close();
      return `${first}; the next statement: ${next}`;
    },
  },
  {
    what: "the server restarts between two statements",
    async run(driver, server) {
      const client = await driver.open({ url: server.url });
      await client.run({ text: "select 1" });
      const { folder, port } = server;
      await server.stop();
      const during = await outcome(client.run({ text: "select 1 as one" }));
      const again = await startPostgres({ folder, port });
      let tries = 1;
      let after = await outcome(client.run({ text: "select 1 as one" }));
      while (!after.startsWith("answered") && tries++ < 5)
        after = await outcome(client.run({ text: "select 1 as one" }));
      await client.close();
      await again.stop();
      return `while it is away: ${during}; when it is back, attempt ${tries}: ${after}`;
    },
  },
];

async function cancelled(
  driver: Driver,
  server: PostgresServer,
  isSilent: boolean,
): Promise<string> {
  const client = await driver.open({ url: server.url });
  await client.run({ text: "select 1" });
  const resume = isSilent ? pause(server) : undefined;
  const sent = client.cancel?.({ text: "select pg_sleep(4)" }, answerMs);
  const first = sent === undefined ? "it has none" : await outcome(sent);
  resume?.();
  await client.close();
  return first;
}

/** In words, with the time it took. */
async function outcome(result: ReturnType<DriverClient["run"]>): Promise<string> {
  const startedMs = performance.now();
  const took = () => `after ${number((performance.now() - startedMs) / 1000, 1)} s`;
  const given = Promise.withResolvers<string>();
  const timer = setTimeout(() => given.resolve(`no answer ${took()}`), patienceMs);
  const run = result.then(
    (rows) => `answered ${JSON.stringify(rows[0] ?? {})} ${took()}`,
    (error: unknown) => `${errorText(error)} ${took()}`,
  );
  const text = await Promise.race([run, given.promise]);
  clearTimeout(timer);
  return text;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "no code";
  const state = "errno" in error && error.errno !== undefined ? `, ${String(error.errno)}` : "";
  return `error "${error.message}" (${code}${state})`;
}

/** Stops all processes of the server; the returned function lets them go on, as the end of the bench does. */
function pause({ folder }: PostgresServer): () => void {
  const [pid = ""] = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n");
  const pids = processTree(Number(pid));
  const signal = (name: "SIGSTOP" | "SIGCONT") => {
    for (const one of pids) {
      try {
        process.kill(one, name);
      } catch {
        // It has ended by itself.
      }
    }
  };
  const resume = () => {
    process.off("exit", resume);
    signal("SIGCONT");
  };
  process.on("exit", resume);
  signal("SIGSTOP");
  return resume;
}

/** Passes everything on until it is asked to cut: then it swallows the next answer and hangs up. */
async function startCut(serverPort: number): Promise<{
  readonly port: number;
  cut(): void;
  close(): void;
}> {
  let isCutting = false;
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(serverPort, "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.on("data", (bytes) => server.write(bytes));
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
    server.on("data", (bytes) => {
      // The end of the answer to Sync: before that, the statement may not have been executed.
      const isOver = bytes.includes("Z\0\0\0\x05");
      if (!isCutting) client.write(bytes);
      else if (isOver && bytes.includes("INSERT")) {
        isCutting = false;
        client.destroy();
        server.destroy();
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  return {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    cut() {
      isCutting = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

/** A server with a certificate that nothing on this machine trusts, for 127.0.0.1. */
async function observeTls(tell: (line: string) => void): Promise<readonly Observation[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-tls-"));
  chmodSync(folder, 0o755);
  const files = { cert: join(folder, "server.crt"), key: join(folder, "server.key") };
  const { cert, key } = createCertificate({ name: "127.0.0.1" });
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  // The server does not run as root.
  if (process.getuid?.() === 0) chownSync(files.key, 65_534, 65_534);
  const server = await startPostgres({
    settings: { ssl: "on", ssl_cert_file: files.cert, ssl_key_file: files.key },
  });
  const observations: Observation[] = [];
  const trusted = `sslrootcert=${files.cert}`;
  for (const [words, host] of [
    ["sslmode=disable", "127.0.0.1"],
    ["", "127.0.0.1"],
    ["sslmode=require", "127.0.0.1"],
    ["sslmode=verify-ca", "127.0.0.1"],
    [`sslmode=verify-ca&${trusted}`, "localhost"],
    [`sslmode=verify-full&${trusted}`, "127.0.0.1"],
    [`sslmode=verify-full&${trusted}`, "localhost"],
  ] as const) {
    const shown = words.replace(files.cert, "FILE") || "no sslmode";
    const what = `TLS, self-signed for 127.0.0.1, connecting to ${host}: ${shown}`;
    tell(what);
    const url = `${server.url.replace("127.0.0.1", host)}?${words}`;
    const [pg = "", bun = ""] = await Promise.all(drivers.map((driver) => encryption(driver, url)));
    observations.push({ what, pg, bun });
  }
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  return observations;
}

async function encryption(driver: Driver, url: string): Promise<string> {
  try {
    const client = await driver.open({ url });
    const [row] = await client.run({
      text: "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    });
    await client.close();
    return row?.["ssl"] === true ? "encrypted" : "plain";
  } catch (error) {
    return errorText(error);
  }
}
