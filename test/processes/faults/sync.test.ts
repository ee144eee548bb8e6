import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { verifyLedger } from "../../../src/ledger/verify/verify.ts";
import type { GateOrder, GateState } from "../../faults/disk/disk-gate.ts";
import {
  type Account,
  judgeMoney,
  openAccount,
  receiptsIn,
  withReader,
} from "../../faults/money.ts";
import { type ServerProcess, startServerProcess } from "../../faults/server-process.ts";
import { manifestFor, Vendor } from "../../faults/vendor.ts";
import { BodyReader } from "../../replies/event-stream.ts";

/**
 * The real process on a disk whose `fdatasync` is held up, let go or made to fail from here: what
 * waits for it and what does not is shown by order, not by time.
 */
const folder = mkdtempSync(join(tmpdir(), "svc-sync-"));
const dataDir = join(folder, "data");
let vendor: Vendor;
let server: ServerProcess;
let account: Account;
let gate: GateState = { syncs: 0, order: "pass" };
let onGate = () => {};

beforeAll(async () => {
  vendor = await Vendor.start();
  vendor.begin(undefined);
  const configPath = join(folder, "svc.yaml");
  writeFileSync(configPath, manifestFor(vendor.baseUrl));
  server = await startServerProcess({
    dataDir,
    configPath,
    preload: resolve(import.meta.dir, "../../faults/disk/disk-gate.ts"),
    onMessage: (message) => {
      gate = message as GateState;
      onGate();
    },
  });
  account = await openAccount(dataDir);
});
afterEach(async () => {
  if (gate.order !== "pass") await tell("pass");
});
afterAll(async () => {
  await server.stop();
  await vendor.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function untilGate(isReached: () => boolean): Promise<void> {
  while (!isReached())
    await new Promise<void>((resolveNext) => {
      onGate = resolveNext;
    });
}

/** Resolves when the process has it. */
function tell(order: GateOrder): Promise<void> {
  server.send(order);
  return untilGate(() => gate.order === order);
}

/** Resolves when the next one begins. */
function nextSync(): Promise<void> {
  const { syncs } = gate;
  return untilGate(() => gate.syncs > syncs);
}

const headers = () => ({
  authorization: `Bearer ${account.key}`,
  "content-type": "application/json",
});

const chat = (more: Record<string, unknown> = {}) =>
  fetch(`${server.origin}/v1/chat/completions`, {
    method: "POST",
    headers: headers(),
    body: JSON.stringify({
      model: "chat",
      max_tokens: 100,
      messages: [{ role: "user", content: "This is call-sync." }],
      ...more,
    }),
  });

const listModels = () => fetch(`${server.origin}/v1/models`, { headers: headers() });

const ledgerPath = join(dataDir, "svc.db");
const judged = () =>
  withReader(ledgerPath, (reader) => judgeMoney({ reader, dataDir, account: account.id }));

/** Goes on asking for other things until the upstream has answered so many calls to the end. */
async function untilAnswered(count: number): Promise<void> {
  for (let tries = 0; tries < 5_000 && vendor.calls.size < count; tries++)
    expect((await listModels()).status).toBe(200);
  expect(vendor.calls.size).toBe(count);
  await Promise.all([...vendor.calls.values()].map(({ request }) => request.closed));
  for (let tries = 0; tries < 10; tries++) expect((await listModels()).status).toBe(200);
}

test("no last byte leaves before the disk has confirmed its receipt, and others are served meanwhile", async () => {
  const { promise: goOn, resolve: finish } = Promise.withResolvers<void>();
  vendor.begin({ step: "mid-stream", pass: 1, reached: () => {}, died: goOn });
  const stream = new BodyReader(await chat({ stream: true }));
  await stream.until("two ");
  await tell("hold");
  const begun = nextSync();
  finish();
  await begun;
  const order: string[] = [];
  const streamed = stream.until("[DONE]").then(() => order.push("stream"));
  const whole = chat().then((response) => {
    order.push(`reply ${response.status}`);
    return response.json();
  });
  await untilAnswered(2);
  order.push(`models ${(await listModels()).status}`);
  expect(stream.text).not.toContain("[DONE]");
  await tell("pass");
  await Promise.all([streamed, whole]);
  expect(order[0]).toBe("models 200");
  expect(order.toSorted()).toEqual(["models 200", "reply 200", "stream"]);
});

test("receipts that come while the disk is busy share the next confirmation", async () => {
  vendor.begin(undefined);
  await tell("hold");
  const begun = nextSync();
  const first = chat();
  await begun;
  const { syncs } = gate;
  const others = Array.from({ length: 20 }, () => chat());
  await untilAnswered(21);
  expect(gate.syncs).toBe(syncs);
  await tell("pass");
  for (const response of await Promise.all([first, ...others])) {
    expect(response.status).toBe(200);
    await response.json();
  }
  // One, unless the last of them came late.
  expect(gate.syncs - syncs).toBeLessThan(5);
});

test("a disk that does not confirm: no reply leaves, no call is let in, and once it does all is paid once", async () => {
  const before = (await withReader(ledgerPath, receiptsIn)).length;
  await tell("fail");
  let isOver = false;
  const late = chat().finally(() => {
    isOver = true;
  });
  let ready = await fetch(`${server.origin}/readyz`);
  while (ready.status === 200) ready = await fetch(`${server.origin}/readyz`);
  const refused = await chat();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { code: "store_unavailable" } });
  expect(isOver).toBe(false);
  await tell("pass");
  const served = await late;
  expect(served.status).toBe(200);
  expect(await judged()).toEqual([]);
  const ids = (await withReader(ledgerPath, receiptsIn)).slice(before).map(({ id }) => id);
  expect(ids).toEqual([served.headers.get("x-request-id") ?? ""]);
});

test("what was tried twice is in no sum twice, once the process has stopped and written them all", async () => {
  expect(await server.stop()).toBe(0);
  const { problems } = await withReader(ledgerPath, (reader) => verifyLedger(reader));
  expect(problems).toEqual([]);
});
