import { describe, expect, test } from "bun:test";
import type { DialectId } from "../../../../components/code/dialects.ts";
import { type ChatPart, readAnswer } from "./answer-events.ts";
import { createReader } from "./dialects.ts";

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

async function readAll(
  response: Response,
  dialect: DialectId = "chat",
): Promise<readonly ChatPart[]> {
  return Array.fromAsync(readAnswer(response, createReader(dialect)));
}

const joined = (parts: readonly ChatPart[]) => ({
  text: parts.map(({ text = "" }) => text).join(""),
  reasoning: parts.map(({ reasoning = "" }) => reasoning).join(""),
  finish: parts.flatMap(({ finishReason }) => finishReason ?? []),
  usage: parts.findLast(({ usage }) => usage !== undefined)?.usage,
});

test("words come whole, wherever the network cuts them", async () => {
  const text = `: still here\n\n${word("Grü")}${word("ß dich 👋")}${end}${usage}${done}`;
  for (const pieceBytes of [1, 2, 3, 7, 10_000]) {
    const parts = await readAll(toResponse(text, pieceBytes));
    expect(joined(parts).text).toBe("Grüß dich 👋");
    expect(parts.flatMap(({ finishReason }) => finishReason ?? [])).toEqual(["stop"]);
    expect(joined(parts).usage).toEqual({ prompt_tokens: 3, completion_tokens: 2 });
  }
});

test("thoughts are kept apart from the answer", async () => {
  const thought = event({ choices: [{ delta: { reasoning_content: "Hm." } }] });
  const parts = await readAll(toResponse(`${thought}${word("Yes")}${done}`));
  expect(joined(parts)).toMatchObject({ reasoning: "Hm.", text: "Yes" });
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

const typed = (type: string, fields: object = {}) =>
  `event: ${type}\n${event({ type, ...fields })}`;

describe("Responses", () => {
  const read = (...events: readonly string[]) => readAll(toResponse(events.join("")), "responses");
  const begin = typed("response.created", { response: { status: "in_progress", error: null } });
  const delta = typed("response.output_text.delta", { delta: "Pa" });
  const end = (type: string, fields: object = {}) =>
    typed(type, { response: { usage: { input_tokens: 3, output_tokens: 2 }, ...fields } });

  test("text, thoughts, refusals and usage", async () => {
    const parts = await read(
      begin,
      typed("response.reasoning_summary_text.delta", { item_id: "rs_0", delta: "Hm" }),
      typed("response.reasoning_text.delta", { item_id: "rs_0", delta: "Hm" }),
      typed("response.reasoning_text.delta", { item_id: "rs_1", delta: "." }),
      delta,
      typed("response.output_text.delta", { delta: "ris" }),
      typed("response.output_text.done", { text: "Paris" }),
      typed("response.refusal.delta", { delta: "!" }),
      end("response.completed"),
      typed("response.output_text.delta", { delta: "never read" }),
    );
    expect(joined(parts)).toEqual({
      text: "Paris!",
      reasoning: "Hm.",
      finish: ["stop"],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
  });

  test("what cut it is known by the words of all formats", async () => {
    const cut = (reason: string) =>
      read(delta, end("response.incomplete", { incomplete_details: { reason } }));
    expect(joined(await cut("max_output_tokens")).finish).toEqual(["length"]);
    expect(joined(await cut("content_filter")).finish).toEqual(["content_filter"]);
  });

  test("a failure is told in the gateway's words, and a lost end is one", async () => {
    const error = { code: "upstream_error", message: "The model broke." };
    for (const failed of [
      typed("error", error),
      typed("response.failed", { response: { status: "failed", error } }),
    ])
      await expect(read(begin, delta, failed)).rejects.toMatchObject(error);
    await expect(read(begin, delta)).rejects.toMatchObject({ code: "broken" });
  });
});

describe("Messages", () => {
  const read = (...events: readonly string[]) => readAll(toResponse(events.join("")), "messages");
  const begin = typed("message_start", {
    message: { usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } },
  });
  const delta = (fields: object) => typed("content_block_delta", { index: 0, delta: fields });
  const text = delta({ type: "text_delta", text: "Paris" });
  const end = (stop_reason: string) =>
    typed("message_delta", { delta: { stop_reason }, usage: { output_tokens: 2 } }) +
    typed("message_stop");

  test("text, thoughts and usage, with what came from a cache", async () => {
    const parts = await read(
      begin,
      typed("ping"),
      delta({ type: "thinking_delta", thinking: "Hm." }),
      delta({ type: "signature_delta", signature: "c2ln" }),
      text,
      end("end_turn"),
      text,
    );
    expect(joined(parts)).toEqual({
      text: "Paris",
      reasoning: "Hm.",
      finish: ["stop"],
      usage: { prompt_tokens: 7, completion_tokens: 2 },
    });
  });

  test("why it ended is known by the words of all formats", async () => {
    for (const [told, finish] of [
      ["max_tokens", "length"],
      ["stop_sequence", "stop"],
      ["refusal", "content_filter"],
      ["pause_turn", "pause_turn"],
    ] as const)
      expect(joined(await read(begin, text, end(told))).finish).toEqual([finish]);
  });

  test("a failure is told in the gateway's words, and a lost end is one", async () => {
    const error = { type: "api_error", code: "upstream_error", message: "The model broke." };
    await expect(read(begin, text, typed("error", { error }))).rejects.toMatchObject({
      code: "upstream_error",
      message: "The model broke.",
    });
    await expect(read(begin, text)).rejects.toMatchObject({ code: "broken" });
  });
});
