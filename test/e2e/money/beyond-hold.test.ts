/** An upstream that uses more than its worst case: the caller pays no more than was announced. */

import { expect, test } from "bun:test";
import { Checks } from "../../../src/app/doctor/checks.ts";
import { checkProviders } from "../../../src/app/doctor/providers.ts";
import { fromUsd, toUsd } from "../../../src/base/money.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import { readMetrics } from "../../replies/metrics-text.ts";
import { standardManifest } from "../../setup/harness.ts";
import { flash, heldCall, helloMost, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const lines: string[] = [];
const manifest = `${standardManifest}
  gpt: { endpoint: chat, price: { input: "0.60", output: "2.40" }, routes: [{ provider: fake, model: gpt-4o-mini }] }
`;
const environment = { SVC_LOG_LEVEL: "warn" };
const gateway = useTestGateway({ manifest, environment, writeLog: (line) => lines.push(line) });

const cap = 10;
const exact = chatJson({ usage: usageOf({ prompt: helloMost, completion: cap }) });
const hold = BigInt(helloMost) * flash.input + BigInt(cap) * flash.output;
const usage = usageOf({ prompt: helloMost, completion: 10 * cap });
const cost = BigInt(helloMost) * flash.input + 10n * BigInt(cap) * flash.output;

for (const [name, options] of [
  ["where much is free", {}],
  ["where little is free", { credit: hold + 7n }],
  ["where nothing is free", { credit: hold }],
  ["within a budget", { budget: toUsd(hold + 3n) }],
] as const)
  test(`more than was set aside costs the hold ${name}; the rest is the operator's loss`, async () => {
    lines.length = 0;
    const payer = await openPayer(gateway, options);
    gateway.upstream.replyOnce(chatJson({ usage }));
    expect((await payer.chat({ max_tokens: cap })).status).toBe(200);
    expect(await payer.receipt()).toMatchObject({ hold, cost, charged: hold, outcome: "ok" });
    const { shortfall, balance } = await payer.standing();
    expect(shortfall).toBe(cost - hold);
    expect(balance).toBe(("credit" in options ? options.credit : 1_000_000_000_000n) - hold);
    expect(lines.join("")).toContain("call cost more than its hold");
    expect(lines.join("")).toContain(`"shortfall_nano":"${cost - hold}"`);
  });

test("metrics, the list of providers and the doctor name the provider that causes a shortfall", async () => {
  const caused = async () => {
    const page = await fetch(`${gateway.server.platformUrl}/metrics`);
    const labels = { provider: "fake", usage: "reported" };
    const metrics = readMetrics(await page.text());
    const name = "svc_provider_shortfall_usd_total";
    // There is no series before the first shortfall.
    if (metrics.sum(name, labels) === 0) return 0n;
    return fromUsd(metrics.only(name, labels).text) ?? 0n;
  };
  const before = await caused();
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(chatJson({ usage }));
  await (await payer.chat({ max_tokens: cap })).text();
  await payer.receipt();
  expect((await caused()) - before).toBe(cost - hold);
  const { operations } = gateway.server;
  const [fake] = await operations.providers.list({});
  expect(fromUsd(fake?.last_24h?.shortfall_usd ?? "")).toBeGreaterThanOrEqual(cost - hold);
  const checks = new Checks("providers");
  await checkProviders(checks, operations);
  expect(checks.found.map(({ finding }) => finding)).toContain(
    `Calls to fake cost ${fake?.last_24h?.shortfall_usd} USD more than their holds in the last 24 hours, and you bear the difference.`,
  );
});

test("an answer in one packet that ignores the cap costs the cap", async () => {
  const payer = await openPayer(gateway);
  // Two deltas of a few hundred bytes: one read has them, the finish, the count and the end.
  const words = ["a", "b"].map((letter) => chatChunk({ delta: { content: letter.repeat(200) } }));
  gateway.upstream.replyOnce(
    chatStream({
      events: [
        ...words,
        chatChunk({ finish: "stop" }),
        chatChunk({ choices: [], usage: usageOf({ prompt: 9, completion: 20_000 }) }),
        DONE,
      ],
    }).bytes,
  );
  const response = await payer.chat({ max_tokens: cap, stream: true });
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
  const { units, charged } = await payer.receipt();
  expect(units.output).toBe(cap);
  expect(charged <= hold).toBe(true);
});

test("what others hold is not free: it is theirs to the end", async () => {
  const payer = await openPayer(gateway, { credit: 2n * hold });
  const held = await heldCall(gateway, () => payer.chat({ max_tokens: cap }), exact);
  gateway.upstream.replyOnce(chatJson({ usage }));
  expect((await payer.chat({ max_tokens: cap })).status).toBe(200);
  expect(await payer.standing()).toMatchObject({ balance: hold, held: hold, free: 0n });
  expect((await held.answer()).status).toBe(200);
  const receipts = await payer.settled(2);
  expect(receipts.map(({ charged }) => charged)).toEqual([hold, hold]);
  expect((await payer.standing()).balance).toBe(0n);
});

test("a withdrawal cannot take what a running call holds", async () => {
  const payer = await openPayer(gateway, { credit: hold + 5n });
  const running = await heldCall(gateway, () => payer.chat({ max_tokens: cap }), exact);
  const withdraw = (nano: bigint) =>
    gateway.server.operations.entries.add({
      account: payer.id,
      kind: "withdrawal",
      usd: toUsd(nano),
    });
  await expect(withdraw(6n)).rejects.toThrow("available");
  expect((await withdraw(5n)).balance_usd).toBe(toUsd(hold));
  await (await running.answer()).text();
  expect((await payer.standing()).balance).toBe(0n);
  expect((await payer.receipts()).map(({ charged }) => charged)).toEqual([hold]);
});

test("images that count 25,501 tokens each, many at once, cost the operator nothing", async () => {
  // Of 1,024 × 1,024 points in high detail: 2,833 and four times 5,667.
  const imageTokens = 25_501;
  const payer = await openPayer(gateway, { credit: 100_000_000n });
  const usage = usageOf({ prompt: imageTokens + 20, completion: 1 });
  gateway.upstream.replyWith(chatJson({ usage }));
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const content = [{ type: "image_url", image_url: { url, detail: "high" } }];
  const body = { model: "gpt", messages: [{ role: "user", content }], max_tokens: 10 };
  const replies = await Promise.all(Array.from({ length: 40 }, () => payer.chat(body)));
  const served = replies.filter(({ status }) => status === 200).length;
  expect(served).toBeGreaterThan(0);
  expect(replies.every(({ status }) => status === 200 || status === 402)).toBe(true);
  const receipts = await payer.settled(served);
  for (const { cost, charged, hold } of receipts) {
    expect(charged).toBe(cost);
    expect(cost).toBeLessThanOrEqual(hold);
  }
  expect((await payer.standing()).shortfall).toBe(0n);
});
