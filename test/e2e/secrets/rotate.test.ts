import { expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hashKeySecret, keyHint, newKeySecret } from "../../../src/keys/secret.ts";
import type { RotatedView, SecretStatusView } from "../../../src/platform/secrets/operations.ts";
import { fingerprintOf } from "../../../src/secrets/master-key.ts";
import { keepSecret } from "../../../src/secrets/master-secret.ts";
import { createSecrets } from "../../../src/secrets/secrets.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../../src/store/sqlite/store.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";
import { auditOf } from "../../store/audit-sample.ts";

/** The master secret is replaced, and everything that it protects keeps working. */

const home = useHome();

const inData = (name: string) => join(home.dataDir, name);
const secretText = (name = "secret") => readFileSync(inData(name), "utf8").trim();
const status = () => home.json<SecretStatusView>("secret status");
const rotate = (...words: string[]) => home.json<RotatedView>(["secret", "rotate", ...words]);

/** As versions before data keys have left it: everything is derived from the secret. */
async function writeOldStore(secret: string): Promise<string> {
  writeFileSync(inData("secret"), `${secret}\n`, { mode: 0o600 });
  const secrets = createSecrets(secret);
  const store = await createStore(openSqlite(inData("svc.db")), secrets.fingerprint);
  const key = newKeySecret();
  await store.accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
  const hash = hashKeySecret(key, secrets.keyHashKey);
  const record = { id: "key_1", accountId: "acct_1", name: "k", hash, hint: keyHint(key) };
  await store.keys.insert({ ...record, createdAtMs: 1 }, auditOf());
  await store.close();
  return key;
}

test("an API key from before data keys works after an upgrade and two rotations", async () => {
  const old = "0123456789abcdef".repeat(4);
  const key = await writeOldStore(old);
  const server = await home.serve();
  expect(await server.statusFor(key)).toBe(200);
  const first = await rotate();
  expect(first).toMatchObject({ previous: fingerprintOf(old), is_finished: true });
  expect(await server.statusFor(key)).toBe(200);
  const second = await rotate();
  expect(second.previous).toBe(first.fingerprint);
  expect(await server.stop()).toBe(0);
  expect(fingerprintOf(secretText())).toBe(second.fingerprint);
  expect(secretText(`secret.${first.previous}`)).toBe(old);
  for (const name of readdirSync(home.dataDir).filter((one) => one.startsWith("secret")))
    expect([name, statSync(inData(name)).mode & 0o777]).toEqual([name, 0o600]);
  const again = await home.serve();
  expect(await again.statusFor(key)).toBe(200);
  expect(await status()).toMatchObject({ fingerprint: second.fingerprint, is_finished: true });
  expect(await again.stop()).toBe(0);
});

test("the previous secret opens nothing any more, and is not printed", async () => {
  await home.svc("account create acme");
  const before = secretText();
  const stdout = await home.ok("secret rotate");
  for (const text of [before, secretText()]) expect(stdout).not.toContain(text);
  expect(await home.svc("account list", { environment: { SVC_SECRET: before } })).toMatchObject(
    refusal(1, "another master secret"),
  );
  const { stdout: log } = await home.svc("secret status --json");
  for (const text of [before, secretText()]) expect(log).not.toContain(text);
});

test("a kill at any point leaves a system that starts", async () => {
  await home.svc("account create acme");
  const next = "fedcba9876543210".repeat(4);
  // The file is written, the database is not.
  keepSecret(home.dataDir, next);
  await home.ok("account list");
  expect(fingerprintOf(secretText())).not.toBe(fingerprintOf(next));
  // The database is written, `secret` is not replaced.
  const before = secretText();
  const { fingerprint } = await rotate("--secret-file", inData(`secret.${fingerprintOf(next)}`));
  expect(fingerprint).toBe(fingerprintOf(next));
  writeFileSync(inData("secret"), `${before}\n`);
  keepSecret(home.dataDir, next);
  const server = await home.serve();
  expect(await server.stop()).toBe(0);
  expect(secretText()).toBe(next);
  expect(secretText(`secret.${fingerprintOf(before)}`)).toBe(before);
  expect(existsSync(inData(`secret.${fingerprint}`))).toBe(false);
});

test("rotations at once: each succeeds or is refused, and the store stays usable", async () => {
  const server = await home.serve();
  const outcomes = await Promise.all([1, 2, 3].map(() => home.svc("secret rotate")));
  expect(outcomes.map(({ code }) => code)).toContain(0);
  expect(await server.statusFor(server.key)).toBe(200);
  expect(await server.stop()).toBe(0);
  const again = await home.serve();
  expect(await again.statusFor(server.key)).toBe(200);
  expect((await status()).is_finished).toBe(true);
  expect(await again.stop()).toBe(0);
});

test("a secret of the environment stays valid until the rotation is finished", async () => {
  const one = { SVC_SECRET: "1".repeat(32) };
  const svc = (words: string[], environment: Record<string, string>) =>
    home.svc(words, { environment });
  expect((await svc(["account", "create", "acme"], one)).code).toBe(0);
  const rotated = await svc(["secret", "rotate", "--json"], one);
  const { fingerprint, secret_file } = JSON.parse(rotated.stdout) as RotatedView;
  const two = { SVC_SECRET: readFileSync(secret_file ?? "", "utf8").trim() };
  for (const environment of [one, two])
    expect((await svc(["account", "list"], environment)).code).toBe(0);
  expect((await svc(["secret", "rotate"], one)).stderr).toContain("is not finished");
  expect((await svc(["secret", "rotate", "--finish"], one)).stderr).toContain(
    "still uses the previous secret",
  );
  expect((await svc(["secret", "rotate", "--cancel"], two)).stderr).toContain(
    "already uses the new secret",
  );
  expect((await svc(["secret", "rotate", "--finish"], two)).code).toBe(0);
  expect(fingerprintOf(secretText(`secret.${fingerprint}`))).toBe(fingerprint);
  expect((await svc(["account", "list"], one)).stderr).toContain("another master secret");
  expect((await svc(["account", "list"], two)).code).toBe(0);
});

test("a rotation that is not finished can be undone", async () => {
  const one = { environment: { SVC_SECRET: "1".repeat(32) } };
  await home.svc("account create acme", one);
  const { stdout } = await home.svc("secret rotate --secret-file - --json", {
    ...one,
    stdin: "2".repeat(32),
  });
  expect(JSON.parse(stdout)).toMatchObject({ secret_file: null, is_finished: false });
  await home.ok("secret rotate --cancel", one);
  await home.ok("account list", one);
  const other = { environment: { SVC_SECRET: "2".repeat(32) } };
  expect((await home.svc("account list", other)).code).toBe(1);
});

test.each([
  ["names it", (file: string) => file],
  [
    "names a link to it",
    (file: string) => {
      symlinkSync(file, `${file}-link`);
      return `${file}-link`;
    },
  ],
])("the file of a new secret outlives the rotation where SVC_SECRET_FILE %s", async (_, toName) => {
  const old = join(home.dataDir, "..", "old");
  writeFileSync(old, "1".repeat(64), { mode: 0o600 });
  const one = { environment: { SVC_SECRET_FILE: old } };
  await home.svc("account create acme", one);
  const rotated = await home.svc("secret rotate --json", one);
  const { fingerprint, secret_file } = JSON.parse(rotated.stdout) as RotatedView;
  const two = { environment: { SVC_SECRET_FILE: toName(secret_file ?? "") } };
  const finished = await home.svc("secret rotate --finish", two);
  expect([finished.code, finished.stdout]).toEqual([
    0,
    expect.stringContaining(`secret.${fingerprint} in the data directory has the secret that is`),
  ]);
  await home.ok("account list", two);
});

test("a secret of a canceled rotation stays for the backups from during it", async () => {
  const one = { environment: { SVC_SECRET: "1".repeat(32) } };
  await home.svc("account create acme", one);
  const { stdout } = await home.svc("secret rotate --json", one);
  const { fingerprint } = JSON.parse(stdout) as RotatedView;
  const file = join(home.dataDir, "..", "svc.svcbackup");
  await home.ok(["backup", file], one);
  await home.ok("secret rotate --cancel", one);
  const two = { environment: { SVC_SECRET: secretText(`secret.${fingerprint}`) } };
  const words = ["restore", file, "--data-dir", join(home.dataDir, "..", "restored")];
  await home.ok(words, two);
});

test("a linked secret is rotated in two steps, and the link stays", async () => {
  const vault = join(home.dataDir, "..", "vault");
  writeFileSync(vault, `${"1".repeat(64)}\n`, { mode: 0o600 });
  const link = () => {
    rmSync(inData("secret"), { force: true });
    symlinkSync(vault, inData("secret"));
  };
  link();
  const server = await home.serve();
  const { stdout } = await home.svc("secret rotate");
  expect(stdout).toContain("1. Keep a copy of the previous secret as long as you keep backups");
  expect(stdout).toContain(
    `Replace the content of the file that the link ${inData("secret")} leads to with the text in`,
  );
  const { wrappings, fingerprint: before } = await status();
  const { fingerprint = "" } = wrappings.find((one) => one.is_current) ?? {};
  expect([wrappings.length, before]).toEqual([2, fingerprintOf("1".repeat(64))]);
  expect(await server.stop()).toBe(0);
  // A tool that links again at each start changes nothing.
  link();
  const again = await home.serve();
  expect(await again.statusFor(server.key)).toBe(200);
  expect(await again.stop()).toBe(0);
  copyFileSync(inData(`secret.${fingerprint}`), vault);
  await home.ok("secret rotate --finish");
  link();
  const last = await home.serve();
  expect(await last.statusFor(server.key)).toBe(200);
  expect(await last.stop()).toBe(0);
  expect(lstatSync(inData("secret")).isSymbolicLink()).toBe(true);
  // The vault is restored from before: nothing of the data directory takes its place.
  writeFileSync(vault, `${"1".repeat(64)}\n`);
  expect((await home.svc("account list")).stderr).toContain("another master secret");
  expect((await home.svc("doctor")).stdout).not.toContain("was interrupted");
  expect(lstatSync(inData("secret")).isSymbolicLink()).toBe(true);
  expect(fingerprintOf(secretText(`secret.${fingerprint}`))).toBe(fingerprint);
});

test("where systemd copies the secret, the source of the copy is what to replace", async () => {
  const credentials = join(home.dataDir, "..", "credentials");
  mkdirSync(credentials);
  const file = join(credentials, "svc-secret");
  writeFileSync(file, "1".repeat(64), { mode: 0o400 });
  const server = await home.serve({
    SVC_SECRET_FILE: file,
    CREDENTIALS_DIRECTORY: credentials,
  });
  const { stdout } = await home.svc("secret rotate");
  expect(stdout).toContain("the file that LoadCredential=svc-secret names in the systemd unit");
  expect(stdout).not.toContain(`the content of ${file}`);
  expect(await server.stop()).toBe(0);
});

test("a new secret that is short, missing or the present one is refused in one sentence", async () => {
  await home.svc("account create acme");
  const short = inData("short");
  writeFileSync(short, "hunter2");
  for (const [file, trouble] of [
    [short, "at least 32 random characters"],
    [inData("none"), "does not exist"],
    [inData("secret"), "is the one that is used now"],
  ] as const) {
    const { code, stderr } = await home.svc(["secret", "rotate", "--secret-file", file]);
    expect([file, code === 0, stderr.includes(trouble)]).toEqual([file, false, true]);
    expect(stderr).not.toContain("hunter2");
  }
  expect(readdirSync(home.dataDir).filter((one) => one.startsWith("secret."))).toEqual([]);
});

test("a backup from before needs the secret of its time, which the data directory keeps", async () => {
  await home.svc("account create acme");
  const file = join(home.dataDir, "..", "svc.svcbackup");
  await home.ok(["backup", file]);
  const before = secretText();
  await rotate();
  const restored = join(home.dataDir, "..", "restored");
  const restore = (secret: string) =>
    home.svc(["restore", file, "--data-dir", restored], { environment: { SVC_SECRET: secret } });
  const refused = await restore(secretText());
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`master secret with the fingerprint ${fingerprintOf(before)}`);
  expect(refused.stderr).toContain("Set SVC_SECRET to the secret of the original as it was");
  expect(secretText(`secret.${fingerprintOf(before)}`)).toBe(before);
  expect((await restore(before)).code).toBe(0);
});

test("the audit log names both fingerprints, and no secret", async () => {
  await home.svc("account create acme");
  const before = secretText();
  const { fingerprint } = await rotate();
  const { db, raw } = openSqlite(inData("svc.db"));
  const rows = raw
    .query<{ subject: string; detail: string }, []>(
      "select subject, detail from audit where action = 'secret.rotate'",
    )
    .all();
  await db.destroy();
  expect(rows.map(({ subject }) => subject)).toEqual([fingerprint]);
  expect(JSON.parse(rows[0]?.detail ?? "")).toEqual({
    previous: fingerprintOf(before),
    is_finished: true,
  });
});
