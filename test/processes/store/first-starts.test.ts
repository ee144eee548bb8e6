/** Machines that start for the first time on one empty database, at the same moment. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { ClusterProcess } from "../../cluster/cluster.ts";
import { createHome, type Home } from "../../setup/child.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { freePort } from "../../setup/platform-home.ts";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";

let url: string;
let homes: readonly [Home, Home];
beforeEach(async () => {
  url = await createDatabase();
  homes = [createHome({ isBare: true }), createHome({ isBare: true })];
});
afterEach(async () => {
  for (const home of homes) await home.remove();
  await dropDatabase(url);
});

const environmentOf = (node: string) => ({
  SVC_DATABASE_URL: url,
  SVC_NODE: node,
  SVC_SECRET: "a secret that both machines share",
});

const serveBoth = () =>
  Promise.all(
    homes.map((home, at) => home.serve(environmentOf(`machine-${at}`), { isProcess: true })),
  );

const first = { name: "default", keys: 1, balance_usd: "5.00" };
const listAccounts = () =>
  homes[0].json<readonly { readonly keys: number }[]>(["account", "list"], {
    environment: environmentOf("commands"),
  });

test("both come up, and one of them creates the first key", async () => {
  const servers = await serveBoth();
  const keys = servers.flatMap(({ key }) => (key === undefined ? [] : [key]));
  expect(keys).toHaveLength(1);
  // It works on both machines.
  for (const server of servers) expect(await server.statusFor(keys[0] ?? "")).toBe(200);
  expect(await listAccounts()).toMatchObject([first]);
  for (const server of servers) expect(await server.stop()).toBe(0);
});

test("so do a gateway and a platform", async () => {
  const processes = (["gateway", "platform"] as const).map((role, at) => {
    const port = freePort();
    return new ClusterProcess({
      name: role,
      role,
      port,
      environment: {
        ...environmentOf(role),
        SVC_DATA_DIR: join(homes[at === 0 ? 0 : 1].dataDir, role),
        SVC_CONFIG: "",
        SVC_ENGINE: "off",
        [role === "gateway" ? "SVC_PORT" : "SVC_PLATFORM_PORT"]: port,
        SVC_METRICS_PORT: freePort(),
      },
    });
  });
  await Promise.all(processes.map((one) => one.start()));
  await waitUntil("the first key", async () => (await listAccounts())[0]?.keys === 1);
  expect(await listAccounts()).toMatchObject([first]);
  for (const one of processes) await one.kill();
});

test("without a common secret, the second one says what it needs", async () => {
  const environment = { SVC_DATABASE_URL: url };
  const starts = await Promise.allSettled(homes.map((home) => home.serve(environment)));
  const failed = starts.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(failed).toHaveLength(1);
  expect(failed[0]).toMatch(
    /Set SVC_SECRET to the secret of the gateways that already use this database|The master secret of this database is missing\. Set SVC_SECRET/,
  );
});
