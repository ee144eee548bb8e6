/** When bytes move, in every dialect: words at once, signs of life, an end to every wait. */

import { describe, expect, test } from "bun:test";
import { cutAfter, pausedAfter, type Step } from "../fake/script.ts";
import { fullCounts, plainAnswer, plainText } from "../providers/calls.ts";
import { expectLetGo, framed, packetsUntil } from "../providers/stage.ts";
import { BodyReader } from "../replies/event-stream.ts";
import { writesOfReply } from "../replies/http-writes.ts";
import { leaver } from "../setup/money-home.ts";
import { type Caller, forms, plainQuestion, reply, Stage } from "./stage.ts";
import { type Pair, sceneName, scenes } from "./vendors.ts";

/** The packet of a stream that holds its first words. */
const firstWords = "Grüße";
const saidBy = ({ wire }: Pair) => wire.streamed(plainAnswer(wire.can));

describe("words", () => {
  const stage = new Stage();
  for (const pair of scenes)
    describe(sceneName(pair), () => {
      const { driver, wire } = pair;
      test("each reaches the caller before the upstream sends the next", async () => {
        const words = Array.from({ length: 12 }, (_, at) => `<word ${at}>`);
        const pieces = words.map((text) => ({ text }));
        const said = wire.streamed({ pieces, finish: "stop", usage: fullCounts(wire.can) });
        const { head, parts, end } = framed(said);
        const gates = words.map(() => Promise.withResolvers<void>());
        const steps: Step[] = [{ send: head }];
        for (const [at, part] of parts.entries()) {
          steps.push({ send: part });
          const word = words.findIndex((one) => packetsUntil(said, one) === at + 1);
          const gate = gates[word];
          if (gate !== undefined) steps.push({ until: gate.promise });
        }
        stage.answer(pair, [...steps, { send: end }]);
        const caller = await stage.caller(pair);
        const body = new BodyReader(await caller.send({}, "streamed"));
        for (const [at, word] of words.entries()) {
          await body.until(word);
          expect(body.text).not.toContain(words[at + 1] ?? driver.endMark);
          gates[at]?.resolve();
        }
        expect(driver.fromStream(await body.rest())).toMatchObject({
          text: words.join(""),
          isDone: true,
        });
      });

      test("the end of the answer, its usage and the end of the stream leave in one write", async () => {
        const caller = await stage.caller(pair);
        const writes = await writesOf(stage, caller);
        const last = writes.at(-1) ?? "";
        expect(last).toContain(driver.endMark);
        const before = writes.slice(0, -1).join("");
        expect(before).not.toContain(driver.endMark);
        for (const mark of ['"finish_reason":"stop"', '"stop_reason":"end_turn"'])
          expect(before).not.toContain(mark);
        expect(driver.fromStream(writes.join(""))).toMatchObject({ text: plainText, isDone: true });
      });

      test("a reply that arrives byte by byte is the same", async () => {
        const caller = await stage.caller(pair);
        const { bytes } = framed(saidBy(pair));
        stage.answer(pair, [{ send: bytes, everyByte: true }]);
        expect(await caller.hear({}, "streamed")).toMatchObject({ text: plainText });
        stage.answer(pair, framed(saidBy(pair), { framing: "close" }));
        expect(await caller.hear({}, "streamed")).toMatchObject({ text: plainText });
        const whole = framed(wire.whole(plainAnswer(wire.can)));
        stage.answer(pair, [{ send: whole.bytes, everyByte: true }]);
        expect(await caller.hear({}, "whole")).toMatchObject({ text: plainText });
        const charged = (await caller.payer.settled(3)).map((receipt) => receipt.charged);
        expect(new Set(charged).size).toBe(1);
      });

      test("a caller who reads the whole stream aborts nothing, and the connection is reused", async () => {
        const caller = await stage.caller(pair);
        stage.answer(pair, saidBy(pair));
        const reused = () =>
          stage.calls.length - new Set(stage.calls.map((one) => one.connection)).size;
        // A connection rests for a few calls.
        for (let round = 0; round < 200 && reused() === 0; round++)
          await caller.hear({}, "streamed");
        for (const { abortedByClient } of stage.calls) expect(abortedByClient).toBe(false);
        expect(reused()).toBe(1);
      });
    });
});

describe("an upstream that sends nothing at first", () => {
  const stage = new Stage({ environment: { SVC_FIRST_BYTE_S: "0.05" } });
  for (const pair of scenes)
    for (const form of forms)
      test(`${sceneName(pair)}, ${form}: is a 504, and the connection is closed`, async () => {
        const caller = await stage.caller(pair);
        const recording = framed(reply(pair, form, plainAnswer(pair.wire.can)));
        for (const silence of [
          [{ hang: true } as const],
          cutAfter({ recording, parts: 0, by: "hang" }),
        ]) {
          stage.answer(pair, silence);
          const arrived = stage.nextCall();
          expect(await caller.refusal({}, form)).toMatchObject({
            status: 504,
            code: "upstream_timeout",
          });
          const request = await arrived;
          await request.closed;
          expect(request.abortedByClient).toBe(true);
        }
        for (const { charged } of await caller.payer.settled(2)) expect(charged).toBe(0n);
      });
});

describe("an upstream that stops sending in the middle", () => {
  const stage = new Stage({ environment: { SVC_IDLE_S: "0.5" } });
  for (const pair of scenes)
    test(`${sceneName(pair)}: is an error for the caller, and the connection is closed`, async () => {
      const caller = await stage.caller(pair);
      const said = saidBy(pair);
      const parts = packetsUntil(said, firstWords);
      stage.answer(pair, cutAfter({ recording: framed(said), parts, by: "hang" }));
      const arrived = stage.nextCall();
      const heard = await caller.listen({});
      expect(heard).toMatchObject({ text: firstWords, isDone: false });
      expect(heard.error?.code).toBe("upstream_timeout");
      await expectLetGo(arrived);
      expect((await caller.payer.receipt()).outcome).toBe("upstream_timeout");
    });
});

describe("keep-alives are sent", () => {
  const stage = new Stage({ environment: { SVC_KEEP_ALIVE_S: "0.05" } });
  for (const pair of scenes)
    describe(sceneName(pair), () => {
      const { driver } = pair;
      test("before the first token, and the answer follows", async () => {
        const gate = Promise.withResolvers<void>();
        stage.answer(pair, [{ until: gate.promise }, { send: framed(saidBy(pair)).bytes }]);
        const caller = await stage.caller(pair);
        const body = new BodyReader(await caller.send({}, "streamed"));
        await twice(body, driver.keepAlive);
        gate.resolve();
        const heard = driver.fromStream(await body.rest());
        expect(heard).toMatchObject({ text: plainText, isDone: true });
        expect(heard.keepAlives).toBeGreaterThanOrEqual(2);
      });

      test("between tokens", async () => {
        const gate = Promise.withResolvers<void>();
        const said = saidBy(pair);
        const parts = packetsUntil(said, firstWords);
        stage.answer(pair, pausedAfter({ recording: framed(said), parts, until: gate.promise }));
        const caller = await stage.caller(pair);
        const body = new BodyReader(await caller.send({}, "streamed"));
        await body.until(firstWords);
        await twice(body, driver.keepAlive);
        gate.resolve();
        expect(driver.fromStream(await body.rest())).toMatchObject({
          text: plainText,
          isDone: true,
        });
      });

      test("a failure after one is an error in the stream, because the status was sent", async () => {
        const gate = Promise.withResolvers<void>();
        stage.answer(pair, [{ until: gate.promise }, { reset: true }]);
        const caller = await stage.caller(pair);
        const body = new BodyReader(await caller.send({}, "streamed"));
        await twice(body, driver.keepAlive);
        gate.resolve();
        const heard = driver.fromStream(await body.rest());
        expect(heard).toMatchObject({ text: "", isDone: false });
        expect(heard.error?.code).toBe("upstream_error");
        expect((await caller.payer.receipt()).charged).toBe(0n);
      });

      test("a caller who disconnects after one aborts the upstream", async () => {
        stage.answer(pair, [{ hang: true }]);
        const arrived = stage.nextCall();
        const caller = await stage.caller(pair);
        const { signal, leave } = leaver();
        const call = caller.send({}, "streamed", { signal });
        await new BodyReader(await call).until(driver.keepAlive);
        // On a busy machine the first one is sent before the upstream is asked.
        const request = await arrived;
        await leave(call);
        await expectLetGo(request);
        expect((await caller.payer.receipt()).outcome).toBe("left");
      });
    });
});

/** Reads on until two more of these have come: a format may begin with one. */
async function twice(body: BodyReader, keepAlive: string): Promise<void> {
  const count = () => body.text.split(keepAlive).length;
  const known = count();
  while (count() < known + 2) await body.more();
}

/** The HTTP chunks of a streamed reply, one for each write; between two packets of the upstream, other calls pass. */
async function writesOf(stage: Stage, caller: Caller): Promise<readonly string[]> {
  const { pair } = caller;
  const { head, parts, end } = framed(saidBy(pair));
  const gates = parts.map(() => Promise.withResolvers<void>());
  const steps = parts.flatMap((part, at): Step[] => [
    { until: gates[at]?.promise ?? Promise.resolve() },
    { send: part },
  ]);
  const whole = pair.wire.whole(plainAnswer(pair.wire.can));
  stage.answer(pair, [{ send: head }, ...steps, { send: end }], whole);
  const arrived = stage.nextCall();
  const { driver, vendor } = pair;
  const writes = writesOfReply(
    `${stage.gateway.baseUrl}${driver.path}`,
    driver.headers(caller.payer.key),
    driver.toBody({ ...plainQuestion, stream: true, model: vendor.name }),
  );
  await arrived;
  for (const gate of gates) {
    gate.resolve();
    for (let round = 0; round < 2; round++) await caller.hear({}, "whole");
  }
  return writes;
}
