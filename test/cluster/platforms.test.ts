/** Two platforms, each a process of its own, on one PostgreSQL. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { openStore, withStore } from "../../src/app/store.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { idsInBatches, plantReceipts, startReceiver } from "../setup/exports-home.ts";
import { identitySettings } from "../setup/identity-home.ts";
import { PlainBrowser, startRealProvider } from "../setup/identity-provider.ts";
import { waitUntil } from "../setup/money-home.ts";
import { freePort, visitor } from "../setup/platform-home.ts";
import { dropDatabase } from "../setup/postgres.ts";
import { cookieOf } from "../setup/second-factor.ts";
import { ClusterProcess } from "./cluster.ts";

setDefaultTimeout(60_000);

let url: string;
let folder: string;
let platforms: ClusterProcess[];
beforeEach(async () => {
  url = await createMigratedDatabase();
  folder = mkdtempSync(join(tmpdir(), "svc-platforms-"));
  platforms = [];
});
afterEach(async () => {
  await Promise.all(platforms.map((one) => one.kill()));
  await dropDatabase(url);
  rmSync(folder, { recursive: true });
});

const settingsOf = (name: string) => ({
  SVC_DATABASE_URL: url,
  SVC_SECRET: "a secret that all machines of a cluster share",
  SVC_CONFIG: "",
  SVC_FIRST_KEY: "off",
  SVC_LOG_LEVEL: "warn",
  SVC_NODE: name,
  SVC_DATA_DIR: join(folder, name),
});

/** Not started yet; killed at the end. */
function platform(name: string, more: Readonly<Record<string, string>> = {}): ClusterProcess {
  const port = freePort();
  const environment = { ...settingsOf(name), SVC_PLATFORM_PORT: port, ...more };
  const one = new ClusterProcess({ name, role: "platform", port, environment });
  platforms.push(one);
  return one;
}

/** The process whose connection holds the lock of exports (src/store/postgres/locks.ts). */
async function exporting(): Promise<ClusterProcess | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ application_name: string }>(
      `select application_name from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and granted and classid = x'737663'::int::oid and objid = 10
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return platforms.find(({ name }) => rows[0]?.application_name === `svc ${name}/platform`);
  } finally {
    await client.end();
  }
}

test("an export goes on in the other process when one is killed in the middle of a batch", async () => {
  const configuration = loadConfiguration(settingsOf("commands"));
  const { store, close } = await openStore(configuration, { kind: "server" });
  // Two batches in each hour.
  const ids = await plantReceipts(store, 600).finally(close);
  const killed: ClusterProcess[] = [];
  const receiver = startReceiver(async (_, { length }) => {
    // The second batch has arrived, and its sender never hears so.
    const sender = length === 2 ? await exporting() : undefined;
    await sender?.kill();
    if (sender !== undefined) killed.push(sender);
    return new Response("");
  });
  try {
    const processes = [platform("one"), platform("two")];
    await Promise.all(processes.map((one) => one.start()));
    await withStore(configuration, ({ exports }) =>
      exports.add({ name: "hook", to: receiver.url, allow_private: true, what: "receipts" }),
    );
    const { received } = receiver;
    await waitUntil("all receipts", () => new Set(idsInBatches(received)).size === ids.length);
    expect(killed).toHaveLength(1);
    expect(processes.filter(({ isRunning }) => isRunning)).toEqual(
      processes.filter((one) => one !== killed[0]),
    );
    const keys = received.map(({ headers }) => headers.get("idempotency-key"));
    expect([keys.length, new Set(keys).size]).toEqual([5, 4]);
    expect([keys[2], received[2]?.body]).toEqual([keys[1] ?? "", received[1]?.body]);
    expect(idsInBatches(received.filter((_, at) => at !== 2))).toEqual(ids);
    const streams = () =>
      withStore(
        configuration,
        async ({ exports }) => (await exports.show({ name: "hook" })).streams,
      );
    await waitUntil("the cursor", async () => (await streams())[0]?.rows === ids.length);
    expect(await streams()).toMatchObject([{ failures: 0, failure: null }]);
  } finally {
    await receiver.stop();
  }
});

test("a sign-in that began at one process ends at the other, once, and its session counts at both", async () => {
  const port = freePort();
  // One address in front of both, as a balancer has it.
  const publicUrl = `http://127.0.0.1:${freePort()}`;
  const provider = await startRealProvider({ port, platformUrl: publicUrl });
  const more = { ...identitySettings(port, "leads=operator"), SVC_PLATFORM_URL: publicUrl };
  const [first, second] = [platform("one", more), platform("two", more)];
  const host = new URL(publicUrl).host;
  const at = ({ origin }: ClusterProcess, cookie = "") => visitor(origin, { cookie, host });
  try {
    await Promise.all([first.start(), second.start()]);
    const email = "ada@example.com";
    provider.users.set("ada", { email, email_verified: true, name: "Ada", groups: ["leads"] });
    const begun = await at(first).ask("POST /api/session/oidc");
    expect(begun.status).toBe(200);
    const until = `${publicUrl}/sign-in/callback`;
    const { search } = await new PlainBrowser().signIn(begun.body.url, "ada", until);
    const body = { ticket: begun.body.ticket, search };
    const holder = cookieOf(begun, "svc_sign_in");
    const ended = await at(second, holder).ask("POST /api/session/oidc/finish", { body });
    expect([ended.status, ended.body.ok]).toEqual([200, true]);
    const again = await at(first, holder).ask("POST /api/session/oidc/finish", { body });
    expect(again.status).toBeGreaterThanOrEqual(400);
    const session = cookieOf(ended, "svc_session");
    for (const one of platforms) {
      const { user } = (await at(one, session).ask("GET /api/session")).body;
      expect([user.email, user.is_operator]).toEqual([email, true]);
      expect((await at(one, session).ask("GET /api/me/sessions")).body).toHaveLength(1);
    }
    // Signing out at one ends it at both.
    expect((await at(first, session).ask("DELETE /api/session")).status).toBe(200);
    expect((await at(second, session).ask("GET /api/me/sessions")).status).toBe(401);
  } finally {
    await provider.stop();
  }
});
