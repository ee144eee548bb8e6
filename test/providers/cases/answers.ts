import { describe, expect, test } from "bun:test";
import { type FinishReason, finishReasons } from "../../../src/call/chat.ts";
import { pausedAfter } from "../../fake/script.ts";
import {
  ask,
  clockCall,
  clockTool,
  fullCounts,
  plainAnswer,
  plainCall,
  plainText,
  toolAnswer,
  usageOf,
  weatherCall,
  weatherTool,
} from "../calls.ts";
import type { Answer } from "../dialect.ts";
import { Ear, framed, type Heard, packetsUntil, type Stage } from "../stage.ts";

export function answerCases(stage: Stage): void {
  describe("what the caller hears", () => {
    textCases(stage);
    finishCases(stage);
    usageCases(stage);
    if (stage.dialect.can.tools) callCases(stage);
    if (stage.dialect.can.reasoning) reasoningCases(stage);
  });
}

const forms = ["whole", "streamed"] as const;

async function hear(stage: Stage, form: (typeof forms)[number], answer: Answer): Promise<Heard> {
  stage.answer(stage.dialect[form](answer));
  const hasCalls = answer.pieces.some((piece) => "call" in piece);
  const call = hasCalls ? ask("Weather?", { tools: [weatherTool, clockTool] }) : plainCall;
  return form === "whole" ? stage.chat(call) : stage.hearStream(call);
}

function textCases(stage: Stage): void {
  const { can } = stage.dialect;
  for (const form of forms) {
    test(`${form}: the text, the end and the usage`, async () => {
      expect(await hear(stage, form, plainAnswer(can))).toEqual({
        text: plainText,
        reasoning: "",
        calls: [],
        ids: [],
        finish: "stop",
        usage: usageOf(fullCounts(can)),
        done: true,
      });
    });

    test(`${form}: an answer of no words is one`, async () => {
      const usage = { ...fullCounts(can), output: 5 };
      const heard = await hear(stage, form, { pieces: [], finish: "stop", usage });
      expect(heard).toMatchObject({ text: "", calls: [], finish: "stop", done: true });
    });

    test(`${form}: blanks and line ends are kept`, async () => {
      const texts = [" ", "\n\n", "  data: x\r\n", "\t", "\u2028", "end "];
      const pieces = texts.map((text) => ({ text }));
      const heard = await hear(stage, form, { pieces, finish: "stop", usage: fullCounts(can) });
      expect(heard.text).toBe(texts.join(""));
    });

    test(`${form}: the upstream's acceptance is told once, before the first word`, async () => {
      const { dialect } = stage;
      stage.answer(dialect[form](plainAnswer(can)));
      let accepted = 0;
      const onAccepted = () => void (accepted += 1);
      if (form === "whole") await stage.chat(plainCall, { onAccepted });
      else {
        const stream = await stage.streamChat(plainCall, { onAccepted });
        await stream.read();
        expect(accepted).toBe(1);
        stream.cancel();
      }
      expect(accepted).toBe(1);
    });
  }

  test("a stream gives its words as they come, not at its end", async () => {
    const reply = stage.dialect.streamed(plainAnswer(can));
    const heldBack = Promise.withResolvers<void>();
    const parts = packetsUntil(reply, "Grüße");
    stage.answer(pausedAfter({ recording: framed(reply), parts, until: heldBack.promise }));
    const stream = await stage.streamChat(plainCall);
    const ear = new Ear();
    await ear.hearText(stream);
    expect(ear.heard()).toMatchObject({ text: "Grüße", done: false });
    heldBack.resolve();
    await ear.drain(stream);
    expect(ear.heard()).toMatchObject({ text: plainText, done: true });
  });
}

function finishCases(stage: Stage): void {
  const { dialect } = stage;
  const pieces = [{ text: "Once upon a" }];
  const usage = fullCounts(dialect.can);
  for (const form of forms) {
    for (const finish of finishReasons)
      if (finish !== "tool_calls")
        test(`${form}: it ends for the reason ${finish}`, async () => {
          const heard = await hear(stage, form, { pieces, finish, usage });
          expect(heard).toMatchObject({ text: "Once upon a", finish, done: true });
        });

    const words: readonly (readonly [string, FinishReason])[] = Object.entries(dialect.finishWords);
    for (const [finishWord, finish] of words)
      test(`${form}: an end that the vendor calls ${finishWord} is ${finish}`, async () => {
        const calls = finish === "tool_calls" ? [{ call: weatherCall }] : pieces;
        const heard = await hear(stage, form, { pieces: calls, finish, finishWord, usage });
        expect(heard).toMatchObject({ finish, done: true });
      });
  }
}

function usageCases(stage: Stage): void {
  const { dialect } = stage;
  for (const form of forms)
    test(`${form}: usage that the vendor does not tell is unknown, never 0`, async () => {
      const heard = await hear(stage, form, { pieces: [{ text: "Hi" }], finish: "stop" });
      expect(heard.usage).toBeUndefined();
      expect(heard.done).toBe(true);
    });

  const noCounts = {
    "beyond all measure": { input: 1e15, output: 5 },
    "below 0": { input: -3, output: -4 },
    "of parts of a token": { input: 1.5, output: 2.5 },
  };
  for (const form of forms)
    for (const [name, usage] of Object.entries(noCounts))
      test(`${form}: a count ${name} is none`, async () => {
        const heard = await hear(stage, form, { pieces: [{ text: "Hi" }], finish: "stop", usage });
        expect(heard).toMatchObject({ text: "Hi", finish: "stop", done: true });
        expect(heard.usage).toBeUndefined();
      });

  for (const { name, whole, streamed, expected } of dialect.usages) {
    if (whole !== undefined)
      test(`whole: usage ${name}`, async () => {
        stage.answer(whole);
        expect((await stage.chat(plainCall)).usage).toEqual(expected);
      });
    if (streamed !== undefined)
      test(`streamed: usage ${name}`, async () => {
        stage.answer(streamed);
        const heard = await stage.hearStream(plainCall);
        expect(heard.usage).toEqual(expected);
        expect(heard.done).toBe(true);
      });
  }
}

function callCases(stage: Stage): void {
  const { can } = stage.dialect;
  const weather = { name: "get_weather", arguments: { city: "Zürich", days: 2 } };
  const clock = { name: "get_time", arguments: { city: "Oslo" } };
  for (const form of forms) {
    test(`${form}: a tool call has its name, its arguments and an id`, async () => {
      const heard = await hear(stage, form, toolAnswer(can, [weatherCall]));
      expect(heard).toMatchObject({ calls: [weather], finish: "tool_calls", done: true });
      expect(heard.usage).toEqual(usageOf(fullCounts(can)));
    });

    test(`${form}: words before a tool call are kept`, async () => {
      const pieces = [{ text: "I look." }, { call: clockCall }];
      const heard = await hear(stage, form, {
        pieces,
        finish: "tool_calls",
        usage: fullCounts(can),
      });
      expect(heard).toMatchObject({ text: "I look.", calls: [clock], finish: "tool_calls" });
    });

    test(`${form}: a call without arguments has arguments that can be read`, async () => {
      const call = { id: "call_n", name: "get_time", pieces: ["{}"] };
      const heard = await hear(stage, form, toolAnswer(can, [call]));
      expect(heard.calls).toEqual([{ name: "get_time", arguments: {} }]);
    });

    if (!can.parallelTools) continue;
    test(`${form}: calls of several tools at once stay apart, each with an id of its own`, async () => {
      const again = { ...weatherCall, id: "call_w3", pieces: ['{"city":"Bern","days":1}'] };
      const heard = await hear(stage, form, toolAnswer(can, [weatherCall, clockCall, again]));
      const third = { name: "get_weather", arguments: { city: "Bern", days: 1 } };
      expect(heard).toMatchObject({ calls: [weather, clock, third], finish: "tool_calls" });
      expect(new Set(heard.ids).size).toBe(3);
    });
  }
}

function reasoningCases(stage: Stage): void {
  for (const form of forms)
    test(`${form}: reasoning is told apart from the answer`, async () => {
      const heard = await hear(stage, form, {
        pieces: [{ reasoning: "Six times " }, { reasoning: "seven." }, { text: "42" }],
        finish: "stop",
        usage: fullCounts(stage.dialect.can),
      });
      expect(heard).toMatchObject({ text: "42", reasoning: "Six times seven.", done: true });
    });
}
