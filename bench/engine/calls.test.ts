import { afterAll, expect, test } from "bun:test";
import { type Call, chat, embed, ModelLoading, speak } from "./calls.ts";

/** Answers with the bytes of the test that runs. */
let answer: () => Response = () => new Response("nothing", { status: 404 });
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answer() });
afterAll(() => server.stop(true));

const call: Call = {
  gateway: { url: server.url.origin, key: "sk-svc-test" },
  timeoutMs: 5_000,
};
const asEvents = (...data: readonly (object | string)[]) =>
  data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
const text = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } };

test("a whole chat stream gives times and the model's own count of tokens", async () => {
  answer = () => new Response(asEvents(text("One"), text(" two"), usage, "[DONE]"));
  const times = await chat({ call, prompt: "Count.", maxTokens: 2 });
  expect(times).toMatchObject({ promptTokens: 7, completionTokens: 2 });
  expect(times.firstMs).toBeGreaterThan(0);
});

test("a chat stream that breaks off is no figure", async () => {
  for (const data of [
    [text("One"), usage],
    [usage, "[DONE]"],
    [text("One"), "[DONE]"],
  ]) {
    answer = () => new Response(asEvents(...data));
    await expect(chat({ call, prompt: "Count.", maxTokens: 2 })).rejects.toThrow("stream ended");
  }
});

test("only a model that is loading is worth another try", async () => {
  const input = { call, model: "svc-embedding-2", input: "A cat.", vectors: 1 };
  answer = () => Response.json({ error: { code: "model_loading" } }, { status: 503 });
  await expect(embed(input)).rejects.toBeInstanceOf(ModelLoading);
  answer = () => Response.json({ error: { code: "overloaded" } }, { status: 503 });
  await expect(embed(input)).rejects.not.toBeInstanceOf(ModelLoading);
});

test("too few vectors, or empty ones, are no figure", async () => {
  const input = { call, model: "svc-embedding-2", input: ["A cat.", "A dog."], vectors: 2 };
  const vector = { embedding: "A".repeat(4096) };
  answer = () => Response.json({ data: [vector] });
  await expect(embed(input)).rejects.toThrow("1 came");
  answer = () => Response.json({ data: [vector, { embedding: "" }] });
  await expect(embed(input)).rejects.toThrow("not whole");
  answer = () => Response.json({ data: [vector, vector] });
  await embed(input);
});

test("audio is counted in seconds, and too little of it is no figure", async () => {
  const spoken = { call, model: "svc-2.5-flash-tts", text: "Hello from here." };
  answer = () => new Response(new Uint8Array(48_000));
  expect((await speak(spoken)).audioS).toBe(1);
  answer = () => new Response(new Uint8Array(4_800));
  await expect(speak(spoken)).rejects.toThrow("too little");
});
