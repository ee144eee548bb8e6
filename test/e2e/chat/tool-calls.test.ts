/** Tool calls: each one keeps its identity, however the upstream writes them. */

import { describe, expect, test } from "bun:test";
import {
  chatAnswers,
  chatChunk,
  chatJson,
  chatStream,
  chatStreams,
  DONE,
  deltaStream,
  TOOL_CALL,
} from "../../fake/recordings.ts";
import type { Reply } from "../../fake/script.ts";
import {
  type EventStream,
  expectWellFormed,
  finishOf,
  readStream,
  textOf,
  toolCallsOf,
  toolPiecesOf,
} from "../../replies/event-stream.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const model = "svc-3-flash";
const hello = { model, messages: [{ role: "user" as const, content: "Say hello" }] };

const chat = (fields: object = {}) => gateway.call("/chat/completions", { ...hello, ...fields });

/** The caller's view of what the upstream sent; well-formed, or the test fails. */
async function relay(reply: Reply, fields: object = {}): Promise<EventStream> {
  gateway.upstream.replyOnce(reply);
  const stream = await readStream(await chat({ stream: true, ...fields }));
  expectWellFormed(stream, { model, includeUsage: false });
  return stream;
}

describe("in a whole reply", () => {
  test("reach the SDK as the model made them", async () => {
    gateway.upstream.replyOnce(chatAnswers.toolCall());
    const { choices } = await gateway.client().chat.completions.create(hello);
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: [TOOL_CALL],
    } as object as NonNullable<(typeof choices)[0]>["message"]);
  });

  test("stay beside a function_call that says the same", async () => {
    const legacy = { name: "f", arguments: "{}" };
    const call = { id: "a", type: "function", function: legacy };
    const message = { function_call: legacy, tool_calls: [call] };
    gateway.upstream.replyOnce(chatJson({ text: null, message }));
    const reply = await (await chat()).json();
    expect(reply.choices[0].message).not.toHaveProperty("function_call");
    expect(reply.choices[0].message.tool_calls).toEqual([call]);
  });
});

describe("in a whole reply in place of a stream", () => {
  /** Three calls that differ, and two that are the same and take no arguments. */
  const differing = [0, 1, 2].map((at) => ({ name: `f${at}`, arguments: `{"at":${at}}` }));

  const same = [0, 1].map(() => ({ name: "now", arguments: "" }));

  const ways: Readonly<Record<string, (at: number) => object>> = {
    "ids of their own": (at) => ({ id: `call_${at}` }),
    "no ids": () => ({}),
    "one id for all": () => ({ id: "call_0" }),
    "ids, all at index 0": (at) => ({ id: `call_${at}`, index: 0 }),
    "no ids, all at index 0": () => ({ index: 0 }),
  };

  for (const [way, fieldsOf] of Object.entries(ways))
    for (const [what, called] of Object.entries({ "that differ": differing, "of one name": same }))
      test(`calls ${what} stay apart, with ${way}`, async () => {
        const calls = called.map((one, at) => ({
          type: "function",
          function: one,
          ...fieldsOf(at),
        }));
        gateway.upstream.replyOnce(chatJson({ text: null, message: { tool_calls: calls } }));
        const stream = await readStream(await chat({ stream: true }));
        expectWellFormed(stream, { model, includeUsage: false });
        const given = toolCallsOf(stream);
        expect(given.map(({ name, text }) => ({ name, arguments: text }))).toEqual(called);
        const ids = given.map(({ id }) => id);
        expect(new Set(ids).size).toBe(called.length);
        if (way.startsWith("ids")) expect(ids).toEqual(called.map((_, at) => `call_${at}`));
        expect(finishOf(stream)).toBe("tool_calls");
      });
});

describe("in a stream", () => {
  for (const name of ["toolCall", "toolCallRepeated"] as const)
    test(`id, type and name go out once, however often they come: ${name}`, async () => {
      const pieces = toolPiecesOf(await relay(chatStreams[name]()));
      expect(pieces).toEqual([
        {
          index: 0,
          id: "call_vendor_a1",
          type: "function",
          function: { name: "get_weather", arguments: "" },
        },
        { index: 0, function: { arguments: '{"city":' } },
        { index: 0, function: { arguments: '"Zürich",' } },
        { index: 0, function: { arguments: '"unit":"celsius"}' } },
      ]);
      gateway.upstream.replyOnce(chatStreams[name]());
      const running = gateway.client().chat.completions.stream({ ...hello, stream: true });
      const { choices } = await running.finalChatCompletion();
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
        id: "call_vendor_a1",
        type: "function",
        function: { name: "get_weather", arguments: '{"city":"Zürich","unit":"celsius"}' },
      });
    });

  test("empty or null tool_calls beside text do not make it a tool call", async () => {
    for (const tool_calls of [null, []]) {
      const delta = { content: "Hi", reasoning_content: "hm", tool_calls };
      const stream = await relay(deltaStream([delta]));
      expect(finishOf(stream)).toBe("stop");
      expect(textOf(stream)).toBe("Hi");
    }
  });
});

describe("tool calls of two choices", () => {
  const bare = (name: string) => ({ type: "function", function: { name, arguments: "{}" } });
  const idsOf = (calls: unknown) =>
    (calls as readonly { readonly id?: string }[]).flatMap(({ id = [] }) => id);

  function expectApart(ids: readonly string[]): void {
    expect(ids).toHaveLength(4);
    for (const id of ids) expect(id).toMatch(/^call_\w+$/);
    expect(new Set(ids).size).toBe(4);
  }

  const choices = [0, 1].map((index) => ({
    index,
    message: { role: "assistant", content: null, tool_calls: [bare("f"), bare("g")] },
    finish_reason: "tool_calls",
  }));

  test("get ids of their own in a whole reply, where the upstream gives none", async () => {
    gateway.upstream.replyOnce(chatJson({ choices }));
    const reply = await chat({ n: 2 });
    const { choices: given } = (await reply.json()) as { choices: typeof choices };
    expectApart(given.flatMap(({ message }) => idsOf(message.tool_calls)));
  });

  test("and in a stream", async () => {
    const events = [0, 1].flatMap((index) => [
      ...["f", "g"].map((name, at) =>
        chatChunk({ index, delta: { tool_calls: [{ index: at, ...bare(name) }] } }),
      ),
      chatChunk({ index, finish: "tool_calls" }),
    ]);
    const stream = await relay(chatStream({ events: [...events, DONE] }), { n: 2 });
    expectApart(deltasOf(stream).flatMap(({ tool_calls: calls = [] }) => idsOf(calls)));
  });

  test("and in a stream that the upstream answers with a whole reply", async () => {
    const stream = await relay(chatJson({ choices }), { n: 2 });
    expectApart(deltasOf(stream).flatMap(({ tool_calls: calls = [] }) => idsOf(calls)));
  });
});

const deltasOf = ({ chunks }: EventStream) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
