import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { RestoreView } from "../../../src/cli/backup-wiring.ts";
import { openLedgerReader } from "../../../src/store/sqlite/ledger/reader.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { join as joinPlatform, nobody, password } from "../../setup/platform-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";
import { openPayer, payForCall } from "./payer.ts";

/** Backups of a running server, and what becomes of them. */

const main = resolve(import.meta.dir, "../../../src/main.ts");

const upstream = await useFakeUpstream();
/** Its data directory and its backups are copied by the tests that need some. */
let origin: Home;
let home: Home;
let folder: string;
let file: string;
let restored: string;
const phrase = "a passphrase of some length";

beforeAll(async () => {
  upstream.replyWith(chatJson());
  origin = openHome();
  const server = await origin.serve(there);
  const key = await openPayer(origin.dataDir, "9");
  for (let at = 0; at < 2; at++) await call(server, key);
  for (const [name, environment] of [
    ["plain", there],
    ["encrypted", encrypted],
  ] as const)
    await origin.json(["backup", join(origin.dataDir, "..", name)], { environment });
  await server.stop();
});
afterAll(() => origin.remove());
beforeEach(() => {
  home = openHome();
  folder = join(home.dataDir, "..");
  file = join(folder, "svc.svcbackup");
  restored = join(folder, "restored");
});
afterEach(() => home.remove());

function openHome(): Home {
  const opened = createHome({ isBare: true });
  opened.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  return opened;
}

const there = { FAKE_KEY: "x" };
const here = () => ({ ...there, SVC_DATA_DIR: restored });
const encrypted = { ...there, SVC_BACKUP_PASSPHRASE: phrase };
const refusalOf = async (words: readonly string[], environment: Record<string, string> = there) => {
  const { code, stderr } = await home.svc(words, { environment });
  expect({ words, code: code === 0, isStack: /\n\s+at /.test(stderr) }).toEqual({
    words,
    code: false,
    isStack: false,
  });
  return stderr;
};

const call = async (server: ChildServer, key: string) => ({
  id: await payForCall(server, key),
  completedMs: Date.now(),
});

/** Callers that go on until they are told to end, which returns what they have paid. */
function load(server: ChildServer, key: string) {
  const paid: Awaited<ReturnType<typeof call>>[] = [];
  const over = new AbortController();
  const caller = async () => {
    while (!over.signal.aborted) paid.push(await call(server, key));
  };
  const callers = Promise.all(Array.from({ length: 8 }, caller));
  return {
    paid,
    async end() {
      over.abort();
      await callers;
    },
  };
}

async function chargesOf(dataDir: string): Promise<ReadonlyMap<string, bigint>> {
  const reader = openLedgerReader(join(dataDir, "svc.db"));
  const charges = new Map<string, bigint>();
  for await (const { id, charged } of reader.receipts({})) charges.set(id, charged);
  await reader.close();
  return charges;
}

test.each([
  ["plain, beside the secret", there],
  ["encrypted", encrypted],
])(
  "a backup under load (%s) brings back every receipt up to its moment",
  async (_, environment) => {
    const server = await home.serve(there, { isProcess: true });
    const operator = { email: "ada@example.com" };
    await joinPlatform(server.platformUrl, server.operatorLink ?? "", operator);
    const key = await openPayer(home.dataDir, "9");
    await home.json(["exports", "add", "archive", "--to", `file://${folder}`]);
    const traffic = load(server, key);
    await waitUntil("calls before", () => traffic.paid.length > 40);
    const before = traffic.paid.map(({ id }) => id);
    const view = await home.json<{ created_at: string; has_secret: boolean }>(["backup", file], {
      environment,
    });
    const behind = traffic.paid.length;
    await waitUntil("calls after", () => traffic.paid.length > behind + 40);
    await traffic.end();
    const momentMs = Date.parse(view.created_at);
    const charges = await chargesOf(home.dataDir);
    // The machine is lost.
    server.signal("SIGKILL");
    await server.exited;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(view.has_secret).toBe(environment === encrypted);
    if (!view.has_secret) {
      mkdirSync(restored);
      copyFileSync(join(home.dataDir, "secret"), join(restored, "secret"));
    }
    const words = ["restore", file, "--data-dir", restored];
    // Its secret comes with it, so this machine cannot know who wrote it.
    if (view.has_secret) words.push("--trust");
    const result = await home.json<RestoreView>(words, { environment });
    expect(result).toMatchObject({
      ledger_problems: 0,
      paused_exports: ["archive"],
      data_dir: restored,
      created_at: view.created_at,
    });
    expect(statSync(join(restored, "secret")).mode & 0o777).toBe(0o600);

    const found = await chargesOf(restored);
    const done = traffic.paid.filter(({ completedMs }) => completedMs < momentMs);
    const due = done.map(({ id }) => id);
    expect(due.length).toBeGreaterThanOrEqual(before.length);
    for (const id of new Set([...before, ...due]))
      expect([id, found.get(id)]).toEqual([id, charges.get(id)]);
    // It is a moment in the middle of the traffic, and nothing in it is made up.
    expect(found.size).toBeLessThan(charges.size);
    for (const [id, charged] of found) expect([id, charges.get(id)]).toEqual([id, charged]);

    const next = await home.serve(here());
    await call(next, key);
    const signIn = { body: { email: operator.email, password } };
    const { status } = await nobody(next.platformUrl).ask("POST /api/session", signIn);
    expect(status).toBe(view.has_secret ? 401 : 200);
    const { exports } = await home.json<{ exports: { state: string }[] }>("exports", {
      environment: here(),
    });
    expect(exports.map(({ state }) => state)).toEqual(["paused"]);
    const verified = await home.json("ledger verify", { environment: here() });
    expect(verified).toMatchObject({ ok: true, receipts: found.size + 1, problem_count: 0 });
    expect(await next.stop()).toBe(0);
  },
);

/** With one account and two receipts, and a backup of it. */
function backedUp(name: "plain" | "encrypted" = "encrypted"): Buffer {
  cpSync(origin.dataDir, home.dataDir, { recursive: true });
  copyFileSync(join(origin.dataDir, "..", name), file);
  return readFileSync(file);
}

test("backups leave nothing beside them, and replace nothing unasked", async () => {
  const bytes = backedUp();
  expect(readdirSync(folder).filter((name) => name.includes("svcbackup"))).toEqual([
    "svc.svcbackup",
  ]);
  expect(readdirSync(home.dataDir).filter((name) => /copy|part/.test(name))).toEqual([]);
  expect(await refusalOf(["backup", file])).toContain("already exists. Choose another name, or");
  expect(readFileSync(file).equals(bytes)).toBe(true);
  await home.ok(["backup", file, "--force"]);
  expect(readFileSync(file).equals(bytes)).toBe(false);
  expect(await refusalOf(["backup", `${file}2`, "--keep", "1"])).toContain("needs a directory");
  expect(await refusalOf(["backup", join(folder, "no", "x")])).toContain("no does not exist");
  // What a backup that was killed has left is in nobody's way.
  writeFileSync(join(home.dataDir, "backup-copy.db"), "half");
  const shelf = join(folder, "shelf");
  mkdirSync(shelf);
  writeFileSync(join(shelf, "notes"), "mine");
  for (const day of ["01", "02", "03"])
    writeFileSync(join(shelf, `svc-202601${day}T000000Z.svcbackup`), "old");
  const { stdout } = await home.svc(["backup", shelf, "--keep", "2"]);
  expect(stdout).toContain("svc-20260102T000000Z.svcbackup");
  const kept = readdirSync(shelf).toSorted();
  expect(kept).toHaveLength(3);
  expect(kept.slice(0, 2)).toEqual(["notes", "svc-20260103T000000Z.svcbackup"]);
  writeFileSync(join(shelf, "svc-20990101T000000Z.svcbackup"), "old");
  const last = await home.json<{ file: string }>(["backup", shelf, "--keep", "1", "--force"]);
  expect(readdirSync(shelf).toSorted()).toEqual(["notes", basename(last.file)]);
  // What a check that was killed has unpacked goes with the next one.
  const left = join(tmpdir(), `svc-backup-${Bun.spawnSync(["true"]).pid}-left`);
  mkdirSync(left);
  await home.ok(["backup", "verify", last.file]);
  expect(existsSync(left)).toBe(false);
  await home.ok(["backup", file, "--force"]);
  expect(existsSync(join(home.dataDir, "backup-copy.db"))).toBe(false);
});

test("passphrases come from a file or the environment, and are long enough", async () => {
  backedUp();
  const passphraseFile = join(folder, "passphrase");
  const words = ["backup", "verify", file];
  expect(await refusalOf(words)).toContain("Set SVC_BACKUP_PASSPHRASE or --passphrase-file");
  writeFileSync(passphraseFile, `${phrase}\n`);
  const checked = ["backup", "verify", file, "--passphrase-file", passphraseFile];
  expect(await home.json<object>(checked)).toMatchObject({ receipts: 2, has_secret: true });
  writeFileSync(passphraseFile, "another passphrase\n");
  expect(await refusalOf(checked)).toContain("The passphrase is wrong for");
  writeFileSync(passphraseFile, "short\n");
  const short = ["backup", file, "--force", "--passphrase-file", passphraseFile];
  expect(await refusalOf(short)).toContain("a passphrase of 12 to 1,000 characters");
  expect((await home.svc("config", { environment: encrypted })).stdout).not.toContain(phrase);
});

test("a damaged or foreign backup changes nothing, and the reason is named", async () => {
  const bytes = backedUp("plain");
  const secret = readFileSync(join(home.dataDir, "secret"), "utf8").trim();
  const words = ["restore", file, "--data-dir", restored];
  const withSecret = { ...there, SVC_SECRET: secret };
  const refused = async (environment: Record<string, string> = withSecret) => {
    const text = await refusalOf(words, environment);
    const left = existsSync(restored) ? readdirSync(restored) : [];
    expect(left.filter((name) => !/lock/.test(name))).toEqual([]);
    return text;
  };
  writeFileSync(file, bytes.subarray(0, bytes.length - 1));
  expect(await refused()).toContain("is cut short: it ends after");
  const changed = Buffer.from(bytes);
  changed[bytes.length - 100] = (changed[bytes.length - 100] ?? 0) ^ 1;
  writeFileSync(file, changed);
  expect(await refused()).toContain("is damaged");
  writeFileSync(file, bytes);
  expect(await refused(there)).toContain("does not contain the master secret");
  const other = await refused({ ...there, SVC_SECRET: "0123456789abcdef".repeat(4) });
  expect(other).toMatch(
    /belongs to the master secret with the fingerprint \w{16}, but the secret in SVC_SECRET has the fingerprint \w{16}/,
  );
  expect(await refusalOf(["restore", join(folder, "none")])).toContain("does not exist");
  // A restore replaces nothing.
  expect(await refusalOf(["restore", file])).toContain(`${join(home.dataDir, "svc.db")} exists`);
  const inUse = await home.serve(there);
  expect(await refusalOf(["restore", file])).toContain("exists, and svc restore never replaces");
  await inUse.stop();
});

/** As `svc restore` leaves the directory when it is killed at one of its steps. */
const killedAt: Readonly<Record<string, (whole: (name: string) => string) => void>> = {
  "the secret is half written": (whole) => {
    renameSync(whole("svc.db"), whole("svc.db-restoring"));
    renameSync(whole("secret"), whole("secret-restoring"));
    rmSync(whole("svc.db-mark"));
  },
  "the database has no name yet": (whole) => {
    renameSync(whole("svc.db"), whole("svc.db-restoring"));
    writeFileSync(whole("svc.db-restoring-journal"), "half");
    rmSync(whole("svc.db-mark"));
  },
};

test("an interrupted restore is never served, and the next one clears up behind it", async () => {
  const bytes = backedUp();
  mkdirSync(restored);
  const child = Bun.spawn([process.execPath, main, "restore", "-", "--data-dir", restored], {
    env: { ...encrypted, PATH: "", HOME: folder, SVC_CONFIG: home.configPath },
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  // All but the last frame: it waits for that one, with most of the database on the disk.
  child.stdin.write(bytes.subarray(0, bytes.length - 60));
  child.stdin.flush();
  const partial = join(restored, "svc.db-restoring");
  await waitUntil(
    "the database is written",
    () => (statSync(partial, { throwIfNoEntry: false })?.size ?? 0) > 4_096,
  );
  child.kill("SIGKILL");
  await child.exited;
  const interrupted =
    "is missing because its restore was interrupted. Run svc restore again, or remove";
  const restore = async () => {
    expect(await refusalOf(["serve"], here())).toContain(interrupted);
    expect(await refusalOf(["account", "list"], here())).toContain(interrupted);
    expect(existsSync(join(restored, "svc.db"))).toBe(false);
    const words = ["restore", file, "--data-dir", restored, "--trust"];
    const { stdout, code } = await home.svc(words, { environment: encrypted });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`interrupted restore: ${partial}`)]);
    expect(await home.json("ledger verify", { environment: here() })).toMatchObject({
      ok: true,
      receipts: 2,
    });
  };
  await restore();
  for (const spoil of Object.values(killedAt)) {
    spoil((name) => join(restored, name));
    await restore();
    expect(readdirSync(restored).filter((name) => name.includes("restoring"))).toEqual([]);
  }
  // With the database in its place, the restore is complete; the mark comes with the first receipt.
  rmSync(join(restored, "svc.db-mark"));
  const server = await home.serve(here());
  expect(await server.stop()).toBe(0);
});

test("a backup goes through pipes, and the original cannot take the copy for its own", async () => {
  const server = await home.serve(there);
  const key = await openPayer(home.dataDir, "9");
  await call(server, key);
  const environment = { ...encrypted, HOME: folder, SVC_CONFIG: home.configPath };
  const run = (words: readonly string[], dataDir: string, stdin: Blob | "ignore") =>
    Bun.spawn([process.execPath, main, ...words], {
      env: { ...environment, PATH: "", SVC_DATA_DIR: dataDir },
      stdin,
      stdout: "pipe",
      stderr: "pipe",
    });
  const backup = run(["backup", "-"], home.dataDir, "ignore");
  const piped = await new Response(backup.stdout).blob();
  expect([await backup.exited, await new Response(backup.stderr).text()]).toEqual([0, ""]);
  const restore = run(["restore", "-", "--json", "--trust"], restored, piped);
  const view: RestoreView = await new Response(restore.stdout).json();
  expect(view).toMatchObject({ receipts: 1, secret: "backup", ledger_problems: 0, file: "-" });
  const epochOf = (dataDir: string) => {
    const database = new Database(join(dataDir, "svc.db"));
    const { value } = database
      .query<{ value: string }, []>("select value from meta where key = 'epoch'")
      .get() ?? { value: "" };
    database.close();
    return Number(value);
  };
  expect(epochOf(restored)).toBeGreaterThan(epochOf(home.dataDir) + 1_000_000);
  expect(readFileSync(join(restored, "svc.db-mark"), "utf8")).toContain(view.newest_receipt ?? "?");
  // Both have the key: nothing but the operator keeps them from spending the same money.
  const copy = await home.serve(here());
  await call(copy, key);
  await call(server, key);
  await Promise.all([copy.stop(), server.stop()]);
  // A loss after the restore shows, and the restore itself is none.
  const verified = await home.json<object>("ledger verify", { environment: here() });
  expect(verified).toMatchObject({ ok: true, receipts: 2, problems: [] });
});

test("a directory that is in use, or is none, is refused in one sentence", async () => {
  backedUp();
  const words = ["restore", file, "--data-dir", restored];
  writeFileSync(restored, "a file");
  expect(await refusalOf(words, encrypted)).toContain("cannot be created");
  rmSync(restored);
  const server = await home.serve({
    ...here(),
    SVC_DATABASE_URL: `sqlite:${join(folder, "other.db")}`,
  });
  expect(await refusalOf(words, encrypted)).toContain(`${restored} is in use`);
  await server.stop();
  const postgres = { ...there, SVC_DATABASE_URL: "postgres://svc:hunter22@127.0.0.1:1/svc" };
  const text = await refusalOf(["backup", file], postgres);
  expect(text).toContain("pg_dump --format=custom");
  expect(text).toContain("SVC_SECRET");
  expect(text).not.toContain("hunter22");
  expect(await refusalOf(["restore", file], postgres)).toContain("pg_restore");
});
