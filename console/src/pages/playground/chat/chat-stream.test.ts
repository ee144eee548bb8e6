import { expect, test } from "bun:test";
import { type ChatPart, readChat } from "./chat-stream.ts";

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const word = (content: string) => event({ choices: [{ delta: { content }, finish_reason: null }] });
const end = event({ choices: [{ delta: {}, finish_reason: "stop" }] });
const usage = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
const done = "data: [DONE]\n\n";

/** In pieces of so many bytes, as a network may cut it. */
function toResponse(text: string, pieceBytes = 7): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + pieceBytes));
      at += pieceBytes;
    },
  });
  return new Response(body, { headers: { "x-request-id": "req_1" } });
}

async function readAll(response: Response): Promise<readonly ChatPart[]> {
  return Array.fromAsync(readChat(response));
}

test("words come whole, wherever the network cuts them", async () => {
  const text = `: still here\n\n${word("Grü")}${word("ß dich 👋")}${end}${usage}${done}`;
  for (const pieceBytes of [1, 2, 3, 7, 10_000]) {
    const parts = await readAll(toResponse(text, pieceBytes));
    expect(parts.map((part) => part.text).join("")).toBe("Grüß dich 👋");
    expect(parts.flatMap(({ finishReason }) => finishReason ?? [])).toEqual(["stop"]);
    expect(parts.at(-1)?.usage).toEqual({ prompt_tokens: 3, completion_tokens: 2 });
  }
});

test("thoughts are kept apart from the answer", async () => {
  const thought = event({ choices: [{ delta: { reasoning_content: "Hm." } }] });
  const parts = await readAll(toResponse(`${thought}${word("Yes")}${done}`));
  expect(parts.map(({ reasoning, text }) => [reasoning, text])).toEqual([
    ["Hm.", ""],
    ["", "Yes"],
  ]);
});

test("an error in the stream is told in the gateway's words", async () => {
  const error = event({ error: { code: "upstream_error", message: "The model broke." } });
  await expect(readAll(toResponse(`${word("Once")}${error}`))).rejects.toMatchObject({
    code: "upstream_error",
    message: "The model broke.",
    requestId: "req_1",
  });
});

test("an answer without its end is a problem, and not a short answer", async () => {
  await expect(readAll(toResponse(`${word("Once")}${end}`))).rejects.toMatchObject({
    code: "broken",
  });
});
