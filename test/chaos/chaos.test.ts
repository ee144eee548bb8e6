/** Vendors that reset, crawl, turn away and die, under load: what callers see of it, and what it costs. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { flash, openPayer, type PaidReceipt, type Payer } from "../setup/money-home.ts";
import { type LoadResult, runLoad } from "./load.ts";
import { diceOf, limitOf, type Plan, promptTokens, Vendor, wordOf } from "./vendor.ts";

setDefaultTimeout(240_000);

const megabyte = 1024 * 1024;
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);
const started: Vendor[] = [];

beforeEach(() => {
  rejections.length = 0;
  process.on("unhandledRejection", onRejection);
});
afterEach(() => {
  process.off("unhandledRejection", onRejection);
  for (const vendor of started.splice(0)) vendor.die();
});

interface Chaos {
  readonly gateway: TestGateway;
  readonly payer: Payer;
  run(perSecond: number, seconds: number): Promise<LoadResult>;
  stateOf(vendor: Vendor): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** A model with these targets, all alike, and an account that pays for it. */
async function startChaos(
  vendors: readonly Vendor[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Chaos> {
  for (const vendor of vendors) await vendor.listen();
  started.push(...vendors);
  const providers = vendors.map(
    ({ name, baseUrl }) =>
      `  ${name}: { kind: openai, base_url: "${baseUrl}", api_key: "\${FAKE_KEY}", allow_private: true }`,
  );
  const routes = vendors.map(({ name }) => `{ provider: ${name}, model: m }`).join(", ");
  const gateway = await startTestGateway({
    manifest: `
providers:
${providers.join("\n")}
models:
  chat: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [${routes}] }
`,
    environment: { SVC_RETRIES: "2", SVC_BREAKERS: "on", ...environment },
  });
  const payer = await openPayer(gateway);
  const { baseUrl } = gateway;
  return {
    gateway,
    payer,
    run: (perSecond, seconds) =>
      runLoad({ baseUrl, key: payer.key, model: "chat", perSecond, seconds }),
    async stateOf({ name }) {
      const list = await gateway.server.operations.providers.list({});
      return list.find((one) => one.name === name)?.targets?.[0]?.state;
    },
    stop: () => gateway.stop(),
  };
}

/** The providers of a receipt's attempts, in order. */
const attemptsOf = ({ attemptList }: PaidReceipt) => attemptList.map(({ provider }) => provider);

const costOf = ({ completionTokens }: Vendor) =>
  BigInt(promptTokens) * flash.input + BigInt(completionTokens) * flash.output;

/** How often each vendor was asked again for a call that it had failed, as the receipts tell. */
function repeatsOf(receipts: readonly PaidReceipt[], { name }: Vendor): number {
  return receipts.reduce((sum, receipt) => {
    const asked = attemptsOf(receipt).filter((provider) => provider === name).length;
    return sum + Math.max(0, asked - 1);
  }, 0);
}

/**
 * One receipt a call, for what the vendor that served it said; nobody was asked oftener than the
 * receipts tell; and no vendor again for more than its share.
 */
function judgeReceipts(options: {
  readonly receipts: readonly PaidReceipt[];
  readonly vendors: readonly Vendor[];
  readonly seconds: number;
  /** Whether they listened all the time, so that each attempt was seen by somebody. */
  readonly isUp: boolean;
}): void {
  const { receipts, vendors, seconds, isUp } = options;
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(receipts.length);
  for (const vendor of vendors) {
    const own = receipts.filter(
      ({ provider, outcome }) => provider === vendor.name && outcome === "ok",
    );
    const wrong = own.filter(
      ({ charged, cost, estimated }) =>
        estimated || charged !== costOf(vendor) || cost !== costOf(vendor),
    );
    expect(wrong).toEqual([]);
    // A breaker in doubt asks with a small call of its own, which has no word and no receipt: after
    // a pause, or when it tries a target again.
    const probes = vendor.arrivals.get("") ?? 0;
    expect(probes).toBeLessThanOrEqual(1 + Math.ceil(seconds / 10));
    expect(vendor.answered - own.length).toBeWithin(0, probes + 1);
    const asked = receipts.flatMap(attemptsOf).filter((provider) => provider === vendor.name);
    const seen = vendor.received + vendor.deafResets - probes;
    // A probe may meet a reset, too, which nobody can tell from that of a call.
    if (isUp) expect(seen - asked.length).toBeWithin(0, 3);
    else expect(seen).toBeLessThanOrEqual(asked.length);
    // A fifth of what it was asked, and the few that a quiet target is allowed in each ten seconds.
    const budget = asked.length / 5 + 3 * Math.ceil(seconds / 10 + 1);
    expect(repeatsOf(receipts, vendor)).toBeLessThanOrEqual(budget);
  }
}

test("three targets, one resetting, one slow, one limited, 200 requests a second for a minute: nobody notices", async () => {
  const [perSecond, seconds] = [200, 60];
  const dice = diceOf(20_261_115);
  const resets: readonly Plan[] = [
    { resetAfterBytes: () => 0 },
    { afterMs: 30, resetAfterBytes: () => 0 },
    { resetAfterBytes: ({ head }) => Math.floor(head.length / 2) },
    { resetAfterBytes: ({ head }) => head.length },
    { afterMs: 5, resetAfterBytes: ({ head }) => head.length + 7 },
  ];
  // So often that it hurts, and not so often that it would soon be left out for good.
  const resetting = new Vendor({
    name: "resetting",
    completionTokens: 11,
    planFor: () => (dice() < 0.2 ? (resets[Math.floor(dice() * resets.length)] ?? {}) : {}),
    resetsConnection: () => dice() < 0.1,
  });
  const slow = new Vendor({
    name: "slow",
    completionTokens: 7,
    planFor: () => ({ afterMs: 400 + 500 * dice() }),
  });
  const limited = new Vendor({ name: "limited", completionTokens: 9, planFor: limitOf(40) });
  const vendors = [resetting, slow, limited];
  const chaos = await startChaos(vendors);
  try {
    const beforeBytes = process.memoryUsage.rss();
    const load = await chaos.run(perSecond, seconds);
    const total = perSecond * seconds;
    expect(load).toMatchObject({ sent: total, served: total, failed: 0, problems: [] });
    const receipts = await chaos.payer.settled(total);
    expect(receipts.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
    judgeReceipts({ receipts, vendors, seconds, isUp: true });
    const words = new Set(vendors.flatMap(({ arrivals }) => [...arrivals.keys()]));
    // A probe has no word.
    const missing = Array.from({ length: total }, (_, at) => wordOf(at)).filter(
      (word) => !words.has(word),
    );
    expect(missing).toEqual([]);
    // It was all there, or this has shown nothing.
    expect(resetting.resets - resetting.deafResets).toBeGreaterThan(50);
    expect(resetting.deafResets).toBeGreaterThan(0);
    for (const vendor of vendors) expect(vendor.answered).toBeGreaterThan(50);
    // Left alone when it says so: its share of the calls beyond its limit would be 1,600.
    expect(limited.limited).toBeGreaterThan(10);
    expect(limited.limited).toBeLessThan(total / 10);
    expect(process.memoryUsage.rss() - beforeBytes).toBeLessThan(400 * megabyte);
    expect(rejections).toEqual([]);
  } finally {
    await chaos.stop();
  }
});

test("a healthy target that dies in the middle and comes back: nobody notices, and it serves again", async () => {
  const [perSecond, seconds] = [200, 12];
  const dying = new Vendor({
    name: "dying",
    completionTokens: 11,
    planFor: () => ({ afterMs: 5 }),
  });
  const other = new Vendor({ name: "other", completionTokens: 7, planFor: () => ({ afterMs: 5 }) });
  const vendors = [dying, other];
  const chaos = await startChaos(vendors);
  try {
    const running = chaos.run(perSecond, seconds);
    while (dying.answered < perSecond) await Bun.sleep(10);
    dying.die();
    while ((await chaos.stateOf(dying)) !== "open") await Bun.sleep(10);
    await Bun.sleep(2_000);
    const before = dying.answered;
    await dying.listen();
    const load = await running;
    const total = perSecond * seconds;
    expect(load).toMatchObject({ sent: total, served: total, failed: 0, problems: [] });
    const receipts = await chaos.payer.settled(total);
    judgeReceipts({ receipts, vendors, seconds, isUp: false });
    expect(dying.answered).toBeGreaterThan(before + perSecond / 2);
    expect(await chaos.stateOf(dying)).toBe("closed");
    expect(rejections).toEqual([]);
  } finally {
    await chaos.stop();
  }
});

test("a vendor that is dying is not stormed: with nobody else to ask, and no breaker, repeats stay within their budget", async () => {
  const [perSecond, seconds] = [200, 5];
  const dead = new Vendor({
    name: "dead",
    completionTokens: 7,
    planFor: () => ({ resetAfterBytes: () => 0 }),
  });
  const chaos = await startChaos([dead], { SVC_BREAKERS: "off" });
  try {
    const load = await chaos.run(perSecond, seconds);
    const total = perSecond * seconds;
    expect(load).toMatchObject({ sent: total, served: 0, statuses: { 502: total } });
    const receipts = await chaos.payer.settled(total);
    expect(receipts.filter(({ charged, cost }) => charged !== 0n || cost !== 0n)).toEqual([]);
    judgeReceipts({ receipts, vendors: [dead], seconds, isUp: true });
    // There were repeats, so the budget was what kept them few.
    expect(repeatsOf(receipts, dead)).toBeGreaterThan(total / 20);
    expect(rejections).toEqual([]);
  } finally {
    await chaos.stop();
  }
});
