import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../../../test/setup/folder.ts";
import { openSqlite } from "../sqlite.ts";
import { WalSync } from "./wal-sync.ts";

const root = useFolder();

test("what is asked for before a sync begins shares it, and what comes later gets another", async () => {
  const path = join(mkdtempSync(join(root, "db-")), "svc.db");
  const { raw } = openSqlite(path);
  raw.run("create table t (a)");
  const wal = new WalSync(path);
  const first = wal.sync();
  expect(wal.sync()).toBe(first);
  // It has begun by now: it may have missed what is written from here on.
  await Promise.resolve();
  await Promise.resolve();
  const second = wal.sync();
  expect(second).not.toBe(first);
  expect(wal.sync()).toBe(second);
  await Promise.all([first, second]);
  await wal.close();
  raw.close();
});

test("a log that cannot be opened is told, and the next sync tries again", async () => {
  const path = join(mkdtempSync(join(root, "db-")), "svc.db");
  const wal = new WalSync(path);
  await expect(wal.sync()).rejects.toThrow("ENOENT");
  const { raw } = openSqlite(path);
  raw.run("create table t (a)");
  await wal.sync();
  await wal.close();
  raw.close();
});

test("closing waits for the sync that is under way", async () => {
  const path = join(mkdtempSync(join(root, "db-")), "svc.db");
  const { raw } = openSqlite(path);
  raw.run("create table t (a)");
  const wal = new WalSync(path);
  const ended: string[] = [];
  const syncs = [wal.sync().then(() => ended.push("sync"))];
  await Promise.resolve();
  await Promise.resolve();
  syncs.push(wal.sync().then(() => ended.push("sync")));
  await wal.close().then(() => ended.push("close"));
  await Promise.all(syncs);
  expect(ended).toEqual(["sync", "sync", "close"]);
  raw.close();
});
