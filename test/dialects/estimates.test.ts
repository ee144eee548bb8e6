/** Where no upstream has counted: what only the vendor reads, and thoughts that nobody is shown. */

import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/call/chat.ts";
import { cutAfter } from "../fake/script.ts";
import type { Answer } from "../providers/dialect.ts";
import { expectLetGo, framed, packetsUntil } from "../providers/stage.ts";
import { BodyReader } from "../replies/event-stream.ts";
import { countTokens, helloTokens, leaver } from "../setup/money-home.ts";
import { untilCounted } from "./cases/counting.ts";
import { costOf } from "./cases/words.ts";
import { type Caller, type Form, forms, plainQuestion, post, reply, Stage } from "./stage.ts";
import { type Pair, sceneName, scenes, twinOf } from "./vendors.ts";

// Calls of other files would teach the gateway which models hide their thoughts.
const stage = new Stage({});

beforeAll(() => untilCounted(stage));

const signedChars = 40_000;
const signed = "A".repeat(signedChars);
/** A thought that a vendor has encrypted, in front of the question. */
const signedTurns: Readonly<Record<string, JsonObject>> = {
  responses: {
    input: [
      { type: "reasoning", summary: [], encrypted_content: signed },
      { type: "message", role: "user", content: "Say hello" },
    ],
  },
  messages: {
    messages: [
      { role: "user", content: "Say hello" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: signed },
          { type: "text", text: "Hello" },
        ],
      },
      { role: "user", content: "Say hello" },
    ],
  },
};

const answer: Answer = { pieces: [{ text: "one two three" }], finish: "stop" };
const cap = 100;

function send(caller: Caller, form: Form, more: JsonObject, init: RequestInit = {}) {
  const { driver, vendor } = caller.pair;
  const question = { ...plainQuestion, model: twinOf(vendor), cap, stream: form === "streamed" };
  const body = { ...driver.toBody(question), ...more };
  return post({ stage, driver, key: caller.payer.key, body, init });
}

async function expectServed(response: Response): Promise<void> {
  const text = await response.text();
  expect({ status: response.status, text: response.ok ? "" : text }).toEqual({
    status: 200,
    text: "",
  });
}

/** The estimated receipt, which is within the hold. */
async function estimateOf(caller: Caller): Promise<{ input: number; output: number }> {
  const { units, estimated, charged, cost, hold } = await caller.payer.receipt();
  const { input = 0, output = 0 } = units;
  expect(estimated).toBe(true);
  expect(charged).toBe(costOf({ input, output }));
  expect(charged).toBe(cost);
  expect(cost <= hold).toBe(true);
  return { input, output };
}

for (const pair of scenes.filter(({ driver }) => signedTurns[driver.name] !== undefined)) {
  const turns = signedTurns[pair.driver.name] ?? {};
  describe(sceneName(pair), () => {
    const expectInput = (input: number) => {
      if (!pair.isNative) return expect(input).toBeLessThanOrEqual(4 * helloTokens);
      // About four bytes make a token.
      expect(input).toBeGreaterThanOrEqual(signedChars / 4);
      expect(input).toBeLessThanOrEqual(signedChars);
    };
    const rule = pair.isNative ? "is charged for" : "costs nothing where no vendor gets it";

    for (const form of forms)
      test(`${form}: what only the vendor reads ${rule}`, async () => {
        const caller = await stage.caller(pair);
        stage.answer(pair, withoutUsage(pair, form));
        await expectServed(await send(caller, form, turns));
        expectInput((await estimateOf(caller)).input);
      });

    test(`what only the vendor reads ${rule}, also if the caller leaves`, async () => {
      for (const words of ["", "three"]) {
        const caller = await stage.caller(pair);
        const said = withoutUsage(pair, "streamed");
        const parts = words === "" ? 0 : packetsUntil(said, words);
        const hanging = cutAfter({ recording: framed(said), parts, by: "hang" });
        stage.answer(pair, hanging, reply(pair, "whole", answer));
        const arrived = stage.nextCall();
        const { signal, leave } = leaver();
        const call = send(caller, "streamed", turns, { signal });
        await arrived;
        if (words === "") await othersPass(pair);
        else await new BodyReader(await call).until(words);
        await leave(call);
        expectInput((await estimateOf(caller)).input);
      }
    });
  });
}

/** Until the head that the vendor has sent before is surely read. */
async function othersPass(pair: Pair): Promise<void> {
  const other = await stage.caller(pair);
  for (let round = 0; round < 3; round++) await other.hear({}, "whole");
}

/** Vendors that count in their first event are made not to. */
function withoutUsage(pair: Pair, form: Form) {
  const said = reply(pair, form, answer);
  const packets = said.packets.map((packet) =>
    String(packet).replace(/"usage":\{[^{}]*(\{[^{}]*\}[^{}]*)*\}/g, '"usage":null'),
  );
  return { ...said, packets };
}

describe("messages with thinking that is not displayed", () => {
  const pair = scenes.find(({ driver, isNative }) => driver.name === "messages" && !isNative);
  if (pair === undefined) throw new Error("no scene of messages");
  const hidden = { thinking: { type: "enabled", budget_tokens: 2_000, display: "omitted" } };
  const thought = "First I count the words, and then I count them again.";

  for (const form of forms)
    test(`${form}: counts by its words where nobody has counted`, async () => {
      const caller = await stage.caller(pair);
      const pieces = [{ reasoning: thought }, { text: "Seven" }];
      stage.answer(pair, reply(pair, form, { pieces, finish: "stop" }));
      const response = await send(caller, form, { ...hidden, max_tokens: 4_096 });
      const text = await response.text();
      expect(text).toContain("Seven");
      expect(text).not.toContain("First I count");
      const { output } = await estimateOf(caller);
      expect(Math.abs(output - countTokens(thought) - countTokens("Seven"))).toBeLessThanOrEqual(2);
    });

  test("counts for the cap: an upstream that thinks on is cut", async () => {
    const caller = await stage.caller(pair);
    const pieces = Array.from({ length: 40 }, () => ({ reasoning: "x".repeat(4_096) }));
    const said = pair.wire.streamed({ pieces, finish: "stop" });
    const recording = framed(said);
    stage.answer(pair, cutAfter({ recording, parts: recording.parts.length - 2, by: "hang" }));
    const arrived = stage.nextCall();
    const response = await send(caller, "streamed", { ...hidden, max_tokens: 3_000 });
    const heard = pair.driver.fromStream(await response.text());
    expect(heard).toMatchObject({ finish: "length", reasoning: "" });
    await expectLetGo(arrived);
    expect((await estimateOf(caller)).output).toBe(3_000);
  });
});
