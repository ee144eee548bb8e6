/** Client certificates in the address of the database. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificate, createCertificate } from "../../../test/fake/certificate.ts";
import { administer, type PostgresServer, startPostgres } from "../../../test/setup/postgres.ts";
import { openPostgres } from "./postgres.ts";
import { toPostgresProblem } from "./store-problem.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-postgres-tls-"));
chmodSync(folder, 0o755);

function writePem(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  // The server does not run as root.
  if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
  return path;
}

const filesOf = (name: string, { cert, key }: Pick<Certificate, "cert" | "key">) =>
  `sslcert=${writePem(`${name}.crt`, cert)}&sslkey=${writePem(`${name}.key`, key)}`;

const authority = createCertificate({ name: "authority of the test", isAuthority: true });
const ann = createCertificate({ name: "ann", issuer: authority });
const root = writePem("root.crt", authority.cert);
const own = filesOf("ann", ann);

let server: PostgresServer;
beforeAll(async () => {
  const { cert, key } = createCertificate({ name: "127.0.0.1", issuer: authority });
  const settings = {
    ssl: "on",
    ssl_cert_file: writePem("server.crt", cert),
    ssl_key_file: writePem("server.key", key),
    ssl_ca_file: root,
    hba_file: writePem("pg_hba.conf", "hostssl all ann all cert\nhost all postgres all trust\n"),
  };
  server = await startPostgres({ settings });
  await administer(server.url, "create role ann login");
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const urlOf = (query: string) => `postgres://ann@127.0.0.1:${server.port}/postgres?${query}`;

async function nameShown(query: string): Promise<unknown> {
  const postgres = await openPostgres({ url: urlOf(query) });
  const { rows } = await postgres.pool
    .query("select client_dn from pg_stat_ssl where pid = pg_backend_pid()")
    .finally(() => postgres.close());
  return rows[0]?.client_dn;
}

const saying = (query: string) =>
  nameShown(query).then(
    () => "",
    (error: unknown) => String(toPostgresProblem(error, urlOf(query))),
  );

test("a client certificate is shown to the server in every mode that encrypts", async () => {
  for (const mode of ["", "sslmode=prefer", "sslmode=require"])
    expect(await nameShown(`${mode}&${own}`)).toBe("/CN=ann");
  for (const mode of ["prefer", "require", "verify-ca", "verify-full"])
    expect(await nameShown(`sslmode=${mode}&sslrootcert=${root}&${own}`)).toBe("/CN=ann");
});

test("its key may have a password", async () => {
  const key = createPrivateKey(ann.key)
    .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "pass & word" })
    .toString();
  const files = filesOf("locked", { cert: ann.cert, key });
  const query = `sslmode=require&${files}&sslpassword=`;
  expect(await nameShown(`${query}pass%20%26%20word`)).toBe("/CN=ann");
  const wrong = await saying(`${query}guessed`);
  expect(wrong).toContain("sslpassword the password of the key");
  expect(wrong).not.toContain("guessed");
});

test("the server's certificate is checked as before, also without sslmode where an authority is named", async () => {
  const other = createCertificate({ name: "another authority", isAuthority: true });
  const otherRoot = writePem("other.crt", other.cert);
  for (const mode of ["", "sslmode=verify-ca&", "sslmode=verify-full&"])
    expect(await saying(`${mode}sslrootcert=${otherRoot}&${own}`)).toContain("is not trusted");
});

test("what is wrong with a client certificate is said in words", async () => {
  for (const mode of ["", "sslmode=require"])
    expect(await saying(mode)).toContain(
      'requires a client certificate from user "ann" (28000). Name its files',
    );
  const ben = createCertificate({ name: "ben", issuer: authority });
  expect(await saying(`sslmode=require&${filesOf("ben", ben)}`)).toContain(
    'The client certificate is not for user "ann"',
  );
  for (const pair of [
    { cert: ann.cert, key: ben.key },
    { cert: "none", key: "none" },
  ])
    expect(await saying(`sslmode=require&${filesOf("wrong", pair)}`)).toContain(
      "The certificate files for the database server cannot be used",
    );
  const missing = join(folder, "missing.key");
  expect(await saying(own.replace(/sslkey=.*/, `sslkey=${missing}`))).toContain(
    `The file ${missing} cannot be read (ENOENT). Correct sslkey in SVC_DATABASE_URL.`,
  );
  // The server's alert may be lost when it closes the connection at once.
  for (const code of ["TLSV1_ALERT_UNKNOWN_CA", "SSLV3_ALERT_CERTIFICATE_EXPIRED"]) {
    const alert = Object.assign(new Error("alert"), { code: `ERR_SSL_${code}` });
    expect(String(toPostgresProblem(alert, urlOf(own)))).toContain("rejects the client certif");
  }
});

test("half a certificate, and words that would be ignored, are refused", async () => {
  expect(await saying(own.replace(/&sslkey.*/, ""))).toContain(
    "SVC_DATABASE_URL has sslcert without sslkey. Name both files.",
  );
  expect(await saying(own.replace(/sslcert.*&/, ""))).toContain("has sslkey without sslcert.");
  // The driver would turn TLS off for this one, whatever sslmode says.
  for (const word of ["ssl=0", "sslcrl=list.pem", "sslnegotiation=direct"])
    expect(await saying(`sslmode=verify-full&${word}`)).toContain(
      `SVC_DATABASE_URL has ${word.split("=")[0]}, which is not supported. Use sslmode,`,
    );
});
