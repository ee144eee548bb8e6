import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHome, type Home } from "../../setup/child.ts";
import { administer, type PostgresServer, startPostgres } from "../../setup/postgres.ts";

/** What a person reads who starts something on a PostgreSQL server that does not let it in. */

const folder = mkdtempSync(join(tmpdir(), "svc-hba-"));
chmodSync(folder, 0o755);
let server: PostgresServer;
let home: Home;

beforeAll(async () => {
  const hba_file = join(folder, "pg_hba.conf");
  writeFileSync(hba_file, "host all postgres all trust\nhost all all all scram-sha-256\n");
  chmodSync(hba_file, 0o644);
  server = await startPostgres({ settings: { hba_file } });
  await administer(server.url, "create role ann login password 'right'");
  await administer(server.url, "create role few login password 'right' connection limit 0");
  await administer(server.url, "create database app");
  home = createHome({ isBare: true });
});
afterAll(async () => {
  await home.remove();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const commands = [
  ["serve"],
  ["serve", "--workers", "2"],
  ["gateway"],
  ["platform"],
  ["account", "list"],
  ["nodes"],
  ["ledger", "verify"],
  ["migrate"],
];

const addressOf = (user: string, database = "app") =>
  `postgres://${user}@127.0.0.1:${server.port}/${database}`;

const problems: readonly (readonly [string, () => string, string])[] = [
  ["a wrong password", () => addressOf("ann:wrong-one"), 'rejects the password of user "ann"'],
  ["an unknown database", () => addressOf("ann:right", "no"), 'The database "no" does not exist'],
  ["no server", () => "postgres://ann:wrong-one@127.0.0.1:1/app", "No database server answers at"],
  ["an unknown host", () => "postgres://ann@no.invalid/app", "The host no.invalid of the database"],
  ["a role without a free connection", () => addressOf("few:right"), "CONNECTION LIMIT of role"],
];

for (const [what, url, sentence] of problems)
  test(`${what} is one sentence in every command`, async () => {
    for (const words of commands) {
      const environment = { SVC_DATABASE_URL: url() };
      const { code, stderr } = await home.svc(words, { environment });
      expect({ words, code, lines: stderr.trimEnd().split("\n").length, stderr }).toEqual({
        words,
        code: 1,
        lines: 1,
        stderr: expect.stringContaining(sentence),
      });
      expect(stderr).toStartWith("error: ");
      expect(stderr).not.toContain("wrong-one");
    }
  });

test("a start without the right to create tables says what svc migrate says", async () => {
  const environment = { SVC_DATABASE_URL: addressOf("ann:right") };
  const said: string[] = [];
  for (const words of [["migrate"], ["serve"], ["gateway"], ["platform"], ["operator", "invite"]])
    said.push((await home.svc(words, { environment })).stderr);
  expect(said[0]).toContain(
    'User "ann" has no right to create tables in the database "app" (42501)',
  );
  expect(new Set(said).size).toBe(1);
});

test("the real program writes the sentence, as JSON where JSON is wanted", async () => {
  const environment = { SVC_DATABASE_URL: addressOf("ann:wrong-one") };
  const options = { environment, isProcess: true };
  const served = await home.svc("serve", options);
  expect(served).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^error: The database server rejects the password .*\n$/),
  });
  const listed = await home.svc("account list --json", options);
  expect(JSON.parse(listed.stderr || listed.stdout)).toEqual({
    error: { code: "failed", message: expect.stringContaining("rejects the password") },
  });
});
