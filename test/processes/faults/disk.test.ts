import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { toUsd } from "../../../src/base/money.ts";
import type { Receipt } from "../../../src/ledger/receipt.ts";
import { type LedgerFindings, verifyLedger } from "../../../src/ledger/verify/verify.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { chatStream, openaiEvents } from "../../fake/openai/chat-stream.ts";
import { pausedAfter } from "../../fake/script.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { receiptsIn, withReader } from "../../faults/money.ts";
import { BodyReader, parseStream } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const creditNano = 10_000_000_000n;
const chat = {
  model: "svc-3-flash",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 50,
};
const failing = "ledger is not writable: rejecting calls until it is";
const working = "ledger is writable again";

let disk: FaultyStore;
let gateway: TestGateway;
let log: Log;

class Log {
  readonly lines: string[] = [];
  #waiting: { readonly text: string; readonly resolve: () => void }[] = [];

  readonly write = (line: string): void => {
    this.lines.push(line);
    for (const { text, resolve } of this.#waiting) if (line.includes(text)) resolve();
  };

  /** The next line with this text. */
  next(text: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ text, resolve }));
  }

  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }
}

beforeEach(async () => {
  disk = new FaultyStore();
  log = new Log();
  gateway = await startTestGateway({
    open: disk.open,
    creditUsd: "10",
    writeLog: log.write,
    environment: { SVC_LOG_LEVEL: "info" },
  });
  gateway.upstream.replyWith(chatJson());
});
afterEach(() => gateway.stop());

const readLedger = (): Promise<{ receipts: readonly Receipt[]; findings: LedgerFindings }> =>
  withReader(join(gateway.dataDir, "svc.db"), async (reader) => ({
    receipts: await receiptsIn(reader),
    findings: await verifyLedger(reader),
  }));

/** Every sum is right, and what the gateway believes is what is written. */
async function expectExactMoney(): Promise<readonly Receipt[]> {
  const { receipts, findings } = await readLedger();
  expect(findings.problems).toEqual([]);
  const account = await gateway.server.operations.accounts.show({ account: gateway.account });
  expect({ held: account.held_usd, balance: account.balance_usd }).toEqual({
    held: toUsd(0n),
    balance: toUsd(creditNano - findings.charged),
  });
  return receipts;
}

/** A call whose upstream has begun and waits until it is told to go on. */
async function callUnderWay(body: Record<string, unknown>, parts: number) {
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const isStream = body["stream"] === true;
  const recording = isStream ? chatStream({ events: openaiEvents() }) : chatJson();
  gateway.upstream.replyOnce(pausedAfter({ recording, parts, until }));
  const arrived = gateway.upstream.nextRequest();
  const reply = gateway.call("/chat/completions", body);
  await arrived;
  return { reply, goOn };
}

test("on a read-only disk a whole reply is a 503 that costs nothing, and nobody else waits for it", async () => {
  const underWay = await callUnderWay(chat, 0);
  disk.setReadOnly(true);
  const order: string[] = [];
  const reply = underWay.reply.then((response) => {
    order.push("reply");
    return response;
  });
  const failed = log.next(failing);
  underWay.goOn();
  await failed;
  await new Promise<void>((resolve) => setTimeout(resolve, 0)).then(() => order.push("timer"));
  await fetch(`${gateway.origin}/healthz`).then(({ status }) => order.push(`healthz ${status}`));
  const headers = { authorization: `Bearer ${gateway.key}` };
  await fetch(`${gateway.baseUrl}/models`, { headers }).then(({ status }) =>
    order.push(`models ${status}`),
  );
  const response = await reply;
  expect(order).toEqual(["timer", "healthz 200", "models 200", "reply"]);
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.json()).toMatchObject({ error: { code: "store_unavailable" } });
  const worksAgain = log.next(working);
  disk.setReadOnly(false);
  await worksAgain;
  expect(await expectExactMoney()).toEqual([]);
});

test("on a read-only disk a stream ends with an error in place of [DONE]; what it delivered is charged once the disk is back", async () => {
  const underWay = await callUnderWay({ ...chat, stream: true }, 3);
  const response = await underWay.reply;
  const body = new BodyReader(response);
  await body.until("Hello");
  disk.setReadOnly(true);
  underWay.goOn();
  const stream = parseStream(await body.rest());
  expect(stream.error?.code).toBe("store_unavailable");
  expect(stream.isDone).toBe(false);
  expect((await readLedger()).receipts).toEqual([]);
  const worksAgain = log.next(working);
  disk.setReadOnly(false);
  await worksAgain;
  const receipts = await expectExactMoney();
  expect(receipts.map(({ id }) => id)).toEqual([response.headers.get("x-request-id") ?? ""]);
  expect(receipts[0]?.charged).toBeGreaterThan(0n);
});

test("while the disk fails, calls are refused before they reach an upstream; after it they are served, and the log says both once", async () => {
  const underWay = await callUnderWay(chat, 0);
  disk.setReadOnly(true);
  const failed = log.next(failing);
  underWay.goOn();
  await failed;
  const asked = gateway.upstream.requests.length;
  const bodies = [chat, { ...chat, stream: true }];
  const refused = await Promise.all([
    ...bodies.map((body) => gateway.call("/chat/completions", body)),
    gateway.call("/chat/completions", chat, { headers: { "idempotency-key": "during" } }),
    gateway.call("/embeddings", { model: "svc-embedding-2", input: "Hello" }),
    gateway.call("/audio/speech", { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" }),
  ]);
  for (const response of refused) {
    expect({ status: response.status, retryAfter: response.headers.get("retry-after") }).toEqual({
      status: 503,
      retryAfter: "1",
    });
    expect(await response.json()).toMatchObject({ error: { code: "store_unavailable" } });
  }
  expect(gateway.upstream.requests.length).toBe(asked);
  expect((await underWay.reply).status).toBe(503);
  const worksAgain = log.next(working);
  disk.setReadOnly(false);
  await worksAgain;
  const after = await gateway.call("/chat/completions", chat, {
    headers: { "idempotency-key": "during" },
  });
  expect(after.status).toBe(200);
  expect((await expectExactMoney()).map(({ id }) => id)).toEqual([
    after.headers.get("x-request-id") ?? "",
  ]);
  expect({ failing: log.count(failing), working: log.count(working) }).toEqual({
    failing: 1,
    working: 1,
  });
});

test("on a full disk every reply that came has its receipt, and the one that found no room cost nothing", async () => {
  disk.setFull(true);
  const served: string[] = [];
  let refused: Response | undefined;
  // A page takes some more receipts before there is no room.
  for (let calls = 0; calls < 200 && refused === undefined; calls++) {
    const response = await gateway.call("/chat/completions", chat);
    if (response.status === 200) served.push(response.headers.get("x-request-id") ?? "");
    else refused = response;
  }
  expect(refused?.status).toBe(503);
  expect(await refused?.json()).toMatchObject({ error: { code: "store_unavailable" } });
  disk.setFull(false);
  const worksAgain = log.next(working);
  let after = await gateway.call("/chat/completions", chat);
  if (after.status === 503) {
    await worksAgain;
    after = await gateway.call("/chat/completions", chat);
  }
  served.push(after.headers.get("x-request-id") ?? "");
  const receipts = await expectExactMoney();
  expect(receipts.map(({ id }) => id).toSorted()).toEqual(served.toSorted());
});
