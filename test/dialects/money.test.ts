/** Money is the same in every dialect: the hold, the cap, the cut, what is charged and to whom. */

import { beforeAll, describe, expect, test } from "bun:test";
import { toUsd } from "../../src/base/money.ts";
import { pausedAfter, type Step } from "../fake/script.ts";
import type { VendorReply } from "../providers/dialect.ts";
import { expectLetGo, framed, packetsUntil } from "../providers/stage.ts";
import { BodyReader } from "../replies/event-stream.ts";
import { countTokens, helloMost, helloTokens, leaver } from "../setup/money-home.ts";
import { untilCounted } from "./cases/counting.ts";
import { costOf } from "./cases/words.ts";
import { forms, reply, Stage } from "./stage.ts";
import { type Pair, prices, sceneName, scenes, twinOf } from "./vendors.ts";

// Calls of other files would teach the gateway which models hide their thoughts.
const stage = new Stage({});

beforeAll(() => untilCounted(stage));

/** The dearest class of input counts for the worst case. */
const worst = (cap: number) => BigInt(helloMost) * prices.written + BigInt(cap) * prices.output;
const cap = 20;
/** Ten characters, and more than one token. */
const word = " marmalade";
const lastWord = " marmalad!";

for (const pair of scenes)
  describe(sceneName(pair), () => {
    holdCases(pair);
    cutCases(pair);
    chargeCases(pair);
    leavingCases(pair);
  });

function holdCases(pair: Pair): void {
  const { wire, driver } = pair;
  const answer = {
    pieces: [{ text: "Hi" }],
    finish: "stop",
    usage: { input: 9, output: 2 },
  } as const;
  for (const form of forms) {
    test(`${form}: the worst case is held while the call runs, and the cap goes upstream`, async () => {
      const caller = await stage.caller(pair);
      const gate = Promise.withResolvers<void>();
      const recording = framed(reply(pair, form, answer));
      stage.answer(pair, pausedAfter({ recording, parts: 0, until: gate.promise }));
      const arrived = stage.nextCall();
      const heard = caller.hear({ cap }, form);
      expect(wire.asked(await arrived).cap).toBe(cap);
      const { held } = await caller.payer.standing();
      gate.resolve();
      await heard;
      const receipt = await caller.payer.receipt();
      expect(receipt.hold).toBe(held);
      expect(receipt.charged).toBe(costOf(answer.usage));
      if (driver.name === "completions") expect(held).toBeGreaterThan(BigInt(cap) * prices.output);
      else expect(held).toBe(worst(cap));
    });

    test(`${form}: one nano-USD short of the worst case is 402: no upstream call, no receipt`, async () => {
      const probe = await stage.caller(pair);
      stage.answer(pair, reply(pair, form, answer));
      await probe.hear({ cap }, form);
      const { hold } = await probe.payer.receipt();
      const caller = await stage.caller(pair, { credit: hold - 1n });
      const asked = stage.calls.length;
      const refusal = await caller.refusal({ cap }, form);
      expect(refusal).toMatchObject({ status: 402, code: "insufficient_quota" });
      expect(stage.calls.length).toBe(asked);
      expect(await caller.payer.receipts()).toEqual([]);
      const budgeted = await stage.caller(pair, { budget: toUsd(hold - 1n) });
      expect(await budgeted.refusal({ cap }, form)).toMatchObject({ code: "budget_exceeded" });
      const covered = await stage.caller(pair, { credit: hold });
      await covered.hear({ cap }, form);
      await covered.payer.settled(1);
    });
  }

  // In Messages a request always names its cap, and completions have a small one of their own.
  if (driver.name === "messages" || driver.name === "completions") return;
  test("a caller who sets no cap gets a shorter answer when the balance is low, and a header shows it", async () => {
    const caller = await stage.caller(pair, { credit: 10_000_000n });
    stage.answer(pair, reply(pair, "whole", answer));
    const response = await caller.send({}, "whole");
    await response.text();
    const lowered = Number(response.headers.get("x-svc-max-tokens"));
    expect(lowered).toBeGreaterThan(0);
    expect(lowered).toBeLessThan(8_192);
    expect(caller.asked().cap).toBe(lowered);
  });
}

/** The stream up to these words, then more of it when they were read, and then silence. */
function inTwoParts(said: VendorReply, words: string, more: number) {
  const { head, parts } = framed({ ...said });
  const first = packetsUntil(said, words);
  const gate = Promise.withResolvers<void>();
  const steps: Step[] = [
    { send: Buffer.concat([head, ...parts.slice(0, first)]) },
    { until: gate.promise },
    { send: Buffer.concat(parts.slice(first, first + more)) },
    { hang: true },
  ];
  return { steps, goOn: gate.resolve };
}

function cutCases(pair: Pair): void {
  const { driver, wire } = pair;
  const many = (count: number) => [
    ...Array.from({ length: cap - 1 }, () => ({ text: word })),
    { text: lastWord },
    ...Array.from({ length: count }, () => ({ text: word })),
  ];

  async function cutAt(said: VendorReply, words: string) {
    const caller = await stage.caller(pair);
    const { steps, goOn } = inTwoParts(said, words, 1);
    stage.answer(pair, steps);
    const arrived = stage.nextCall();
    const body = new BodyReader(await caller.send({ cap, model: twinOf(pair.vendor) }, "streamed"));
    await body.until(words);
    goOn();
    const heard = driver.fromStream(await body.rest());
    await expectLetGo(arrived);
    expect(heard).toMatchObject({ finish: "length", isDone: true, error: undefined });
    const receipt = await caller.payer.receipt();
    expect(receipt.outcome).toBe("ok");
    expect(receipt.units.output).toBe(cap);
    expect(receipt.charged <= receipt.hold).toBe(true);
    expect(heard.usage?.output).toBe(cap);
    return heard;
  }

  test("a stream with more chunks than the cap has tokens is cut, ends as cut, and costs the cap", async () => {
    const { text } = await cutAt(wire.streamed({ pieces: many(3), finish: "stop" }), lastWord);
    expect(text).toStartWith(word.repeat(cap - 1) + lastWord);
  });

  test("a few huge chunks are cut as well", async () => {
    const pieces = [{ text: "a!" }, { text: "x".repeat(32 * cap - 1) }, { text: "y" }];
    const { text } = await cutAt(wire.streamed({ pieces, finish: "stop" }), "a!");
    expect(text).not.toContain("y");
  });

  test("a stream with as many chunks as the cap has tokens is not cut", async () => {
    const caller = await stage.caller(pair);
    const usage = { input: 9, output: cap };
    stage.answer(pair, wire.streamed({ pieces: many(0), finish: "stop", usage }));
    expect(await caller.hear({ cap }, "streamed")).toMatchObject({ finish: "stop" });
    expect((await caller.payer.receipt()).charged).toBe(costOf(usage));
  });
}

function chargeCases(pair: Pair): void {
  for (const form of forms)
    test(`${form}: usage beyond the worst case is the operator's loss`, async () => {
      const caller = await stage.caller(pair);
      const usage = { input: helloMost, output: 400 };
      stage.answer(pair, reply(pair, form, { pieces: [{ text: "Hi" }], finish: "stop", usage }));
      await caller.hear({ cap }, form);
      const { hold, charged, cost } = await caller.payer.receipt();
      expect(cost).toBe(costOf(usage));
      expect(charged).toBe(hold);
      expect((await caller.payer.standing()).shortfall).toBe(cost - hold);
    });

  test("text without reported usage is counted exactly", async () => {
    for (const form of forms) {
      const caller = await stage.caller(pair);
      const text = "one two three four five six seven";
      stage.answer(pair, reply(pair, form, { pieces: [{ text }], finish: "stop" }));
      const { usage } = await caller.hear({}, form);
      const { units, estimated } = await caller.payer.receipt();
      expect(usage).toMatchObject({ input: units.input ?? 0, output: units.output ?? 0 });
      expect({ output: units.output, estimated }).toEqual({
        output: countTokens(text),
        estimated: true,
      });
      expect(units.input).toBeGreaterThanOrEqual(countTokens("Say hello"));
      expect(units.input).toBeLessThanOrEqual(helloTokens);
    }
  });

  if (pair.driver.can.thinking)
    test("reasoning is counted by its text, and only once", async () => {
      for (const form of forms) {
        const caller = await stage.caller(pair);
        const pieces = [{ reasoning: "First I count." }, { text: "Seven" }];
        stage.answer(pair, reply(pair, form, { pieces, finish: "stop" }));
        await caller.hear({ thinks: true, cap: 4_096 }, form);
        const { output = 0 } = (await caller.payer.receipt()).units;
        const counted = countTokens("First I count.") + countTokens("Seven");
        expect(Math.abs(output - counted)).toBeLessThanOrEqual(2);
      }
    });
}

function leavingCases(pair: Pair): void {
  const { wire } = pair;
  const words = Array.from({ length: 12 }, (_, at) => ` word${at}`);
  const pieces = words.map((text) => ({ text }));

  test("a caller who disconnects in the middle pays for what was produced until then", async () => {
    const caller = await stage.caller(pair);
    const said = wire.streamed({ pieces, finish: "stop" });
    const { steps } = inTwoParts(said, " word11", 0);
    stage.answer(pair, steps);
    const { signal, leave } = leaver();
    const call = caller.send({ cap: 100, model: twinOf(pair.vendor) }, "streamed", { signal });
    await new BodyReader(await call).until(" word11");
    await leave(call);
    const { outcome, units, charged, estimated } = await caller.payer.receipt();
    expect({ outcome, estimated }).toEqual({ outcome: "left", estimated: true });
    expect(units.output).toBe(countTokens(words.join("")));
    const { input = 0, output = 0 } = units;
    expect(charged).toBe(costOf({ input, output }));
  });

  if (!wire.can.reasoningTokens || !pair.driver.can.thinking) return;
  test("a model with hidden reasoning is read to the end for its usage after the caller disconnects", async () => {
    const caller = await stage.caller(pair);
    const usage = { input: 10, output: 8_000, reasoning: 7_900 };
    const said = wire.streamed({ pieces, finish: "stop", usage });
    stage.answer(pair, said);
    await caller.hear({ cap: 8_192 }, "streamed");
    const gate = Promise.withResolvers<void>();
    const parts = packetsUntil(said, " word11");
    stage.answer(pair, pausedAfter({ recording: framed(said), parts, until: gate.promise }));
    const arrived = stage.nextCall();
    const { signal, leave } = leaver();
    const call = caller.send({ cap: 8_192 }, "streamed", { signal });
    await new BodyReader(await call).until(" word11");
    await leave(call);
    await fetch(`${stage.gateway.origin}/healthz`);
    expect((await caller.payer.standing()).held > 0n).toBe(true);
    gate.resolve();
    const [, left] = await caller.payer.settled(2);
    expect(left).toMatchObject({ outcome: "left", charged: costOf(usage), estimated: false });
    expect((await arrived).abortedByClient).toBe(false);
  });
}
