/** Images are held at the most that the vendor counts for one. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { openPayer } from "../../setup/money-home.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    manifest: `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", allow_private: true }
models:
  small: { endpoint: chat, price: { input: "0.60", output: "2.40" }, routes: [{ provider: fake, model: gpt-4o-mini }] }
`,
  });
});
afterAll(() => gateway.stop());

/** Of 1,024 × 1,024 points in high detail: 2,833 and four times 5,667. */
const imageTokens = 25_501;

test("images that count 25,501 tokens each, many at once, cost the operator nothing", async () => {
  const payer = await openPayer(gateway, { credit: 100_000_000n });
  const usage = usageOf({ prompt: imageTokens + 20, completion: 1 });
  gateway.upstream.replyWith(chatJson({ usage }));
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const content = [{ type: "image_url", image_url: { url, detail: "high" } }];
  const body = { model: "small", messages: [{ role: "user", content }], max_tokens: 10 };
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
