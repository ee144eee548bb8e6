/**
 * Anybody can recompute a ledger from its database file: docs/recompute.py does. It needs `python3`,
 * so `npm run test:faults` runs this, and `npm test` does not.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toUsd } from "../../src/base/money.ts";
import { dayMs } from "../../src/ledger/rollups.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { usageOf } from "../fake/openai/chat-json.ts";
import { chatJson, embeddingsReply, httpReply, speechReplies } from "../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { openPayer, type Payer } from "../setup/money-home.ts";

const script = join(import.meta.dir, "../../docs/recompute.py");
const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: "0.30", cached_input: "0.03", cache_write: "0.40", output: "2.50" }, routes: [{ provider: fake, model: a, cost: { input: "0.10", output: 1 } }] }
  embedding: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: fake, model: b }] }
  tts: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: c, voices: same }] }
`;

let gateway: TestGateway;
const folder = mkdtempSync(join(tmpdir(), "svc-recompute-"));
const databasePath = () => join(gateway.dataDir, "svc.db");

beforeAll(async () => {
  gateway = await startTestGateway({ manifest, isInStore: true });
  await fillLedger(await openPayer(gateway));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

/** Calls of every endpoint, before and after changes of limits, price and costs. */
async function fillLedger(payer: Payer): Promise<void> {
  const { operations } = gateway.server;
  const { upstream } = gateway;
  const usage = usageOf({ prompt: 31, completion: 7, cached: 11 });
  const chat = async () => {
    upstream.replyOnce(chatJson({ usage }));
    expect((await payer.chat({ max_tokens: 50 })).status).toBe(200);
  };
  await chat();
  const gate = Promise.withResolvers<void>();
  const arrived = upstream.nextRequest();
  upstream.replyOnce([{ until: gate.promise }, { send: chatJson({ usage }).bytes }]);
  const running = payer.chat({ max_tokens: 50 });
  await arrived;
  await operations.accounts.setLimits({ account: payer.id, budget: "0.01/day", rpm: "100" });
  await operations.keys.setLimits({ id: payer.keyId, budget: "1" });
  gate.resolve();
  expect((await running).status).toBe(200);
  await chat();
  await operations.prices.set({ model: "svc-3-flash", price: { input: "0.01", output: "1" } });
  const text = manifest.replace('input: "0.10", output: 1', 'input: "0.11", output: 2');
  await operations.manifest.apply({
    text: text.replaceAll("UPSTREAM", upstream.baseUrl),
    dryRun: false,
  });
  await chat();
  upstream.replyOnce(embeddingsReply({ vectors: [[0.5]] }));
  await payer.call("/embeddings", { model: "embedding", input: "a river" });
  upstream.replyOnce(speechReplies.pcmChunked());
  const speech = await payer.call("/audio/speech", { model: "tts", input: "Hi", voice: "Kore" });
  await speech.arrayBuffer();
  upstream.replyOnce(httpReply({ status: 500, body: ["{}"], framing: "length" }));
  await payer.chat({ max_tokens: 50 });
  await payer.settled(7);
}

function copyDatabase(): string {
  const copy = join(folder, `${Bun.randomUUIDv7()}.db`);
  const source = new Database(databasePath(), { readonly: true });
  source.run("vacuum into ?", [copy]);
  source.close();
  return copy;
}

interface Recomputed {
  readonly code: number;
  readonly text: string;
}

async function recompute(path: string): Promise<Recomputed> {
  const child = Bun.spawn(["python3", script, path], { stderr: "pipe" });
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(errors).toBe("");
  return { code: await child.exited, text };
}

describe("the script", () => {
  test("finds the ledger of a running gateway right, and says what it has checked", async () => {
    const { code, text } = await recompute(databasePath());
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringMatching(/\nok\n$/) });
    expect(text).toContain("7 × cost, 7 × hold, 7 × provider, 7 × vendor cost, 7 × charged");
    expect(text).toMatch(/\d+ × budget, \d+ × budget row/);
  });

  test("takes days whose receipts are no longer kept from their sums", async () => {
    const copy = copyDatabase();
    const sqlite = openSqlite(copy);
    const [secret] = sqlite.raw
      .query<{ value: string }, []>("select value from meta where key = 'secret_fingerprint'")
      .all();
    const store = await createStore(sqlite, secret?.value ?? "");
    await store.ledger.rollups.recount(0);
    const nowMs = Date.now() + 2 * dayMs;
    while (await store.ledger.rollups.fold(nowMs));
    await store.retention.advance({ nowMs, days: 1 });
    while (await store.retention.erase({ withAll: true }));
    await store.close();
    const { code, text } = await recompute(copy);
    expect(text).toContain(
      "7 receipts are no longer kept: taken from the sums of their days\nok\n",
    );
    expect(text).not.toContain("× cost");
    expect(code).toBe(0);
  });

  for (const [what, statement] of [
    ["cost of req_", "update receipts set output = output + 1 where output > 0"],
    ["hold of req_", "update receipts set hold_output = hold_output + 1"],
    ["charged of req_", "update receipts set charged = hold + 1, cost = hold + 2"],
    ["vendor cost of req_", "update receipts set vendor_cost = vendor_cost + 1"],
    ["provider of req_", "update receipts set cost_route = 1 where cost_route = 0"],
    ["limits version of req_", "update receipts set key_limits_version = 9"],
    ["price of req_", "update receipts set price_version = 9"],
    ["granted of acct_", "update entries set nano = nano - 1"],
    ["balance of acct_", "delete from entries"],
    ["budget row of key_", "update budget_spends set spent = spent - 1"],
    ["budget of acct_", `update limit_versions set limits = '{"budget":"${toUsd(1n)}/day"}'`],
  ] as const)
    test(`finds another ${what.replace(/ of .*/, "")} in a copy that was changed`, async () => {
      const copy = copyDatabase();
      const db = new Database(copy);
      db.run("PRAGMA ignore_check_constraints = ON");
      db.run(statement);
      db.close();
      const { code, text } = await recompute(copy);
      expect({ code, isFound: text.includes(what) }).toEqual({ code: 1, isFound: true });
      expect(text).toMatch(/\n\d+ differences\n$/);
    });
});
