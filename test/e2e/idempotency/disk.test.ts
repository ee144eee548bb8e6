/** Idempotency-Keys on a disk that fails, and what a clean stop leaves on one that does not. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { idTimeMs } from "../../../src/base/ids.ts";
import type { Receipt } from "../../../src/ledger/receipt.ts";
import { toHour } from "../../../src/ledger/rollups.ts";
import { verifyLedger } from "../../../src/ledger/verify/verify.ts";
import { openLedgerReader } from "../../../src/store/sqlite/ledger/reader.ts";
import { chatJson, embeddingsReply } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { fromUsd, hello, waitUntil } from "../../setup/money-home.ts";

async function readLedger({ dataDir }: TestGateway) {
  const reader = openLedgerReader(join(dataDir, "svc.db"));
  try {
    const receipts: Receipt[] = [];
    for await (const receipt of reader.receipts({ oldestFirst: true })) receipts.push(receipt);
    const { problems } = await verifyLedger(reader);
    return { receipts, problems, rollups: await reader.rollups() };
  } finally {
    await reader.close();
  }
}

describe("a call with an Idempotency-Key whose receipt the disk refused", () => {
  let disk: FaultyStore;
  let gateway: TestGateway;
  let lines: string[];

  beforeEach(async () => {
    disk = new FaultyStore();
    lines = [];
    gateway = await startTestGateway({
      open: disk.open,
      creditUsd: "10",
      writeLog: (line) => lines.push(line),
      environment: { SVC_LOG_LEVEL: "info" },
    });
  });
  afterEach(async () => {
    disk.setReadOnly(false);
    await gateway.stop();
  });

  const hasLogged = (text: string) => lines.some((line) => line.includes(text));

  test("is a 503, and once the disk is back the same key and body are served and kept", async () => {
    const send = () =>
      gateway.call("/chat/completions", hello, { headers: { "idempotency-key": "again" } });
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    gateway.upstream.replyOnce(pausedAfter({ recording: chatJson(), parts: 0, until }));
    gateway.upstream.replyWith(chatJson());
    const arrived = gateway.upstream.nextRequest();
    const first = send();
    await arrived;
    // The claim is written by now; nothing after it can be.
    disk.setReadOnly(true);
    goOn();
    const refused = await first;
    expect(refused.headers.get("retry-after")).toBe("1");
    await expectRefusal(refused, { status: 503, code: "store_unavailable" });
    await expectRefusal(send(), { status: 503, code: "store_unavailable" });
    expect(gateway.upstream.requests.length).toBe(1);
    disk.setReadOnly(false);
    await waitUntil("the disk to be back", () => hasLogged("ledger is writable again"));
    const served = await send();
    const text = await served.text();
    expect({ status: served.status, text }).toEqual({ status: 200, text });
    expect(gateway.upstream.requests.length).toBe(2);
    const id = served.headers.get("x-request-id") ?? "";
    const kept = await send();
    expect({ status: kept.status, text: await kept.text() }).toEqual({ status: 200, text });
    expect(gateway.upstream.requests.length).toBe(2);
    const { receipts, problems } = await readLedger(gateway);
    expect(receipts.map((receipt) => receipt.id)).toEqual([id]);
    expect(problems).toEqual([]);
    const { account } = gateway;
    const { held_usd, balance_usd } = await gateway.server.operations.accounts.show({ account });
    const charged = receipts[0]?.charged ?? 0n;
    expect([fromUsd(held_usd), fromUsd(balance_usd)]).toEqual([0n, 10_000_000_000n - charged]);
  });
});

test("a clean stop leaves every sum written and no hour open", async () => {
  const gateway = await startTestGateway({ creditUsd: "10" });
  try {
    const calls = 5;
    gateway.upstream.replyWith(chatJson());
    for (let at = 0; at < calls; at++)
      expect((await gateway.call("/chat/completions", hello)).status).toBe(200);
    gateway.upstream.replyWith(embeddingsReply());
    const body = { model: "svc-embedding-2", input: ["a", "b", "c"] };
    expect((await gateway.call("/embeddings", body)).status).toBe(200);
    // Hours are open while it runs, and not all is summed up: else the stop had nothing to do.
    const before = await readLedger(gateway);
    expect(before.rollups.openFromMs).toBeNumber();
    expect(before.rollups.list).toEqual([]);
    await gateway.server.stop();
    expect(markIn(gateway)).toBe("");
    const { receipts, problems, rollups } = await readLedger(gateway);
    expect(problems).toEqual([]);
    expect(receipts.length).toBe(calls + 1);
    expect(rollups.openFromMs).toBeUndefined();
    expect(rollups.list.reduce((sum, row) => sum + row.receipts, 0)).toBe(calls + 1);
    expect(rollups.list.reduce((sum, row) => sum + row.charged, 0n)).toBe(
      receipts.reduce((sum, { charged }) => sum + charged, 0n),
    );
    const hours = new Set(receipts.map(({ id }) => toHour(idTimeMs(id))));
    expect(new Set(rollups.list.map(({ hourMs }) => hourMs))).toEqual(hours);
  } finally {
    await gateway.upstream.stop();
    rmSync(gateway.dataDir, { recursive: true, force: true });
  }
});

function markIn({ dataDir }: TestGateway): unknown {
  const database = new Database(join(dataDir, "svc.db"), { readonly: true });
  try {
    const query = database.query<{ value: string }, []>(
      "select value from meta where key = 'rollups_open_from_ms'",
    );
    return query.get()?.value;
  } finally {
    database.close();
  }
}
