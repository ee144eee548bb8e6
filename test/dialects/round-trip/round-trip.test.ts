/**
 * Chat, a dialect, and chat again: a server of the chat-completions format gets the same request
 * whether the question came as chat or in another dialect, and a caller of that dialect hears what a
 * caller of chat hears. Every field that both have is kept.
 */

import { describe, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import { inPieces } from "../../fake/script.ts";
import { Dice } from "../../fuzz/cases/dice.ts";
import { framed } from "../../providers/stage.ts";
import { sharedCounts } from "../cases/words.ts";
import type { Driver } from "../driver.ts";
import { chatDriver } from "../drivers/chat.ts";
import { messagesDriver } from "../drivers/messages.ts";
import { responsesDriver } from "../drivers/responses.ts";
import { type Form, forms, post, reply, Stage } from "../stage.ts";
import { type Pair, pairsOf } from "../vendors.ts";
import { canonical, toRequest, withoutPlace } from "./compared.ts";
import { randomAnswer, randomExtras, randomQuestion } from "./random.ts";

const seed = 20_261_118;
const cases = 60;
const stage = new Stage();
const chat = pairOf(chatDriver);

function pairOf(driver: Driver): Pair {
  const [pair] = pairsOf(driver).filter(({ vendor }) => vendor.name === "compatible");
  if (pair === undefined) throw new Error(`nobody serves ${driver.name}`);
  return pair;
}

/** Names the case, so that it can be run again. */
async function inCase(number: number, made: unknown, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(`seed ${seed}, case ${number}: ${JSON.stringify(made).slice(0, 4_000)}`);
    throw error;
  }
}

/** The body that the vendor gets. */
async function sentBy(pair: Pair, body: Record<string, unknown>): Promise<JsonObject> {
  const usage = { input: 9, output: 1 };
  stage.answer(pair, reply(pair, "whole", { pieces: [{ text: "Hi" }], finish: "stop", usage }));
  const { key } = stage.gateway;
  const response = await post({ stage, driver: pair.driver, key, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const sent = stage.calls.at(-1)?.json;
  if (!isJsonObject(sent)) throw new Error("the vendor was not asked");
  return sent;
}

async function heardBy(pair: Pair, form: Form) {
  const { driver, vendor } = pair;
  const question = { turns: [{ by: "user", content: ["Say hello"] }] } as const;
  const stream = form === "streamed" ? { stream: true } : {};
  const body = driver.toBody({ ...question, ...stream, cap: 8_192, model: vendor.name });
  const response = await post({ stage, driver, key: stage.gateway.key, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return form === "whole" ? driver.fromReply(JSON.parse(text)) : driver.fromStream(text);
}

for (const driver of [responsesDriver, messagesDriver])
  describe(`chat → ${driver.name} → chat`, () => {
    const pair = pairOf(driver);
    test(`${cases} requests reach the vendor as chat does (seed ${seed})`, async () => {
      for (let number = 0; number < cases; number++) {
        const dice = new Dice(seed, number);
        const asked = { ...randomQuestion(dice), model: pair.vendor.name };
        const { question, extras } = withoutPlace(
          driver,
          // The format has no default.
          driver.name === "messages" ? { cap: 100, ...asked } : asked,
          randomExtras(dice, asked.tools !== undefined),
        );
        await inCase(number, { question, extras }, async () => {
          const expected = await sentBy(chat, toRequest(chatDriver, question, extras));
          const sent = await sentBy(pair, toRequest(driver, question, extras));
          expect(canonical(sent)).toEqual(canonical(expected));
        });
      }
    });

    for (const form of forms)
      test(`${form}: ${cases} replies match those of chat (seed ${seed})`, async () => {
        for (let number = 0; number < cases; number++) {
          const dice = new Dice(seed, number);
          const answer = randomAnswer(dice);
          const recording = framed(reply(chat, form, answer));
          const size = recording.bytes.length;
          const cuts = dice.list(dice.below(8), () => dice.below(size)).toSorted((a, b) => a - b);
          await inCase(number, { answer, cuts }, async () => {
            stage.answer(chat, inPieces(recording, cuts));
            const expected = await heardBy(chat, form);
            const heard = await heardBy(pair, form);
            const { text, reasoning, calls, finish } = expected;
            expect({
              text: heard.text,
              reasoning: heard.reasoning,
              calls: heard.calls,
              finish: heard.finish,
            }).toEqual({ text, reasoning, calls, finish });
            expect(heard.usage).toMatchObject(
              sharedCounts(pair, expected.usage ?? { input: 0, output: 0 }),
            );
          });
        }
      });
  });
