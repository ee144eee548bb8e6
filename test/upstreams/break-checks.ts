import { expect } from "bun:test";
import { type Check, dataOf, failure, type Receipt } from "./checks.ts";
import type { LlamaServer } from "./llama-server.ts";

const long = {
  model: "llama-chat",
  stream: true,
  max_tokens: 900,
  // Its token for the end, never: an answer that ends by itself would look like one that was stopped.
  logit_bias: { 2: -100 },
  messages: [{ role: "user" as const, content: "Tell me a long story about the sea." }],
};

/** In this order: each leaves the server as the next expects it. */
export const breakChecks: readonly Check[] = [
  {
    name: "a caller who leaves in mid-stream stops the server's work",
    async run({ engine, llama }) {
      const before = await llama().tokensMade();
      const leaving = new AbortController();
      const reply = await engine.call("/chat/completions", long, { signal: leaving.signal });
      await readChunks(reply, 3);
      expect(await llama().working()).toBe(1);
      leaving.abort();
      await untilIdle(llama());
      // Left alone it would have made all 900.
      expect((await llama().tokensMade()) - before).toBeLessThan(60);
      const id = reply.headers.get("x-request-id") ?? "";
      // What was produced is counted first: its receipt comes a moment later.
      const find = () => engine.home.svc(["receipt", id, "--json"]);
      let found = await find();
      for (let looks = 1; found.code !== 0 && looks < 20; looks++) found = await find();
      expect(JSON.parse(found.stdout)).toMatchObject({ model: "llama-chat", outcome: "left" });
    },
  },
  {
    name: "kill -9 of the server in mid-stream: an error event, and no [DONE]",
    async run({ engine, llama }) {
      const reply = await engine.call("/chat/completions", long);
      const reader = await readChunks(reply, 3);
      await llama().kill();
      const rest = await readToEnd(reader);
      const events = dataOf(rest);
      const last = JSON.parse(events.at(-1) ?? "{}");
      expect(last.error?.code).toEqual(expect.any(String));
      expect(JSON.stringify(last)).not.toMatch(/llama|127\.0\.0\.1|ECONN/i);
      expect(events).not.toContain("[DONE]");
      expect(rest).not.toMatch(/"finish_reason":"(stop|length)"/);
    },
  },
  {
    name: "a server that is down: 502 or 503, and no word of it",
    async run({ engine: { client } }) {
      const call = { model: "llama-chat", messages: long.messages };
      const error = await failure(client.chat.completions.create(call));
      expect([502, 503]).toContain(error.status ?? 0);
      expect(error.message).not.toMatch(/llama|127\.0\.0\.1|ECONN/i);
    },
  },
  {
    name: "a server that is down: the embedded engine answers in its place",
    async run({ engine: { client, home } }) {
      const { data, response } = await client.chat.completions
        .create({ model: "llama-or-engine", max_tokens: 16, messages: long.messages })
        .withResponse();
      expect(data.choices[0]?.message.content?.length).toBeGreaterThan(0);
      const id = response.headers.get("x-request-id") ?? "";
      const receipt = await home.json<Receipt>(["receipt", id]);
      expect(receipt.outcome).toBe("ok");
      expect(receipt.attempts).toMatch(/engine\/chat$/);
    },
  },
  {
    name: "the server back at its address: it serves again",
    async run({ engine, restart, llama }) {
      await restart();
      // By hand, so that nobody has to wait until it is tried again.
      expect((await engine.home.svc(["provider", "reset", "llama"])).code).toBe(0);
      const before = await llama().tokensMade();
      const { choices } = await engine.client.chat.completions.create({
        model: "llama-or-engine",
        max_tokens: 8,
        messages: long.messages,
      });
      expect(choices[0]?.message.content?.length).toBeGreaterThan(0);
      expect(await llama().tokensMade()).toBeGreaterThan(before);
    },
  },
];

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Resolves when so many pieces of the answer have come. */
async function readChunks(reply: Response, count: number): Promise<Reader> {
  expect(reply.status).toBe(200);
  const reader: Reader | undefined = reply.body?.getReader() as Reader | undefined;
  if (reader === undefined) throw new Error("the reply has no body");
  const decoder = new TextDecoder();
  let text = "";
  while (text.split('"content":"').length <= count) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended early: ${text.slice(-300)}`);
    text += decoder.decode(value, { stream: true });
  }
  return reader;
}

async function readToEnd(reader: Reader): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}

/** It says nothing when it stops: it has to be asked. */
async function untilIdle(server: LlamaServer): Promise<void> {
  const endMs = performance.now() + 20_000;
  while ((await server.working()) > 0) {
    if (performance.now() > endMs) throw new Error("the server still works on it after 20 s");
    await Bun.sleep(50);
  }
}
