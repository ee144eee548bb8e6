/** Answers that a vendor's filter stopped before their first word: the prompt is paid as counted. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { openPayer } from "../../setup/money-home.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    manifest: `
providers:
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: google, model: gemini-3-flash }] }
`,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const usage = { promptTokenCount: 1_234, totalTokenCount: 1_234 };
const stopped = geminiReply({ finishReason: "SAFETY", usage });

for (const form of ["whole", "streamed"] as const)
  test(`${form}: the vendor's count of the prompt is charged, and no estimate`, async () => {
    gateway.upstream.replyWith(
      form === "whole" ? geminiJson(stopped) : geminiStream([geminiEvent(stopped)]),
    );
    const payer = await openPayer(gateway);
    const response = await payer.chat({
      model: "svc-3-flash",
      messages: [{ role: "user", content: "x".repeat(2_000) }],
      stream: form === "streamed",
    });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining("content_filter"),
    ]);
    const { charged, units, estimated } = await payer.receipt();
    expect(charged).toBe(1_234n * 1_000n);
    expect([units.input, estimated]).toEqual([1_234, false]);
  });
