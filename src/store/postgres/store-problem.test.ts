import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createCertificate } from "../../../test/fake/certificate.ts";
import { administer, type PostgresServer, startPostgres } from "../../../test/setup/postgres.ts";
import { Problem } from "../../base/problem.ts";
import { openPostgres, type PostgresOptions } from "./postgres.ts";
import { createPostgresStore } from "./store.ts";
import { toPostgresProblem } from "./store-problem.ts";

const password = "s3cret-pass";
const folder = mkdtempSync(join(tmpdir(), "svc-postgres-problem-"));
chmodSync(folder, 0o755);
const rootCert = join(folder, "server.crt");

let server: PostgresServer;
beforeAll(async () => {
  const certificate = createCertificate({ name: "127.0.0.1" });
  const key = join(folder, "server.key");
  writeFileSync(rootCert, certificate.cert);
  chmodSync(rootCert, 0o644);
  writeFileSync(key, certificate.key, { mode: 0o600 });
  // The server does not run as root.
  if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534);
  server = await startPostgres({
    settings: {
      ssl: "on",
      ssl_cert_file: rootCert,
      ssl_key_file: key,
      max_connections: "12",
      superuser_reserved_connections: "3",
    },
  });
  await administer(server.url, `create role ann login password '${password}'`);
  await administer(server.url, "create role ben login password 'x'");
  await administer(server.url, "create database app");
  await allowOnly("host all postgres all trust", "host all ann all scram-sha-256");
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function allowOnly(...lines: readonly string[]): Promise<void> {
  writeFileSync(join(server.folder, "data", "pg_hba.conf"), `${lines.join("\n")}\n`);
  const before = await loadedAt();
  await administer(server.url, "select pg_reload_conf()");
  // A connection that was made after the reload shows its time.
  while ((await loadedAt()) === before);
}

async function loadedAt(): Promise<string> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ at: string }>("select pg_conf_load_time()::text as at");
  await client.end();
  return rows[0]?.at ?? "";
}

interface Change {
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly query?: string;
}

function urlOf(change: Change = {}): string {
  const { host = "127.0.0.1", port = server.port, user = "ann", database = "app" } = change;
  const { password: given = password, query = "" } = change;
  const secret = given === "" ? "" : `:${given}`;
  return `postgres://${user}${secret}@${host}:${port}/${database}${query}`;
}

/** What a person reads when the store cannot be opened at this address. */
async function saying(url: string, options: Partial<PostgresOptions> = {}): Promise<string> {
  try {
    const postgres = await openPostgres({ url, ...options });
    try {
      await createPostgresStore(postgres, "x");
    } finally {
      await postgres.close();
    }
  } catch (error) {
    const problem = toPostgresProblem(error, url);
    expect(problem).toBeInstanceOf(Problem);
    expect(String(problem)).not.toContain(password);
    return problem instanceof Problem ? problem.message : "";
  }
  throw new Error("nothing failed");
}

async function listening(onSocket: (socket: Socket) => void) {
  const listener = createServer(onSocket);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { port, close: () => listener.close() };
}

describe("a server that cannot be reached", () => {
  test("refuses, is unknown or is silent", async () => {
    const gone = await listening(() => {});
    gone.close();
    expect(await saying(urlOf({ port: gone.port }))).toBe(
      `No database server answers at 127.0.0.1:${gone.port} (ECONNREFUSED). Start it, or correct the host and port in SVC_DATABASE_URL.`,
    );
    expect(await saying(urlOf({ host: "nowhere.invalid" }))).toMatch(
      /^The host nowhere\.invalid of the database server cannot be found \(\w+\)\. Correct it/,
    );
    const silent = await listening(() => {});
    for (const query of ["", "?sslmode=disable"])
      expect(await saying(urlOf({ port: silent.port, query }), { connectMs: 50 })).toContain(
        `The database server at 127.0.0.1:${silent.port} does not answer. Check`,
      );
    silent.close();
  });

  test("reads what other transactions had not written yet", async () => {
    const query = "?options=-c%20default_transaction_isolation%3Dserializable";
    expect(await saying(urlOf({ query }))).toStartWith(
      "The database's default_transaction_isolation is serializable. Set it to read committed",
    );
  });

  test("is another kind of server, or hangs up", async () => {
    const web = await listening((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(await saying(urlOf({ port: web.port }))).toContain("is not a PostgreSQL server");
    web.close();
    const closing = await listening((socket) => socket.end());
    expect(await saying(urlOf({ port: closing.port }))).toContain("closed the connection");
    closing.close();
  });

  test("has no connection left", async () => {
    const clients = Array.from({ length: 9 }, () => new Client({ connectionString: urlOf() }));
    await Promise.all(clients.map((client) => client.connect()));
    expect(await saying(urlOf())).toContain(
      'Raise its max_connections or the CONNECTION LIMIT of role "ann", or lower SVC_DATABASE_CONN',
    );
    await Promise.all(clients.map((client) => client.end()));
  });
});

describe("an address that is wrong", () => {
  test("has no database, an unknown word, or a percent sign that encodes nothing", async () => {
    const unencoded = ["postgres://a:b/c@127.0.0.1/x", "postgres://a:12/c@127.0.0.1/x"];
    const others = ["postgres://127.0.0.1", "postgres://a:b%zz@127.0.0.1/x", "postgres:"];
    for (const url of [...unencoded, ...others])
      expect(await saying(url)).toContain("SVC_DATABASE_URL is not a PostgreSQL address.");
    expect(await saying(urlOf({ query: "?sslmode=on" }))).toContain("sslmode=on. Use disable,");
  });

  test("names a user, password or database that does not work", async () => {
    expect(await saying(urlOf({ password: "wrong" }))).toContain(
      'rejects the password of user "ann" (28P01). Correct it',
    );
    expect(await saying(urlOf({ password: "" }))).toContain('requires a password for user "ann"');
    expect(await saying(urlOf({ database: "none" }))).toBe(
      `The database "none" does not exist at 127.0.0.1:${server.port} (3D000). Run CREATE DATABASE "none" there, or correct SVC_DATABASE_URL.`,
    );
    expect(await saying(urlOf({ user: "ben" }))).toMatch(
      /does not accept user "ben" from here \(28000\)\. Add a line for the database "app" to its pg_hba/,
    );
    await allowOnly("host all all all trust");
    expect(await saying(urlOf({ user: "nobody" }))).toContain(
      'User "nobody" cannot log in to the database server (28000). Create',
    );
    await allowOnly("host all postgres all trust", "hostssl all all all scram-sha-256");
    expect(await saying(urlOf({ query: "?sslmode=disable" }))).toContain(
      'does not accept user "ann" from here without TLS (28000). Set sslmode=require',
    );
  });
});

describe("rights", () => {
  test("to connect, to create tables and to use them are named with the grant", async () => {
    await administer(server.url, "revoke connect on database app from public");
    expect(await saying(urlOf())).toContain('Run GRANT CONNECT ON DATABASE "app" TO "ann" as');
    await administer(server.url, 'grant connect on database app to "ann"');
    expect(await saying(urlOf())).toBe(
      'User "ann" has no right to create tables in the database "app" (42501). Run GRANT USAGE, CREATE ON SCHEMA public TO "ann" in it, as its owner.',
    );
    await administer(server.url, "create database others");
    const others = urlOf({ user: "postgres", database: "others" });
    const postgres = await openPostgres({ url: others });
    await createPostgresStore(postgres, "x");
    await postgres.close();
    expect(await saying(urlOf({ database: "others" }))).toMatch(
      /has no right to the tables of the database \(42501: .*\)\. Use the user that created them/,
    );
  });
});

describe("a database that cannot be used", () => {
  const database = "state";
  const url = () => urlOf({ user: "postgres", database });
  beforeAll(() => administer(server.url, `create database ${database}`));

  test("only allows reading, also from a moment on", async () => {
    const readOnly = `alter database ${database} set default_transaction_read_only`;
    const postgres = await openPostgres({ url: url() });
    await postgres.pool.query("set default_transaction_read_only = on");
    const failure = await postgres.pool.query("create table x ()").catch((error) => error);
    expect(String(toPostgresProblem(failure, url()))).toContain("only allows reading");
    await postgres.close();
    await administer(server.url, `${readOnly} = on`);
    expect(await saying(url())).toContain("Point SVC_DATABASE_URL at the primary server.");
    await administer(server.url, `${readOnly} = off`);
  });

  test("is on a server that is too old", async () => {
    await administer(url(), "create schema old");
    await administer(
      url(),
      `create function old.current_setting(text) returns text language sql
        return case $1 when 'server_version_num' then '130004' else pg_catalog.current_setting($1) end`,
    );
    const path = `alter database ${database} set search_path`;
    await administer(server.url, `${path} = old, pg_catalog, public`);
    expect(await saying(url())).toBe(
      "The database server is PostgreSQL 13. Upgrade it to version 15 or newer.",
    );
    await administer(server.url, `alter database ${database} reset search_path`);
  });

  test("takes too long", async () => {
    const postgres = await openPostgres({ url: url(), statementMs: 30 });
    const failure = await postgres.pool.query("select pg_sleep(9)").catch((error) => error);
    expect(String(toPostgresProblem(failure, url()))).toContain("canceled the statement (57014)");
    await postgres.close();
  });

  test("has no tables yet", async () => {
    const postgres = await openPostgres({ url: urlOf({ database: "postgres" }) });
    const error = await postgres.pool.query("select 1 from meta").catch((one: unknown) => one);
    await postgres.close();
    expect(String(toPostgresProblem(error, urlOf()))).toContain("Run svc migrate");
  });

  test("was created with another secret", async () => {
    const postgres = await openPostgres({ url: url() });
    await createPostgresStore(postgres, "another");
    await postgres.close();
    expect(await saying(url())).toContain(
      "another master secret, so its stored keys would not work. Set SVC_SECRET to the secret of the gateways",
    );
  });
});

describe("TLS", () => {
  const at = (query: string) => urlOf({ user: "postgres", database: "postgres", query });
  const opens = async (query: string) => {
    const postgres = await openPostgres({ url: at(query) });
    const { rows } = await postgres.pool.query(
      "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    await postgres.close();
    return rows;
  };

  test("is used where the server has it, and checked as far as sslmode says", async () => {
    expect(await opens("?sslmode=disable")).toEqual([{ ssl: false }]);
    for (const query of [
      "",
      "?sslmode=require",
      ...["require", "verify-ca", "verify-full"].map(
        (mode) => `?sslmode=${mode}&sslrootcert=${rootCert}`,
      ),
    ])
      expect(await opens(query)).toEqual([{ ssl: true }]);
  });

  test("is refused where the certificate is not trusted, or for another host", async () => {
    for (const mode of ["verify-ca", "verify-full"])
      expect(await saying(at(`?sslmode=${mode}`))).toMatch(
        /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Name the file .*sslrootcert=FILE\./,
      );
    const query = `?sslmode=verify-full&sslrootcert=${rootCert}`;
    expect(await saying(at(query).replace("127.0.0.1", "localhost"))).toContain(
      "is not for localhost (ERR_TLS_CERT_ALTNAME_INVALID). Use a name that it has",
    );
    const missing = join(folder, "missing.crt");
    expect(await saying(at(`?sslmode=verify-ca&sslrootcert=${missing}`))).toBe(
      `The file ${missing} cannot be read (ENOENT). Correct sslrootcert in SVC_DATABASE_URL.`,
    );
  });

  test("is missing where sslmode requires it", async () => {
    const plain = await startPostgres();
    expect(await saying(`${plain.url}?sslmode=require`)).toContain("does not offer TLS, which");
    await plain.stop();
  });
});

test("what has nothing to do with the database stays as it is", () => {
  const file = Object.assign(new Error("no such file"), { code: "ENOENT", path: "svc.yaml" });
  expect(toPostgresProblem(file, urlOf())).toBe(file);
  const known = new Problem({ code: "busy", message: "in use", cause: new Error("x") });
  expect(toPostgresProblem(known, urlOf())).toBe(known);
});
