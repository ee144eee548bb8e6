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
import type { Driver, Question, Turn } from "../driver.ts";
import { chatDriver } from "../drivers/chat.ts";
import { messagesDriver } from "../drivers/messages.ts";
import { responsesDriver } from "../drivers/responses.ts";
import { type Form, forms, post, reply, Stage } from "../stage.ts";
import { type Pair, pairsOf } from "../vendors.ts";
import { canonical, inDialect, saidIn, toRequest, withoutPlace } from "./compared.ts";
import { type PastQuestion, randomExtras, randomQuestion } from "./random.ts";
import { randomAnswer, type Spoken, toReply } from "./spoken.ts";

const seed = 20_261_118;
const cases = 40;
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

async function heardBy(pair: Pair, form: Form, answer: Spoken, cuts: readonly number[] = []) {
  const { driver, vendor } = pair;
  const recording = framed(toReply(answer, form === "streamed"));
  stage.answer(pair, inPieces(recording, cuts));
  const question = { turns: [{ by: "user", content: ["Say hello"] }], thinks: true } as const;
  const stream = form === "streamed" ? { stream: true } : {};
  const body = driver.toBody({ ...question, ...stream, cap: 8_192, model: vendor.name });
  const response = await post({ stage, driver, key: stage.gateway.key, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return form === "whole" ? driver.fromReply(JSON.parse(text)) : driver.fromStream(text);
}

/** Answers of before are heard first, so that they come back as the dialect had them. */
async function withPast(pair: Pair, { turns, ...rest }: PastQuestion): Promise<Question> {
  const past: Turn[] = [];
  for (const [at, turn] of turns.entries()) {
    if (!("heard" in turn)) past.push(turn);
    else {
      const { echo } = await heardBy(pair, at % 2 === 0 ? "whole" : "streamed", turn.heard);
      past.push({ by: "assistant", echo });
    }
  }
  return { ...rest, turns: past };
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
          const request = async (by: Pair) =>
            sentBy(by, toRequest(by.driver, await withPast(by, question), extras));
          const expected = await request(chat);
          expect(canonical(await request(pair))).toEqual(canonical(expected));
        });
      }
    });

    for (const form of forms)
      test(`${form}: ${cases} replies match those of chat (seed ${seed})`, async () => {
        for (let number = 0; number < cases; number++) {
          const dice = new Dice(seed, number);
          const answer = randomAnswer(dice);
          const size = framed(toReply(answer, form === "streamed")).bytes.length;
          const cuts = dice.list(dice.below(8), () => dice.below(size)).toSorted((a, b) => a - b);
          await inCase(number, { answer, cuts }, async () => {
            const expected = await heardBy(chat, form, answer, cuts);
            const heard = await heardBy(pair, form, answer, cuts);
            expect(inDialect(driver, saidIn(heard))).toEqual(inDialect(driver, saidIn(expected)));
            expect(heard.usage).toMatchObject(
              sharedCounts(pair, expected.usage ?? { input: 0, output: 0 }),
            );
          });
        }
      });
  });
