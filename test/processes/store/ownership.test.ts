import { beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { chatJson, usageOf } from "../../fake/openai/chat-json.ts";
import { type ChildServer, type Environment } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { useHome } from "../../setup/use-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";
import { callModel, openPayer } from "./payer.ts";

/**
 * Several owners of one database: one of them may write it, whatever became of its lock files. All
 * run in the tests' process but for one where the lock, or the takeover, is between two processes.
 */

// A little more than a cent for each call.
const usage = usageOf({ prompt: 10, completion: 4_000 });
const upstream = await useFakeUpstream(chatJson({ usage }));
const home = useHome();
let root: string;
let database: string;

beforeEach(() => {
  root = dirname(home.dataDir);
  database = join(root, "shared", "svc.db");
  mkdirSync(dirname(database));
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});

/** The environment of a container that shares the database, and has a data directory of its own. */
const sharing = (name: string, path = database) => ({
  SVC_DATA_DIR: join(root, name),
  SVC_DATABASE_URL: `sqlite:${path}`,
  SVC_SECRET: "a secret of both that is long enough",
  FAKE_KEY: "x",
});

/** In a process of its own. */
const serveApart = (environment: Environment) => home.serve(environment, { isProcess: true });

/** With 0.20 USD, made through the running server that has the data directory. */
const openAccount = ({ SVC_DATA_DIR }: { readonly SVC_DATA_DIR: string }) =>
  openPayer(SVC_DATA_DIR, "0.20");

const call = (server: ChildServer, key: string) => callModel(server, key, { max_tokens: 4_000 });

/** Calls until it is refused: how many were served. */
async function spendAll(server: ChildServer, key: string): Promise<number> {
  for (let served = 0; served < 200; served++) {
    const reply = await call(server, key).catch(() => undefined);
    if (reply?.status !== 200) return served;
    await reply.json();
  }
  throw new Error("the money never ended");
}

interface Findings {
  readonly ok: boolean;
  readonly receipts: number;
  readonly charged: string;
}

const removeLocks = (...folders: string[]) => {
  for (const folder of folders) rmSync(join(folder, "lock.db"), { force: true });
  rmSync(`${database}-lock`, { force: true });
};

test("while one server has the database, a server and a command with a data directory of their own are refused", async () => {
  const first = await serveApart(sharing("one"));
  await openAccount(sharing("one"));
  await expect(home.serve(sharing("two"))).rejects.toThrow(
    `The database ${database} is in use by another gateway or command.`,
  );
  const withdrawn = await home.svc("account withdraw payer 0.20 --reference out", {
    environment: sharing("two"),
  });
  expect({ code: withdrawn.code, stderr: withdrawn.stderr }).toEqual({
    code: 5,
    stderr: expect.stringContaining("is in use by another gateway or command"),
  });
  const account = await home.json<{ balance_usd: string }>("account show payer", {
    environment: sharing("one"),
  });
  expect(account.balance_usd).toBe("0.20");
  expect(await first.stop()).toBe(0);
  const second = await home.serve(sharing("two"));
  expect(await second.stop()).toBe(0);
});

test("a link to the database is the same database", async () => {
  await (await home.serve(sharing("one"))).stop();
  const link = join(root, "link.db");
  symlinkSync(database, link);
  const first = await home.serve(sharing("one", link));
  await expect(home.serve(sharing("two"))).rejects.toThrow("is in use");
  const key = await openAccount(sharing("one", link));
  expect((await call(first, key)).status).toBe(200);
  expect(await first.stop()).toBe(0);
});

test("with the lock files gone a second server takes over: the first ends, and no cent is spent twice", async () => {
  const first = await serveApart(sharing("one"));
  const key = await openAccount(sharing("one"));
  for (let calls = 0; calls < 3; calls++) expect((await call(first, key)).status).toBe(200);
  removeLocks(join(root, "one"), join(root, "two"));
  const second = await home.serve(sharing("two"));
  const servedByBoth = await Promise.all([spendAll(first, key), spendAll(second, key)]);
  expect(servedByBoth).toEqual([0, 16]);
  expect(await first.exited).toBe(1);
  expect(first.stderr()).toContain("another process has opened the database");
  expect(await second.stop()).toBe(0);
  const findings = await home.json<Findings>("ledger verify", { environment: sharing("two") });
  expect(findings).toMatchObject({ ok: true, charged: "0.190057" });
});

test("with the lock files gone a command takes the money, and the server that no longer has it ends", async () => {
  const server = await home.serve(sharing("one"));
  const key = await openAccount(sharing("one"));
  removeLocks(join(root, "one"));
  await home.json("account withdraw payer 0.20 --reference out", {
    environment: sharing("two"),
  });
  expect(await spendAll(server, key)).toBe(0);
  expect(await server.exited).toBe(1);
  const findings = await home.json<Findings>("ledger verify", { environment: sharing("two") });
  expect(findings).toMatchObject({ ok: true, charged: "0.00" });
});

test("a server that ends leaves the files of the one that took over its data directory alone", async () => {
  const first = await home.serve(sharing("one"));
  removeLocks(join(root, "one"));
  const second = await home.serve(sharing("one"));
  expect(await first.exited).toBe(1);
  expect(existsSync(join(root, "one", "owner.json"))).toBe(true);
  // Through its socket: the database is locked.
  await home.json("account list", { environment: sharing("one") });
  expect(await second.stop()).toBe(0);
});
