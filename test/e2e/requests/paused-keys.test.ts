/** A paused key: rejected from that moment on, however many calls are on their way. */

import { beforeEach, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { hello, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const operations = () => gateway.server.operations;
const chatWith = (key: string) =>
  gateway.call("/chat/completions", hello, { headers: { authorization: `Bearer ${key}` } });

test("gets a 401 that names the reason, on every endpoint, with either secret", async () => {
  const payer = await openPayer(gateway);
  const { key: second } = await operations().keys.rotate({ id: payer.keyId });
  await operations().keys.pause({ id: payer.keyId });
  for (const key of [payer.key, second])
    for (const path of ["/chat/completions", "/embeddings", "/audio/speech"]) {
      const headers = { authorization: `Bearer ${key}` };
      const refusal = await refusalOf(await gateway.call(path, hello, { headers }));
      expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key" });
      // The first words are what LiteLLM knows a wrong key by.
      expect(refusal.message).toStartWith("Incorrect API key provided: this key is paused.");
    }
  const models = await fetch(`${gateway.baseUrl}/models`, {
    headers: { authorization: `Bearer ${second}` },
  });
  expect(models.status).toBe(401);
  await operations().keys.resume({ id: payer.keyId });
  expect((await chatWith(second)).status).toBe(200);
});

test("among many calls at once none begins after it was paused, and each served one has a receipt", async () => {
  const payer = await openPayer(gateway);
  let isPaused = false;
  const served: number[] = [];
  const call = async () => {
    const wasPaused = isPaused;
    const reply = await chatWith(payer.key);
    await reply.arrayBuffer();
    if (wasPaused) expect(reply.status).toBe(401);
    else if (reply.status === 200) served.push(1);
    else expect(reply.status).toBe(401);
  };
  const early = Array.from({ length: 100 }, call);
  const pausing = operations()
    .keys.pause({ id: payer.keyId })
    .then(() => {
      isPaused = true;
    });
  const meanwhile = Array.from({ length: 100 }, call);
  await pausing;
  await Promise.all([...early, ...meanwhile, ...Array.from({ length: 100 }, call)]);
  expect(await payer.settled(served.length)).toHaveLength(served.length);
});

test("a body that was still on its way when its key was paused is refused", async () => {
  const payer = await openPayer(gateway);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const text = new TextEncoder().encode(JSON.stringify(hello));
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(text.slice(0, 5));
      begin();
      await released;
      controller.enqueue(text.slice(5));
      controller.close();
    },
  });
  const reply = fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${payer.key}`, "content-type": "application/json" },
    body,
  });
  await begun;
  await Bun.sleep(50);
  await operations().keys.pause({ id: payer.keyId });
  release();
  expect(await refusalOf(await reply)).toMatchObject({ status: 401, code: "invalid_api_key" });
});
