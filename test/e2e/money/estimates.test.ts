/** What is charged where no upstream has counted: what a tokenizer counts, however long it takes. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chatChunk, chatStream } from "../../fake/recordings.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { countTokens, leaver, openPayer, warmCounter } from "../../setup/money-home.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await warmCounter(gateway);
});
afterAll(() => gateway.stop());

test("many who leave with long prompts that are slow to count pay what was counted, not less", async () => {
  // Base64 has far more tokens for its bytes than words have, and takes the counter longest.
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
  const messages = [{ role: "user", content }];
  const text = "Hello";
  const payers = await Promise.all(Array.from({ length: 6 }, () => openPayer(gateway)));
  const { head, parts } = chatStream({ events: [chatChunk({ delta: { content: text } })] });
  const begun = Buffer.concat([head, ...parts]);
  for (const _ of payers) gateway.upstream.replyOnce([{ send: begun }, { hang: true }]);
  const leavers = payers.map((payer) => {
    const { signal, leave } = leaver();
    return { leave, call: payer.chat({ stream: true, messages }, { signal }) };
  });
  await Promise.all(
    leavers.map(async ({ call, leave }) => {
      await new BodyReader(await call).until(text);
      await leave(call);
    }),
  );
  const tokens = countTokens(content);
  for (const payer of payers) {
    const { units, estimated } = await payer.receipt();
    expect(estimated).toBe(true);
    // The counter cuts long runs, which makes a token or two for each cut.
    expect(Math.abs((units.input ?? 0) - tokens)).toBeLessThan(tokens * 0.02);
  }
});
