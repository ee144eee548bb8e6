/** Several gateways on one PostgreSQL, in short; `npm run test:cluster` takes longer. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Cluster, type ClusterProcess, callNano, callOnce, model } from "./cluster.ts";
import { killGateways, Load, raceForMoney, untilRefused, untilServed } from "./scenarios.ts";

let cluster: Cluster;
let first: ClusterProcess;
let second: ClusterProcess;

beforeAll(async () => {
  cluster = await Cluster.start({ gateways: 2 });
  [first, second] = cluster.gateways as [ClusterProcess, ClusterProcess];
});
afterAll(() => cluster.stop());

/** Nothing is lost, nothing is charged twice, nobody is below zero. */
async function expectClean(served: readonly string[] = []): Promise<void> {
  const findings = await cluster.verify();
  expect(findings.problems).toEqual([]);
  expect(new Set(served).size).toBe(served.length);
  expect(await cluster.charged(served)).toEqual(served.map(() => callNano));
}

const balanceOf = (account: string) =>
  cluster.operate(async ({ accounts }) => (await accounts.show({ account })).balance_usd);

test("an account with money for ten serves ten, however many ask at once and wherever", async () => {
  const { key, id } = await cluster.openAccount("race", "0.0010");
  for (let round = 0; round < 5; round++) {
    const { served, others } = await raceForMoney(cluster.gateways, key, 60);
    expect({ served, others: Object.fromEntries(others) }).toEqual({
      served: 10,
      others: { "402 insufficient_quota": 50 },
    });
    await cluster.operate(({ entries }) =>
      entries.add({ account: id, kind: "credit", usd: "0.0010" }),
    );
  }
  await expectClean();
});

test("gateways that are killed in the middle of calls lose nothing and charge nothing twice", async () => {
  const { key, id } = await cluster.openAccount("kills", "100");
  const load = new Load(cluster, key, 6);
  await killGateways(cluster, 4);
  for (const gateway of cluster.gateways) await untilServed(gateway, key);
  await load.end();
  expect(load.served.length).toBeGreaterThan(0);
  await expectClean(load.served);
  const spent = 100_000_000_000n - usdToNano(await balanceOf(id));
  expect(spent).toBeGreaterThanOrEqual(BigInt(load.served.length) * callNano);
});

test("views name the time that they reach while a gateway is stopped, and have its calls afterwards", async () => {
  const { key, id } = await cluster.openAccount("stopped", "1");
  await untilServed(second, key);
  const seen = () =>
    cluster.operate(async ({ accounts, billing, models, reports }) => {
      const details = await accounts.show({ account: id });
      const bill = await billing.show({ account: id });
      const [callers] = await models.callers({ model });
      const margin = await reports.margin({ by: "account" });
      const row = margin.rows.find(({ name }) => name === "stopped");
      return { all: [details, bill, margin, callers], receipts: row?.receipts ?? 0 };
    });
  const before = (await seen()).receipts;
  expect((await callOnce(second, key)).status).toBe(200);
  second.signal("SIGSTOP");
  const endedMs = Date.now();
  const stopped = await seen();
  second.signal("SIGCONT");
  expect(stopped.receipts).toBe(before);
  for (const view of stopped.all) {
    expect(view?.is_complete).toBe(false);
    expect(Date.parse(view?.as_of ?? "")).toBeLessThanOrEqual(endedMs);
  }
  const isWhole = async () => {
    const { all, receipts } = await seen();
    return receipts === before + 1 && all.every((view) => view?.is_complete === true);
  };
  while (!(await isWhole()));
  if (!second.isRunning) await second.start();
  await untilServed(second, key);
});

test("a revoked key, a paused account and a withdrawal take effect on every gateway", async () => {
  const { key, id } = await cluster.openAccount("revoked", "1");
  for (const gateway of cluster.gateways) expect((await callOnce(gateway, key)).status).toBe(200);
  // Money that gateways have borrowed comes back.
  await cluster.operate(({ entries }) =>
    entries.add({ account: id, kind: "withdrawal", usd: "0.9997" }),
  );
  expect(await balanceOf(id)).toBe("0.0001");
  const { served } = await raceForMoney(cluster.gateways, key, 10);
  expect(served).toBe(1);
  const keyId = await cluster.operate(async ({ keys }) => {
    const list = await keys.list({ account: id });
    return list[0]?.id ?? "";
  });
  await untilRefused(cluster, key, () => cluster.operate(({ keys }) => keys.revoke({ id: keyId })));
  await expectClean();
});

test("a gateway that was stopped for longer than its lease lasts hears first and charges nothing", async () => {
  const { key } = await cluster.openAccount("paused", "1");
  expect((await callOnce(first, key)).status).toBe(200);
  const closings = () => second.log.split("closed the leases of nodes that are gone").length;
  const before = closings();
  first.signal("SIGSTOP");
  // The other one closes it when its time is over.
  while (closings() === before) await Bun.sleep(100);
  const { served } = await raceForMoney([second], key, 5);
  expect(served).toBe(5);
  first.signal("SIGCONT");
  const late = await callOnce(first, key);
  expect(late.status === 503 || late.status === 0).toBe(true);
  expect(await first.exited).not.toBe(0);
  await first.start();
  expect((await callOnce(first, key)).status).toBe(200);
  await expectClean();
});

test("while the database is away calls get a 503 with Retry-After, and none is charged", async () => {
  const { key } = await cluster.openAccount("away", "1");
  const load = new Load(cluster, key, 4);
  await untilServed(first, key);
  await cluster.restartDatabase();
  for (const gateway of cluster.gateways) await untilServed(gateway, key);
  await load.end();
  for (const name of load.refused.keys()) expect(name).toStartWith("503 ");
  await expectClean(load.served);
});

test("two requests with one Idempotency-Key on two gateways are one call", async () => {
  const { key, id } = await cluster.openAccount("once", "1");
  for (let round = 0; round < 5; round++) {
    const headers = { "idempotency-key": `round-${round}` };
    const replies = await Promise.all(
      [first, second, first, second].map((gateway) => callOnce(gateway, key, headers)),
    );
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    for (const { status } of replies) expect([200, 409]).toContain(status);
  }
  const spent = 1_000_000_000n - usdToNano(await balanceOf(id));
  expect(spent).toBe(5n * callNano);
});

function usdToNano(usd: string): bigint {
  const [whole = "0", part = ""] = usd.split(".");
  return BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, "0"));
}
