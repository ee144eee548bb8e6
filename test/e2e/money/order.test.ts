/** The last bytes of a reply leave only when its receipt is on the disk. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chatJson,
  chatStream,
  embeddingsReply,
  openaiEvents,
  speechReplies,
} from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { aroundCommits, CommitGate } from "../../setup/commits.ts";
import { flash, leaver, openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

describe("while the disk has not confirmed the receipt", () => {
  const gate = new CommitGate();
  const gateway = useTestGateway({ open: aroundCommits(gate.wrap) });
  let payer: Payer;

  beforeEach(async () => {
    payer = await openPayer(gateway);
    gate.isOpen = false;
  });
  afterEach(() => gate.open());

  /** Long enough for a whole other exchange, with the upstream too. */
  async function othersAreAnswered(): Promise<void> {
    for (let count = 0; count < 5; count++) {
      const response = await fetch(`${gateway.origin}/healthz`);
      expect(response.status).toBe(200);
    }
  }

  const committing = () => waitUntil("the commit", () => gate.waiting === 1);

  const jsonCalls = {
    "/chat/completions": [
      { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] },
      chatJson(),
    ],
    "/embeddings": [{ model: "svc-embedding-2", input: "x" }, embeddingsReply({ vectors: [[1]] })],
  } as const;
  for (const [path, [body, reply]] of Object.entries(jsonCalls))
    test(`nothing of a JSON reply of ${path} leaves`, async () => {
      gateway.upstream.replyOnce(reply);
      const events: string[] = [];
      const call = payer.call(path, body).then(async (response) => {
        events.push("head");
        await response.text();
        events.push("body");
        return response.status;
      });
      await committing();
      await othersAreAnswered();
      expect(events).toEqual([]);
      // The money is gone all the same: nobody else can have it.
      expect(await payer.standing()).toMatchObject({ held: 0n });
      events.push("committed");
      gate.open();
      expect(await call).toBe(200);
      expect(events).toEqual(["committed", "head", "body"]);
      await payer.settled(1);
    });

  test("a stream has everything but its finish, usage and [DONE]", async () => {
    const recording = chatStream({ events: openaiEvents({ pieces: ["Hello", " there"] }) });
    const seen = Promise.withResolvers<void>();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 3, until: seen.promise }));
    const call = payer.chat({ stream: true, stream_options: { include_usage: true } });
    const body = new BodyReader(await call);
    await body.until(" there");
    seen.resolve();
    await committing();
    const rest = body.rest();
    expect(await Promise.race([rest, othersAreAnswered()])).toBeUndefined();
    const { text } = body;
    for (const last of ["[DONE]", "prompt_tokens", '"finish_reason":"stop"'])
      expect(text).not.toContain(last);
    gate.open();
    const end = (await rest).slice(text.length);
    expect(end).toContain('"finish_reason":"stop"');
    expect(end).toContain("prompt_tokens");
    expect(end).toEndWith("data: [DONE]\n\n");
    await payer.settled(1);
  });

  test("a stream that came in one packet has nothing yet", async () => {
    gateway.upstream.replyOnce(chatStream({ events: openaiEvents(), eventsPerPart: 99 }));
    const call = payer.chat({ stream: true });
    await committing();
    const rest = call.then((response) => response.text());
    expect(await Promise.race([rest, othersAreAnswered()])).toBeUndefined();
    gate.open();
    expect(await rest).toEndWith("data: [DONE]\n\n");
    await payer.settled(1);
  });

  test("audio has all its bytes but not its end", async () => {
    gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds: 0.5 }));
    const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore", response_format: "pcm" };
    const reader = (await payer.call("/audio/speech", body)).body?.getReader();
    if (reader === undefined) throw new Error("no body");
    let sizeBytes = 0;
    while (sizeBytes < 24_000) sizeBytes += (await reader.read()).value?.length ?? 0;
    expect(sizeBytes).toBe(24_000);
    await committing();
    const end = reader.read();
    expect(await Promise.race([end, othersAreAnswered()])).toBeUndefined();
    gate.open();
    expect(await end).toEqual({ done: true, value: undefined });
    await payer.settled(1);
  });

  for (const stream of [false, true])
    test(`a caller who leaves has paid once, ${stream ? "streamed" : "whole"}`, async () => {
      gateway.upstream.replyOnce(stream ? chatStream({ events: openaiEvents() }) : chatJson());
      const { signal, leave } = leaver();
      const call = payer.chat({ stream }, { signal });
      await committing();
      await leave(call);
      await fetch(`${gateway.origin}/healthz`);
      gate.open();
      expect(await payer.receipt()).toMatchObject({
        outcome: "ok",
        charged: 11n * flash.input + 8n * flash.cached + 10n * flash.output,
      });
    });
});

describe("with the real disk", () => {
  const gateway = useTestGateway();

  test("every reply of many at once finds its receipt written when it has been read", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyWith(chatJson());
    const missing: string[] = [];
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const response = await payer.chat();
        await response.text();
        const id = response.headers.get("x-request-id") ?? "";
        if (!(await payer.receipts()).some((receipt) => receipt.id === id)) missing.push(id);
      }),
    );
    expect(missing).toEqual([]);
    await payer.settled(40);
  });
});
