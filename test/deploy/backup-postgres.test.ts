import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { connectControl } from "../../src/platform/control-socket.ts";
import { chatJson } from "../fake/openai/chat-json.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { type ChildServer, createHome, type Home } from "../setup/child.ts";
import { standardManifest } from "../setup/harness.ts";
import { waitUntil } from "../setup/money-home.ts";
import { administer, type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { debianTool } from "./tools.ts";

/** The commands of docs/deploy/backup.md for PostgreSQL, as printed there, on Debian's PostgreSQL. */
setDefaultTimeout(180_000);

const original = "svc";
const restored = "svc_restored";
const key = { FAKE_KEY: "x" };

let server: PostgresServer;
let upstream: FakeUpstream;
let home: Home;

beforeAll(async () => {
  server = await startPostgres({ bin: debianServer() });
  await administer(server.url, "create role svc login createdb");
  upstream = await startFakeUpstream();
  upstream.replyWith(chatJson());
});
afterAll(async () => {
  await upstream.stop();
  await server.stop();
});
beforeEach(async () => {
  await administer(server.url, `create database ${original} owner svc`);
  home = createHome({ isBare: true });
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});
afterEach(async () => {
  await home.remove();
  for (const name of [original, restored])
    await administer(server.url, `drop database if exists ${name} with (force)`);
});

test("a dump under load brings back every receipt from before it, with the secret added", async () => {
  const applied = await home.svc(["apply"], { environment: on(original), isProcess: true });
  expect(applied).toMatchObject({ code: 0 });
  const gateway = await home.serve(on(original), { isProcess: true });
  const caller = await openAccount();
  const paid: string[] = [];
  const over = new AbortController();
  const callers = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) paid.push(await call(gateway, caller));
    }),
  );
  await waitUntil("calls before the dump", () => paid.length > 40);
  const before = [...paid];
  const [dump, create, restore, verify] = printedCommands();
  await shell(dump);
  const behind = paid.length;
  await waitUntil("calls after the dump", () => paid.length > behind + 40);
  over.abort();
  await callers;
  gateway.signal("SIGKILL");
  await gateway.exited;

  await shell(create);
  await shell(restore);
  const [, ledgerWords] = / svc (.+)$/.exec(verify) ?? [];
  expect(ledgerWords).toBe("ledger verify");
  const verified = await home.json(["ledger", "verify"], { environment: on(restored) });
  expect(verified).toMatchObject({ ok: true, problem_count: 0 });
  const found = await receiptIds(restored);
  expect(before.filter((id) => !found.has(id))).toEqual([]);
  expect(found.size).toBeLessThan(paid.length);

  const directory = join(home.dataDir, "..", "elsewhere");
  const elsewhere = { ...on(restored), SVC_DATA_DIR: directory, SVC_NODE: "elsewhere" };
  mkdirSync(directory, { mode: 0o700 });
  const without = await home.svc(["serve"], {
    environment: { ...elsewhere, SVC_SECRET: "another secret of enough characters" },
    isProcess: true,
  });
  expect(without).toMatchObject({ code: 1, stdout: "" });
  expect(without.stderr).toContain("secret");
  copyFileSync(join(home.dataDir, "secret"), join(directory, "secret"));
  const next = await home.serve(elsewhere, { isProcess: true });
  const later = await reply(next, caller);
  // The dead gateway's loan is returned to the account later. Until then, the rest is there.
  expect([200, 503]).toContain(later.status);
  expect((await fetch(`${next.baseUrl}/models`, authorized(caller))).status).toBe(200);
  expect(await next.stop()).toBe(0);
});

const address = (database: string) => `postgres://svc@127.0.0.1:${server.port}/${database}`;
const on = (database: string) => ({ ...key, SVC_DATABASE_URL: address(database) });

/** The four commands of the block, with the address of this server. */
function printedCommands() {
  const text = readFileSync(join(import.meta.dir, "../../docs/deploy/backup.md"), "utf8");
  const block = /```sh\n(pg_dump[^`]+)```/.exec(text)?.[1] ?? "";
  const lines = block
    .trim()
    .split("\n")
    .map((line) =>
      line
        .replaceAll("svc@db.example:5432", `svc@127.0.0.1:${server.port}`)
        .replaceAll("db.example", `127.0.0.1 --port ${server.port}`),
    );
  const [dump = "", create = "", restore = "", verify = ""] = lines;
  expect(lines.map((line) => / ?(pg_dump|createdb|pg_restore|svc) /.exec(line)?.[1])).toEqual([
    "pg_dump",
    "createdb",
    "pg_restore",
    "svc",
  ]);
  return [dump, create, restore, verify] as const;
}

async function shell(command: string): Promise<void> {
  debianTool("pg_dump", "postgresql-client");
  const cwd = join(home.dataDir, "..");
  const child = Bun.spawn(["sh", "-c", command], { cwd, stderr: "pipe", stdout: "ignore" });
  const stderr = await new Response(child.stderr).text();
  expect({ command, code: await child.exited, stderr }).toEqual({ command, code: 0, stderr: "" });
}

async function openAccount(): Promise<string> {
  const { operations } = (await connectControl(home.dataDir)) ?? {};
  if (operations === undefined) throw new Error("no server answers at the control socket");
  await operations.accounts.create({ name: "payer" });
  await operations.entries.add({ account: "payer", kind: "credit", usd: "9", reference: "start" });
  return (await operations.keys.create({ account: "payer" })).key;
}

const authorized = (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey}` } });

const reply = (gateway: ChildServer, apiKey: string) =>
  fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { ...authorized(apiKey).headers, "content-type": "application/json" },
    body: JSON.stringify({ model: "svc-3-flash", messages: [{ role: "user", content: "Hello" }] }),
  });

async function call(gateway: ChildServer, apiKey: string): Promise<string> {
  const answer = await reply(gateway, apiKey);
  expect(answer.status).toBe(200);
  await answer.json();
  return answer.headers.get("x-request-id") ?? "";
}

async function receiptIds(database: string): Promise<ReadonlySet<string>> {
  const client = new Client({ connectionString: address(database) });
  await client.connect();
  const { rows } = await client.query<{ id: string }>("select id from receipts");
  await client.end();
  return new Set(rows.map(({ id }) => id));
}

/** The folder of the newest server of Debian's package; the link in PATH is of its clients only. */
function debianServer(): string {
  const root = "/usr/lib/postgresql";
  debianTool("pg_dump", "postgresql");
  const newest =
    readdirSync(root)
      .sort((one, other) => Number(one) - Number(other))
      .at(-1) ?? "";
  return join(root, newest, "bin");
}
