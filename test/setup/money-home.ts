/** What the tests of money share: accounts of their own, the ledger as it is written, sums by hand. */

import { expect } from "bun:test";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Clock } from "../../src/base/clock.ts";
import { toUsd } from "../../src/base/money.ts";
import { mostInputTokens } from "../../src/call/chat-size.ts";
import type { ReceiptAttempt } from "../../src/ledger/attempt.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { verifyLedger } from "../../src/ledger/verify/verify.ts";
import { toAttemptsText } from "../../src/platform/requests/attempts.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { toChatOrder } from "../../src/wire/v1/chat/call.ts";
import { chatJson, type Recording } from "../fake/recordings.ts";
import { standardManifest, type TestGateway } from "./harness.ts";

/** For all tests of money, which share a gateway: models whose terms decide what is held or paid. */
export const moneyManifest = `${standardManifest}
  long-answers: { endpoint: chat, max_output_tokens: 200000, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: long }] }
  small-images: { endpoint: chat, max_image_tokens: 85, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: small }] }
  two: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: one }, { provider: fake, model: two, weight: 0 }] }
  short-tts: { endpoint: speech, max_audio_seconds: 1, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: upstream-tts, voices: same }] }
  dear-cache: { endpoint: chat, price: { input: "0.30", cached_input: "0.90", output: "2.50" }, routes: [{ provider: fake, model: dear, cost: { input: "0.10", output: 1 } }] }
  odd-price: { endpoint: chat, price: { input: "0.000000001", output: "0.000000001" }, routes: [{ provider: fake, model: odd }] }
`;

/** Nano-USD of one unit, as the standard manifest has them. */
export const flash = { input: 300n, cached: 30n, output: 2_500n } as const;
export const flashTts = { input: 500n, audio: 10_000n } as const;

export const hello = {
  model: "svc-3-flash",
  messages: [{ role: "user", content: "Say hello" }],
} as const;
/** What a tokenizer makes of it: the text, and four for the message. */
export const helloTokens = countTokens("Say hello") + 4;
/** Its nine bytes, 16 around the message and 64 around the whole. */
export const helloMost = 89;

export { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** The gateway's own bound on the prompt, for upstreams that use all of it. */
export function mostOf(body: Record<string, unknown>, maxImageTokens = 16_384): number {
  return mostInputTokens(
    toChatOrder(body as never, { maxOutputTokens: undefined }).call,
    maxImageTokens,
  );
}

export interface Standing {
  readonly balance: bigint;
  readonly held: bigint;
  readonly free: bigint;
  readonly shortfall: bigint;
  readonly status: string;
}

/** Its attempts as exports have them: in one line, and as values. */
export interface PaidReceipt extends Omit<Receipt, "attempts"> {
  readonly attempts: string;
  readonly attemptList: readonly ReceiptAttempt[];
}

/** An account of a test's own, with a key. */
export interface Payer {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  readonly credit: bigint;
  call(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  chat(body?: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  standing(): Promise<Standing>;
  receipts(): Promise<readonly PaidReceipt[]>;
  /** Waits until so many receipts are written and nothing is held, then checks the books. */
  settled(count: number): Promise<readonly PaidReceipt[]>;
  /** The one receipt that there is to be. */
  receipt(): Promise<PaidReceipt>;
}

export interface PayerOptions {
  /** Nano-USD. */
  readonly credit?: bigint;
  readonly name?: string;
  /** Of the key, as typed. */
  readonly budget?: string;
}

let payers = 0;

export async function openPayer(gateway: TestGateway, options: PayerOptions = {}): Promise<Payer> {
  const { credit = 1_000_000_000_000n, budget } = options;
  const { operations } = gateway.server;
  const { id } = await operations.accounts.create({ name: options.name ?? `payer ${++payers}` });
  if (credit > 0n)
    await operations.entries.add({
      account: id,
      kind: "credit",
      usd: toUsd(credit),
      reference: "1",
    });
  const limits = budget === undefined ? {} : { budget };
  const { id: keyId, key } = await operations.keys.create({ account: id, ...limits });
  const call: Payer["call"] = (path, body, init = {}) =>
    gateway.call(path, body, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) },
    });
  const receipts = () => receiptsOf(gateway, id);
  const standing = () => fundsOf(gateway, id);
  const settled = async (count: number) => {
    let written: readonly PaidReceipt[] = [];
    await waitUntil(`${count} receipts, nothing held`, async () => {
      if ((await standing()).held !== 0n) return false;
      written = await receipts();
      return written.length >= count;
    });
    expect(written.length).toBe(count);
    await expectBooks(gateway, { id, credit }, written);
    return written;
  };
  return {
    id,
    keyId,
    key,
    credit,
    call,
    chat: (body = {}, init) => call("/chat/completions", { ...hello, ...body }, init),
    standing,
    receipts,
    settled,
    async receipt() {
      const [only] = await settled(1);
      if (only === undefined) throw new Error("there is no receipt");
      return only;
    },
  };
}

async function expectBooks(
  gateway: TestGateway,
  { id, credit }: { readonly id: string; readonly credit: bigint },
  receipts: readonly Pick<Receipt, "charged">[],
): Promise<void> {
  const charged = receipts.reduce((sum, receipt) => sum + receipt.charged, 0n);
  const { balance, held, free } = await fundsOf(gateway, id);
  expect({ balance, held, free }).toEqual({
    balance: credit - charged,
    held: 0n,
    free: credit - charged,
  });
  expect(balance >= 0n).toBe(true);
  const looks = (looksByServer.get(gateway.server) ?? 0) + 1;
  looksByServer.set(gateway.server, looks);
  if (Number.isInteger(Math.log2(looks)) || looks % examineEvery === 0)
    expect(await ledgerProblems(gateway)).toEqual([]);
}

/** How often the books of this server were looked at. */
const looksByServer = new WeakMap<object, number>();
/** The examination reads the whole ledger: it comes at the 1st, 2nd, 4th, … look, and every 16th. */
const examineEvery = 16;

export async function ledgerProblems(gateway: TestGateway) {
  const reader = openLedgerReader(join(gateway.dataDir, "svc.db"));
  try {
    return (await verifyLedger(reader)).problems;
  } finally {
    await reader.close();
  }
}

async function receiptsOf(
  gateway: TestGateway,
  accountId: string,
): Promise<readonly PaidReceipt[]> {
  const reader = openLedgerReader(join(gateway.dataDir, "svc.db"));
  try {
    const list: PaidReceipt[] = [];
    for await (const receipt of reader.receipts({ accountId, oldestFirst: true })) {
      const { attempts: attemptList } = receipt;
      list.push({ ...receipt, attempts: toAttemptsText(attemptList), attemptList });
    }
    return list;
  } finally {
    await reader.close();
  }
}

async function fundsOf(gateway: TestGateway, account: string): Promise<Standing> {
  const shown = await gateway.server.operations.accounts.show({ account });
  return {
    balance: fromUsd(shown.balance_usd),
    held: fromUsd(shown.held_usd),
    free: fromUsd(shown.free_usd),
    shortfall: fromUsd(shown.shortfall_usd),
    status: shown.status,
  };
}

/** Decimal USD in nano-USD, read by hand. */
export function fromUsd(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const nano = BigInt(whole + fraction.padEnd(9, "0"));
  return text.startsWith("-") ? -nano : nano;
}

const patienceMs = 240_000;
const pauseMs = 3;

/** Looks again every few milliseconds: looking costs work that others wait for. */
export async function waitUntil(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const endMs = Date.now() + patienceMs;
  while (!(await isTrue())) {
    if (Date.now() > endMs) throw new Error(`waited in vain for ${what}`);
    await Bun.sleep(pauseMs);
  }
}

/** The thread that counts starts with the first count, which may be over before it is ready. */
export async function warmCounter(
  gateway: TestGateway,
  model: string = hello.model,
): Promise<void> {
  const payer = await openPayer(gateway);
  let calls = 0;
  await waitUntil("an exact count", async () => {
    gateway.upstream.replyOnce(withoutUsage("one two three four"));
    await (await payer.chat({ model })).text();
    const receipts = await payer.settled(++calls);
    return receipts.at(-1)?.units.output === countTokens("one two three four");
  });
}

/** A whole reply that has nothing but its text, and tells no usage. */
export const withoutUsage = (text: string) =>
  chatJson({ text, usage: null, message: { annotations: undefined } });

export interface TestClock extends Clock {
  /** How often somebody has looked at it. */
  readonly reads: number;
  set(moment: string): void;
}

export function clockAt(moment: string): TestClock {
  let nowMs = Date.parse(moment);
  let reads = 0;
  return {
    get reads() {
      return reads;
    },
    nowMs() {
      reads++;
      return nowMs;
    },
    set(next) {
      nowMs = Date.parse(next);
    },
  };
}

/** A call that the upstream has, and answers when the test says so. */
export async function heldCall(
  { upstream }: Pick<TestGateway, "upstream">,
  call: () => Promise<Response>,
  reply: Recording = chatJson(),
) {
  const { promise: until, resolve } = Promise.withResolvers<void>();
  const arrived = upstream.nextRequest();
  upstream.replyOnce([{ until }, { send: reply.bytes }]);
  const response = call();
  response.catch(() => {});
  await arrived;
  return {
    response,
    answer() {
      resolve();
      return response;
    },
  };
}

/** Leaves in the middle of a call; resolves when the client's side of it is over. */
export function leaver() {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    async leave(call: Promise<unknown>): Promise<void> {
      controller.abort();
      await call.catch(() => {});
    },
  };
}
