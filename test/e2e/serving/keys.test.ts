/** Several keys of one provider: each has its share, and rests alone. */

import { beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers, operatorErrors, rateLimits } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { openPayer, waitUntil } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const price = `price: { input: "0.30", output: "2.50" }`;
const manifest = `
providers:
  pool:
    kind: openai
    base_url: UPSTREAM
    allow_private: true
    api_keys:
      - { name: main, key: "\${MAIN_KEY}", weight: 3 }
      - { name: spare, key: "\${SPARE_KEY}" }
      - { name: unset, key: "\${UNSET_KEY}" }
models:
  chat: { endpoint: chat, ${price}, routes: [{ provider: pool, model: m1 }] }
`;

const gateway = useTestGateway({
  manifest,
  environment: {
    SVC_BREAKERS: "on",
    SVC_RETRIES: "2",
    MAIN_KEY: "sk-main-secret",
    SPARE_KEY: "sk-spare-secret",
  },
});
beforeEach(async () => {
  await providers().reset({ name: "pool" });
});

const providers = () => gateway.server.operations.providers;
const keyOf = ({ headers }: RecordedRequest) =>
  /^Bearer sk-(\w+)-secret$/.exec(String(headers["authorization"]))?.[1] ?? "none";
const isProbe = ({ body }: RecordedRequest) => body.toString().includes("Answer with the word OK.");
const asked = () => gateway.upstream.requests.filter((one) => !isProbe(one)).map(keyOf);
const ask = () =>
  gateway.call("/chat/completions", {
    model: "chat",
    messages: [{ role: "user", content: "Say hello" }],
  });
const pool = async () => {
  const found = (await providers().list({})).find(({ name }) => name === "pool");
  if (found === undefined) throw new Error("there is no pool");
  return found;
};
const stateOf = async (key: string) => (await pool()).targets?.find((target) => target.key === key);
/** What each key gets from the vendor. */
const replyBy = (replies: Readonly<Record<string, ReturnType<typeof chatAnswers.plain>>>) =>
  gateway.upstream.replyWith((request) => replies[keyOf(request)] ?? chatAnswers.plain());

test("calls are spread over the keys that are set", async () => {
  replyBy({});
  for (let call = 0; call < 60; call++) expect((await ask()).status).toBe(200);
  const counts = Object.groupBy(asked(), (key) => key);
  expect(Object.keys(counts).toSorted()).toEqual(["main", "spare"]);
  expect(counts["main"]?.length ?? 0).toBeGreaterThan(counts["spare"]?.length ?? 0);
  const { keys } = await pool();
  expect(keys.map(({ name, weight, status }) => [name, weight, status])).toEqual([
    ["main", 3, "serving"],
    ["spare", 1, "serving"],
    ["unset", 1, "failing"],
  ]);
});

describe("a key that is", () => {
  for (const [name, reply] of [
    ["rejected (401)", operatorErrors.badKey],
    ["out of credit (402)", operatorErrors.outOfMoney],
  ] as const)
    test(`${name} is taken out alone, and every call is served`, async () => {
      replyBy({ main: reply() });
      for (let call = 0; call < 12; call++) expect((await ask()).status).toBe(200);
      await waitUntil("main is out", async () => (await stateOf("main"))?.state === "open");
      expect(await stateOf("spare")).toMatchObject({ state: "closed" });
      gateway.upstream.reset();
      replyBy({ main: reply() });
      for (let call = 0; call < 8; call++) expect((await ask()).status).toBe(200);
      expect(new Set(asked())).toEqual(new Set(["spare"]));
      expect((await stateOf("main"))?.status).toBe("failing");
      expect((await pool()).status).toBe("failing");
    });
});

test("the receipt names the key of each attempt, for the operator alone", async () => {
  replyBy({ main: rateLimits.seconds(1) });
  const payer = await openPayer(gateway);
  for (let call = 0; call < 8; call++) await payer.chat({ model: "chat" });
  const receipts = await payer.settled(8);
  const served = receipts.find(({ attempts }) => attempts.includes("upstream_rate_limited"));
  const keys = served?.attemptList.map(({ key }) => key);
  expect(keys).toEqual(["main", "spare"]);
});

test("metrics tell the keys of a provider apart", async () => {
  replyBy({});
  await ask();
  const text = await (await fetch(`${gateway.platformUrl}/metrics`)).text();
  expect(text).toContain('svc_breaker_state{provider="pool",model="m1",key="main"}');
});

test("a test calls each key, and says which one fails", async () => {
  replyBy({ spare: operatorErrors.badKey() });
  const made = await providers().test({ name: "pool" });
  const bad = made.filter(({ ok }) => !ok).map(({ key }) => key);
  expect(new Set(bad)).toEqual(new Set(["spare", "unset"]));
  expect((await stateOf("spare"))?.status).toBe("failing");
  // A call that works is the newer word.
  replyBy({});
  while (!asked().slice(-20).includes("spare")) await ask();
  await waitUntil("known to work", async () => (await stateOf("spare"))?.status === "serving");
});

describe("the operator", () => {
  test("pauses a key of a file: it stays paused when the file is applied again", async () => {
    await providers().updateKey({ provider: "pool", key: "main", paused: true });
    replyBy({});
    for (let call = 0; call < 10; call++) await ask();
    expect(new Set(asked())).toEqual(new Set(["spare"]));
    const { keys } = await pool();
    expect(keys[0]).toMatchObject({ name: "main", paused: true, status: "paused" });
    const text = manifest.replaceAll("UPSTREAM", gateway.upstream.baseUrl);
    await gateway.server.operations.manifest.apply({ text, dryRun: false, file: "svc.yaml" });
    expect((await pool()).keys[0]).toMatchObject({ paused: true });
    await providers().updateKey({ provider: "pool", key: "main", paused: false });
    expect((await pool()).keys[0]).toMatchObject({ paused: false });
  });

  test("cannot change, add or remove keys that a file states", async () => {
    const { addKey, updateKey, removeKey } = providers();
    const own = { provider: "pool", key: "main" };
    for (const change of [
      () => updateKey({ ...own, weight: 2 }),
      () => removeKey(own),
      () => addKey({ provider: "pool", name: "more", api_key: "sk-more", skip_test: true }),
    ])
      await expect(change()).rejects.toMatchObject({ code: "conflict", field: "api_keys" });
  });

  test("pauses a provider: its routes stay, and calls find it unavailable", async () => {
    replyBy({});
    await providers().update({ name: "pool", paused: true });
    expect((await ask()).status).toBe(502);
    expect(gateway.upstream.requests).toEqual([]);
    expect(await pool()).toMatchObject({ paused: true, status: "paused" });
    await providers().update({ name: "pool", paused: false });
    expect((await ask()).status).toBe(200);
  });
});

test("the last 24 hours count attempts that failed over to another provider", async () => {
  const cost = `cost: { input: "0.10", output: "1.00" }`;
  const fresh = await startTestGateway({
    manifest: `
providers:
  bad: { kind: openai, base_url: UPSTREAM, api_key: sk-bad-secret, allow_private: true }
  good: { kind: openai, base_url: UPSTREAM, api_key: sk-good-secret, allow_private: true }
models:
  chat: { endpoint: chat, ${price}, routes: [{ provider: bad, model: m }, { provider: good, model: m, priority: 2, ${cost} }] }
`,
  });
  try {
    fresh.upstream.replyWith((request) =>
      keyOf(request) === "bad" ? operatorErrors.badKey() : chatAnswers.plain(),
    );
    const body = { model: "chat", messages: [{ role: "user", content: "Say hello" }] };
    for (let call = 0; call < 3; call++)
      expect((await fresh.call("/chat/completions", body)).status).toBe(200);
    const list = await fresh.server.operations.providers.list({});
    const dayOf = (name: string) => list.find((one) => one.name === name)?.last_24h;
    expect(dayOf("bad")).toMatchObject({ calls: 3, errors: 3, cost_usd: null });
    expect(dayOf("good")).toMatchObject({ calls: 3, errors: 0, cost_known_calls: 3 });
    expect(Number(dayOf("good")?.cost_usd)).toBeGreaterThan(0);
    expect(dayOf("good")?.latency_p95_ms).toBeGreaterThanOrEqual(0);
  } finally {
    await fresh.stop();
  }
});
