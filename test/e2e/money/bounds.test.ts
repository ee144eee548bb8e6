/** What is set aside is never less than the tokens that a tokenizer makes of a request. */

import { describe, expect, test } from "bun:test";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { fromUsd as toNano } from "../../../src/base/money.ts";
import type { JsonObject } from "../../../src/call/chat.ts";
import { mostInputTokens, textsOf } from "../../../src/call/chat-size.ts";
import { costOf } from "../../../src/call/price.ts";
import { TextBound } from "../../../src/call/text-bound.ts";
import { embeddingNeed } from "../../../src/gateway/endpoints/embeddings/embeddings-money.ts";
import {
  audioTokens,
  mostAudioBytes,
  speechNeed,
} from "../../../src/gateway/endpoints/speech/speech-money.ts";
import { worstCase } from "../../../src/ledger/need.ts";
import { toChatOrder } from "../../../src/wire/v1/chat/call.ts";
import { toMessagesOrder } from "../../../src/wire/v1/messages/call.ts";
import { toResponseOrder } from "../../../src/wire/v1/responses/order.ts";
import { Dice } from "../../fuzz/cases/dice.ts";

const seed = 20_261_115;
const cases = 100;
const unlimited = { maxOutputTokens: undefined };
const asPlainText = { disallowedSpecial: new Set<string>() };
const tokenizers = {
  o200k: (text: string) => countO200k(text, asPlainText),
  cl100k: (text: string) => countCl100k(text, asPlainText),
};

const alphabets: readonly (readonly string[])[] = [
  [..."etaoin shrdlu ETAOIN 0123456789.,;:!?"],
  [..."的一是不了人我在有他这为之大来以个中上们鿿㐀"],
  [..."あいうえおカキクケコ한국어글자"],
  ["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇨🇭", "🫠", "\u200d", "\ufe0f", "é", "ﷺ", "ก็็็็็", "Z̷̧̢̛̼͙"],
  ["\ud800", "\udfff", "\udbff\ud800", "\udc00\udc00"],
  [..."\u0000\u0001\u0007\u001b\u007f\u0085\u2028\ufeff\ufffd"],
  ["{", "}", "[", "]", "=>", "\n\t", "    ", "const ", "<|endoftext|>", "<|im_start|>", "\\", '"'],
  ["𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "ѪꙮӁ", "𒀀𒁂", "\u{10ffff}", "\u{e0001}", "ᚠᛇᚻ"],
];

function text(dice: Dice, most = 200): string {
  const alphabet = dice.pick(alphabets);
  let made = "";
  for (let left = dice.below(most); left > 0; left--)
    made += dice.percent(10) ? dice.pick(dice.pick(alphabets)) : dice.pick(alphabet);
  // Half of a surrogate pair is refused: what comes through is well-formed.
  return made.toWellFormed();
}

function message(dice: Dice): JsonObject {
  const name = dice.percent(30) ? { name: `n${text(dice, 20)}` } : {};
  switch (dice.below(5)) {
    case 0:
      return { role: dice.pick(["system", "developer"]), content: text(dice), ...name };
    case 1:
      return {
        role: "user",
        content: Array.from({ length: 1 + dice.below(4) }, () => ({
          type: "text",
          text: text(dice),
        })),
        ...name,
      };
    case 2:
      return {
        role: "assistant",
        content: dice.percent(50) ? null : text(dice),
        tool_calls: Array.from({ length: 1 + dice.below(3) }, () => ({
          id: `call_${dice.below(1_000)}`,
          type: "function",
          function: { name: "f", arguments: JSON.stringify({ x: text(dice) }) },
        })),
      };
    case 3:
      return { role: "tool", content: text(dice), tool_call_id: text(dice, 30) };
    default:
      return { role: "user", content: text(dice), ...name };
  }
}

function body(dice: Dice): JsonObject {
  const schema = (): JsonObject => ({
    type: "object",
    properties: { [text(dice, 20)]: { type: "string", description: text(dice) } },
  });
  const tools = Array.from({ length: 1 + dice.below(3) }, () => ({
    type: "function",
    function: { name: `t${dice.below(9)}`, description: text(dice), parameters: schema() },
  }));
  const format = {
    type: "json_schema",
    json_schema: { name: "out", schema: schema(), strict: true },
  };
  return {
    model: "m",
    messages: Array.from({ length: 1 + dice.below(6) }, () => message(dice)),
    ...(dice.percent(40) ? { tools } : {}),
    ...(dice.percent(20) ? { response_format: format } : {}),
  };
}

/** Every text in a value, however deep. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

describe(`for ${cases} prompts of every kind (seed ${seed})`, () => {
  for (const [name, count] of Object.entries(tokenizers))
    test(`the bound is not below what ${name} counts`, () => {
      for (let at = 0; at < cases; at++) {
        const request = body(new Dice(seed, at));
        // As it comes: through JSON, where lone surrogates are escapes.
        const { call } = toChatOrder(JSON.parse(JSON.stringify(request)), unlimited);
        const messages = request["messages"] as readonly JsonObject[];
        let tokens = 4 * messages.length;
        for (const { role: _role, tool_calls: calls, ...rest } of messages) {
          for (const part of textsIn(rest)) tokens += count(part);
          if (calls !== undefined) tokens += count(JSON.stringify(calls));
        }
        for (const option of ["tools", "response_format"])
          if (request[option] !== undefined) tokens += count(JSON.stringify(request[option]));
        const most = mostInputTokens(call, 0);
        if (tokens > most) throw new Error(`case ${at}: ${tokens} tokens, bound ${most}`);
      }
    });

  test("the bound covers thoughts that only a vendor of the caller's format gets", () => {
    const thought = "é".repeat(5_000);
    const options = { ...unlimited, modelId: "m", headers: new Headers() };
    const user = { role: "user", content: "Hi" };
    const signed = { type: "thinking", thinking: thought, signature: "c2lnbmVk" };
    const answer = { role: "assistant", content: [signed, { type: "text", text: "Hello" }] };
    const messages = { model: "m", max_tokens: 64, messages: [user, answer, user] };
    expect(mostInputTokens(toMessagesOrder(messages, options).call, 0)).toBeGreaterThan(10_000);
    const summary = [{ type: "summary_text", text: thought }];
    const reasoning = { type: "reasoning", summary, encrypted_content: "c2lnbmVk" };
    const input = [user, reasoning, { role: "assistant", content: "Hello" }, user];
    const context = { ...options, history: [], canStore: false };
    const { call } = toResponseOrder({ model: "m", input }, context);
    expect(mostInputTokens(call, 0)).toBeGreaterThan(10_000);
  });

  test("what an estimate counts is all that the bound has counted", () => {
    for (let at = 0; at < cases; at++) {
      const { call } = toChatOrder(body(new Dice(seed, at)), unlimited);
      const bound = new TextBound();
      const bytes = textsOf(call).texts.reduce((sum, one) => sum + bound.bytesOf(one), 0);
      const tools = call.options["tools"] === undefined ? 0 : 640;
      expect(mostInputTokens(call, 0)).toBe(bytes + 16 * call.messages.length + 64 + tools);
    }
  });

  test("the alphabets make prompts that come near to a token a byte", () => {
    let nearest = 0;
    for (let at = 0; at < 4 * cases; at++) {
      const sample = text(new Dice(seed, at));
      const bytes = Buffer.byteLength(sample);
      if (bytes > 50) nearest = Math.max(nearest, tokenizers.cl100k(sample) / bytes);
    }
    expect(nearest).toBeGreaterThan(0.9);
    expect(nearest).toBeLessThanOrEqual(1);
  });

  test("embeddings and speech hold at least what a tokenizer counts", () => {
    const price = { input: toNano("1000") ?? 0n, audio_output: toNano("3") ?? 0n };
    for (let at = 0; at < cases; at++) {
      const dice = new Dice(seed, at);
      const texts = Array.from({ length: 1 + dice.below(5) }, () => `x${text(dice)}`);
      const { need } = embeddingNeed({ kind: "texts", texts }, price);
      const ids = embeddingNeed({ kind: "tokens", tokens: [[1, 2, 3], [4]] }, price);
      expect(worstCase(ids.need, 0) >= costOf({ input: 4 }, price)).toBe(true);
      const [first = ""] = texts;
      const mostBytes = mostAudioBytes(first, {});
      const speech = speechNeed({ text: first, mostBytes, price });
      for (const count of Object.values(tokenizers)) {
        const tokens = texts.reduce((sum, one) => sum + count(one), 0);
        expect(worstCase(need, 0) >= costOf({ input: tokens }, price)).toBe(true);
        const used = { input: count(first), audio_output: audioTokens(mostBytes) };
        expect(worstCase(speech.need, 0) >= costOf(used, price)).toBe(true);
      }
    }
  });
});

describe("the longest that speech may become", () => {
  const secondsOf = (input: string, most?: number) =>
    mostAudioBytes(input, { maxAudioSeconds: most }) / 48_000;
  test("is ten seconds and a quarter for each character, in whole seconds", () => {
    expect(secondsOf("")).toBe(10);
    expect(secondsOf("a")).toBe(11);
    expect(secondsOf("abcd")).toBe(11);
    expect(secondsOf("abcde")).toBe(12);
    expect(secondsOf("x".repeat(5_000))).toBe(1_260);
  });
  test("counts characters, not halves of them", () => {
    expect(secondsOf("🫠🫠🫠🫠")).toBe(11);
  });
  test("is never more than the catalogue says", () => {
    expect(secondsOf("x".repeat(5_000), 30)).toBe(30);
    expect(secondsOf("x", 30)).toBe(11);
  });
});

describe("a hold is not below", () => {
  const boundOf = (content: unknown) =>
    mostInputTokens(
      { messages: [{ role: "user", content: content as string }], maxOutputTokens: 1, options: {} },
      100,
    );

  test("what a tokenizer makes of characters that grow when they are normalised", () => {
    for (const [character, bytes] of [
      ["\u{1D160}", 12],
      ["\uFDFA", 33],
    ] as const)
      expect(boundOf(character.repeat(100))).toBeGreaterThanOrEqual(100 * bytes);
  });

  test("a document that is sent as if it were an image", () => {
    const url = `data:application/pdf;base64,${"A".repeat(10_000)}`;
    expect(boundOf([{ type: "image_url", image_url: { url } }])).toBeGreaterThan(10_000);
    const image = { url: `data:image/png;base64,${"A".repeat(10_000)}` };
    expect(boundOf([{ type: "image_url", image_url: image }])).toBeLessThan(1_000);
  });
});
