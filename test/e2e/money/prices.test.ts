/** A call costs what the model cost when it was let in, whatever happens to the price meanwhile. */

import { beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson, chatStream, openaiEvents } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { standardManifest } from "../../setup/harness.ts";
import {
  clockAt,
  flash,
  heldCall,
  helloMost,
  openPayer,
  type Payer,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const usage = usageOf({ prompt: 10, completion: 4 });
const oldCost = 10n * flash.input + 4n * flash.output;
const newCost = 10n * 1_000n + 4n * 7_000n;
const dearer = { input: "1", output: "7" };

/** One for each test, which changes its price. */
const models = Array.from({ length: 8 }, (_, at) => `priced-${at}`);
const manifest = `${standardManifest}${models
  .map(
    (id) =>
      `  ${id}: { endpoint: chat, max_output_tokens: 8192, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: ${id} }] }\n`,
  )
  .join("")}`;
const clock = clockAt("2026-11-15T10:00:00Z");
const gateway = useTestGateway({ clock, manifest, isInStore: true });
let payer: Payer;
let tests = 0;
let model = "";
/** Of this test: the clock of a server must not go back. */
let year = 0;

beforeEach(async () => {
  model = models[tests] ?? "";
  year = 2026 + tests++;
  clock.set(`${year}-11-15T10:00:00Z`);
  const opened = await openPayer(gateway);
  payer = { ...opened, chat: (body = {}, init) => opened.chat({ model, ...body }, init) };
  gateway.upstream.replyWith(chatJson({ usage }));
});

const setPrice = (from?: string) =>
  gateway.server.operations.prices.set({
    model,
    price: dearer,
    ...(from === undefined ? {} : { from }),
  });

async function chargeOf(calls: number) {
  expect((await payer.chat({ max_tokens: 9 })).status).toBe(200);
  const { charged, cost, hold, priceVersion } = (await payer.settled(calls)).at(-1) ?? {};
  expect(charged).toBe(cost);
  return { charged, hold, priceVersion };
}

const holdAt = (input: bigint, output: bigint) => BigInt(helloMost) * input + 9n * output;

const unpriced = () => {
  const text = manifest.replaceAll("UPSTREAM", gateway.upstream.baseUrl);
  const without = text.replace(new RegExp(`(${model}: .*)price: \\{[^}]*\\}, `), "$1price: none, ");
  expect(without).not.toBe(text);
  return gateway.server.operations.manifest.apply({ text: without, dryRun: false });
};

describe("a price that is set while a call is running", () => {
  test("is not the price of that call, whole", async () => {
    const running = await heldCall(
      gateway,
      () => payer.chat({ max_tokens: 9 }),
      chatJson({ usage }),
    );
    const { version } = await setPrice();
    expect(version).toBe(2);
    expect((await running.answer()).status).toBe(200);
    const receipt = await payer.receipt();
    expect(receipt).toMatchObject({ charged: oldCost, cost: oldCost, priceVersion: 1 });
    expect(await chargeOf(2)).toEqual({
      charged: newCost,
      hold: holdAt(1_000n, 7_000n),
      priceVersion: 2,
    });
  });

  test.each([
    [
      "when its moment comes",
      () => setPrice(`${year}-11-16`).then(() => clock.set(`${year}-11-17`)),
    ],
    ["when the model has none any more", unpriced],
  ])("is not the price of that call, %s", async (_, change) => {
    const running = await heldCall(
      gateway,
      () => payer.chat({ max_tokens: 9 }),
      chatJson({ usage }),
    );
    await change();
    expect((await running.answer()).status).toBe(200);
    expect(await payer.receipt()).toMatchObject({ charged: oldCost, priceVersion: 1 });
  });

  test("is not the price of that call, in the middle of its stream", async () => {
    const gate = Promise.withResolvers<void>();
    const recording = chatStream({ events: openaiEvents({ usage }) });
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: gate.promise }));
    const body = new BodyReader(await payer.chat({ stream: true }));
    await body.until("Hello");
    await setPrice();
    gate.resolve();
    expect(await body.rest()).toEndWith("data: [DONE]\n\n");
    expect(await payer.receipt()).toMatchObject({ charged: oldCost, priceVersion: 1 });
  });
});

describe("a price of the future", () => {
  test("is in force from its moment on, to the millisecond and without a restart", async () => {
    await setPrice(`${year}-12-01`);
    const before = { charged: oldCost, hold: holdAt(300n, 2_500n), priceVersion: 1 };
    expect(await chargeOf(1)).toEqual(before);
    clock.set(`${year}-11-30T23:59:59.999Z`);
    expect(await chargeOf(2)).toEqual(before);
    clock.set(`${year}-12-01T00:00:00.000Z`);
    expect(await chargeOf(3)).toEqual({
      charged: newCost,
      hold: holdAt(1_000n, 7_000n),
      priceVersion: 2,
    });
  });
});

describe("a model whose price ends", () => {
  test("is as good as unknown: refused in the same words, and in no list", async () => {
    await unpriced();
    const unknown = await refusalOf(payer.chat({ model: "no-such-model" }));
    const refusal = await refusalOf(payer.chat());
    expect(refusal.status).toBe(403);
    expect(refusal).toEqual({
      ...unknown,
      message: unknown.message.replace("no-such-model", model),
    });
    const headers = { authorization: `Bearer ${payer.key}` };
    const list = await (await fetch(`${gateway.baseUrl}/models`, { headers })).text();
    expect(list).not.toContain(`"${model}"`);
    const one = await fetch(`${gateway.baseUrl}/models/${model}`, { headers });
    expect(one.status).toBe(404);
    expect(gateway.upstream.requests).toEqual([]);
    expect(await payer.receipts()).toEqual([]);
  });
});
