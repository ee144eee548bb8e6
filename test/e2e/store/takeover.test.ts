import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { verifyLedger } from "../../../src/ledger/verify/verify.ts";
import { openLedgerReader } from "../../../src/store/sqlite/ledger/reader.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { chatStream, openaiEvents } from "../../fake/openai/chat-stream.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader, parseStream } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

/** A running server whose database another process takes over, or somebody moves away. */
setDefaultTimeout(60_000);

const chat = {
  model: "svc-3-flash",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 50,
};

let gateway: TestGateway;
let lines: string[];
let newcomer: Store | undefined;
let database: string;

beforeEach(async () => {
  lines = [];
  gateway = await startTestGateway({
    creditUsd: "10",
    writeLog: (line) => lines.push(line),
    environment: { SVC_LOG_LEVEL: "warn" },
  });
  gateway.upstream.replyWith(chatJson());
  database = join(gateway.dataDir, "svc.db");
});
afterEach(async () => {
  await newcomer?.close();
  newcomer = undefined;
  await gateway.stop();
});

/** As another process would whose lock does not hold. */
async function takeOver(): Promise<Store> {
  const sqlite = openSqlite(database);
  const { value } = sqlite.raw
    .query<{ value: string }, []>("select value from meta where key = 'secret_fingerprint'")
    .get() ?? { value: "" };
  newcomer = await createStore(sqlite, value);
  return newcomer;
}

async function readLedger() {
  const reader = openLedgerReader(database);
  try {
    const ids: string[] = [];
    for await (const { id } of reader.receipts({})) ids.push(id);
    return { ids, problems: (await verifyLedger(reader)).problems };
  } finally {
    await reader.close();
  }
}

/** A call whose upstream has begun and waits until it is told to go on. */
async function callUnderWay(body: Record<string, unknown>, parts: number) {
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const recording = body["stream"] === true ? chatStream({ events: openaiEvents() }) : chatJson();
  gateway.upstream.replyOnce(pausedAfter({ recording, parts, until }));
  const arrived = gateway.upstream.nextRequest();
  const reply = gateway.call("/chat/completions", body);
  await arrived;
  return { reply, goOn };
}

const count = (text: string) => lines.filter((line) => line.includes(text)).length;
const takenOver = "another process has opened the database";

test("a server whose database was taken over ends what runs with 503, charges nothing and stops", async () => {
  const paid = await gateway.call("/chat/completions", chat);
  const paidId = paid.headers.get("x-request-id") ?? "";
  const stream = await callUnderWay({ ...chat, stream: true }, 3);
  const body = new BodyReader(await stream.reply);
  await body.until("Hello");
  const whole = await callUnderWay(chat, 0);
  const keyed = gateway.call("/chat/completions", chat, { headers: { "idempotency-key": "one" } });
  expect((await keyed).status).toBe(200);
  const paidIds = [paidId, (await keyed).headers.get("x-request-id") ?? ""];
  await takeOver();
  whole.goOn();
  stream.goOn();
  const refused = await whole.reply;
  expect(refused.status).toBe(503);
  const streamed = parseStream(await body.rest());
  expect(streamed.error).toBeDefined();
  expect(streamed.isDone).toBe(false);
  await gateway.server.takenOver;
  expect((await readLedger()).ids.toSorted()).toEqual(paidIds.toSorted());
  await expect(fetch(`${gateway.origin}/healthz`)).rejects.toThrow();
  expect(count(takenOver)).toBe(1);
});

test("a call that comes after the take-over gets 503 store_unavailable and costs nothing", async () => {
  await takeOver();
  const reply = await gateway.call("/chat/completions", chat).catch(() => undefined);
  // Unless the server has noticed before, and listens no more.
  if (reply !== undefined) {
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ error: { code: "store_unavailable" } });
  }
  await gateway.server.takenOver;
  expect((await readLedger()).ids).toEqual([]);
});

test("under load not one receipt of the old process comes after the take-over", async () => {
  const served: string[] = [];
  const load = Array.from({ length: 20 }, async () => {
    for (;;) {
      const reply = await gateway.call("/chat/completions", chat).catch(() => undefined);
      if (reply?.status !== 200) return;
      served.push(reply.headers.get("x-request-id") ?? "");
    }
  });
  await waitUntil("some calls", () => served.length > 50);
  const store = await takeOver();
  const { ids: atTakeOver } = await readLedger();
  const balance = await store.ledger.lease(gateway.account);
  await gateway.server.takenOver;
  await Promise.all(load);
  const { ids } = await readLedger();
  expect(ids).toEqual(atTakeOver);
  // What was delivered is what was paid for.
  expect(served.filter((id) => !ids.includes(id))).toEqual([]);
  expect(await store.ledger.lease(gateway.account)).toEqual(balance);
});

test("an operation of the old server changes nothing after the take-over", async () => {
  const store = await takeOver();
  const { operations } = gateway.server;
  const { account } = gateway;
  const credit = { account, kind: "credit", usd: "5", reference: "late" } as const;
  const attempts = await Promise.allSettled([
    operations.entries.add(credit),
    operations.accounts.create({ name: "late" }),
    operations.keys.create({ account }),
    operations.accounts.suspend({ account }),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => "rejected"));
  expect((await store.ledger.entries(account)).map(({ reference }) => reference)).toEqual(["test"]);
  expect((await store.accounts.list()).map(({ name }) => name)).toEqual(["test"]);
  await gateway.server.takenOver;
});

test("a server without calls notices the take-over by itself and stops", async () => {
  await takeOver();
  await gateway.server.takenOver;
  expect(count(takenOver)).toBe(1);
});

test("while its database is away the server is not ready and lets no call in; once back it goes on", async () => {
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  renameSync(database, `${database}.away`);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503);
  const asked = gateway.upstream.requests.length;
  await waitUntil(
    "the journal",
    () => count("ledger is not writable: rejecting calls until it is") > 0,
  );
  const refused = await gateway.call("/chat/completions", chat);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { code: "store_unavailable" } });
  expect(gateway.upstream.requests.length).toBe(asked);
  expect(count("was moved or replaced")).toBeGreaterThan(0);
  renameSync(`${database}.away`, database);
  await waitUntil("a served call", async () => {
    const reply = await gateway.call("/chat/completions", chat);
    return reply.status === 200;
  });
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  const { ids, problems } = await readLedger();
  expect({ count: ids.length, problems }).toEqual({ count: 2, problems: [] });
});

test("another file in place of the database is noticed as well, and nothing is written to either", async () => {
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  renameSync(database, `${database}.away`);
  copyFileSync(`${database}.away`, database);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503);
  const { operations } = gateway.server;
  await expect(operations.accounts.create({ name: "late" })).rejects.toThrow("moved or replaced");
  rmSync(database);
  renameSync(`${database}.away`, database);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
});
