import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../test/setup/postgres.ts";
import { systemClock } from "../base/clock.ts";
import { type Change, FeedFollower } from "../base/feed.ts";
import { fromTargetSubject, type TargetHealth } from "../catalog/health.ts";
import { loadConfiguration } from "../config/load.ts";
import { migrate } from "../store/postgres/migrations/migrations.ts";
import { openPostgres } from "../store/postgres/postgres.ts";
import { createFeedStore } from "../store/sql/feed.ts";
import { writeMeta } from "../store/sql/meta.ts";
import { addEmbedded } from "./engine.ts";
import { announceToGateways } from "./gateway-news.ts";
import { takePlace } from "./postgres.ts";
import { openStore } from "./store.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-places-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const configurationOf = (environment: Record<string, string> = {}) =>
  loadConfiguration({ SVC_DATA_DIR: dataDir, SVC_NODE: "eu-1", SVC_CONFIG: "", ...environment });

test("processes of one machine have places of their own, and one process per place", () => {
  const { settings } = configurationOf();
  const users = [
    { kind: "supervisor" },
    { kind: "platform" },
    { kind: "worker", worker: 1 },
    { kind: "worker", worker: 2 },
  ] as const;
  const places = users.map((user) => takePlace(settings, user));
  expect(places.map(({ name }) => name)).toEqual(["eu-1", "eu-1/platform", "eu-1/1", "eu-1/2"]);
  expect(new Set(places.map(({ instance }) => instance)).size).toBe(4);
  for (const user of users) expect(() => takePlace(settings, user)).toThrow("is in use");
  expect(() => takePlace(settings, { kind: "server" })).toThrow("is in use");
  // Commands work beside all of them.
  takePlace(settings, { kind: "command" }).lock.release();
  for (const { lock } of places) lock.release();
  const again = takePlace(settings, { kind: "worker", worker: 1 });
  expect(again.instance).toBe(places[2]?.instance ?? "");
  again.lock.release();
  // The workers of a machine are known by its own directory.
  expect(again.instance).toBe(`${places[0]?.instance}/1`);
});

test("a machine without the secret of the database is refused, and no other secret is created", async () => {
  await using database = await openDatabase();
  const { url } = database;
  const postgres = await openPostgres({ url });
  await migrate(postgres.db);
  await writeMeta(postgres.db, "secret_fingerprint", "of another machine");
  await postgres.close();
  const configuration = configurationOf({ SVC_DATABASE_URL: url });
  for (const kind of ["supervisor", "platform", "command"] as const)
    await expect(openStore(configuration, { kind })).rejects.toThrow(
      "The master secret of this database is missing. Set SVC_SECRET or SVC_SECRET_FILE, or restore",
    );
});

test("what an operator resets reaches every gateway that follows the feed", async () => {
  await using database = await openDatabase();
  const { url } = database;
  const postgres = await openPostgres({ url });
  try {
    await migrate(postgres.db);
    const heard: unknown[] = [];
    const followers = Array.from({ length: 2 }, () => {
      const changed = async (changes: readonly Change[]) => {
        for (const { topic, subject } of changes)
          heard.push(topic === "targets" ? fromTargetSubject(subject) : topic);
      };
      return new FeedFollower(createFeedStore(postgres.db), { changed, reloadAll: async () => {} });
    });
    for (const follower of followers) await follower.start();
    const known = [{ provider: "acme", model: "large" }] as readonly Partial<TargetHealth>[];
    const gateways = announceToGateways(postgres.db, {
      health: async () => known as readonly TargetHealth[],
    });
    expect(await gateways.resetHealth("acme")).toBe(1);
    expect(await gateways.resetHealth("acme", "small")).toBe(0);
    await gateways.forgetServed({ provider: "acme", key: undefined, model: "large" });
    for (const follower of followers) await follower.catchUp();
    const news = [
      { kind: "reset", provider: "acme" },
      { kind: "reset", provider: "acme", model: "small" },
      { kind: "forget-served", target: { provider: "acme", model: "large" } },
    ];
    expect(heard).toEqual([...news, ...news]);
  } finally {
    await postgres.close();
  }
});

test("machines that start at once on an empty catalog add the embedded models once", async () => {
  await using database = await openDatabase();
  const { url } = database;
  const environment = { SVC_DATABASE_URL: url, SVC_SECRET: "the same on all machines of a fleet" };
  const machines = await Promise.all(
    ["eu-1", "eu-2", "eu-3"].map(async (node) => {
      const own = { SVC_NODE: node, SVC_DATA_DIR: join(dataDir, node) };
      const configuration = configurationOf({ ...environment, ...own });
      const opened = await openStore(configuration, { kind: "supervisor" });
      const reload = async () => {};
      const follower = new FeedFollower(opened.store.feed, { changed: reload, reloadAll: reload });
      await follower.start();
      return { configuration, opened, follower, clock: systemClock };
    }),
  );
  try {
    await Promise.all(machines.map((machine) => addEmbedded(machine)));
    for (const { opened } of machines) {
      const { models } = await opened.store.catalog.load();
      expect(new Set(models.map(({ prices }) => prices.length))).toEqual(new Set([1]));
      expect((await opened.store.audit.list({ limit: 10 })).records).toHaveLength(1);
    }
  } finally {
    for (const { opened } of machines) await opened.close();
  }
});

test("a store that is closed during its upkeep reports no error", async () => {
  await using database = await openDatabase();
  const { url } = database;
  const configuration = configurationOf({ SVC_DATABASE_URL: url, SVC_SECRET: "s".repeat(32) });
  const opened = await openStore(configuration, { kind: "command" });
  const errors: string[] = [];
  await opened.store.close();
  // Its pool has ended, as it has for what was under way at the end.
  opened.store.startUpkeep((detail) => errors.push(detail));
  await new Promise(setImmediate);
  expect(errors).toEqual([]);
  await opened.close().catch(() => {});
});
