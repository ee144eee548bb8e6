/** In every dialect, the last bytes of a reply leave only when its receipt is on the disk. */

import { afterEach, expect, test } from "bun:test";
import { pausedAfter } from "../fake/script.ts";
import { plainAnswer, plainText } from "../providers/calls.ts";
import { framed, packetsUntil } from "../providers/stage.ts";
import { BodyReader } from "../replies/event-stream.ts";
import { aroundCommits, CommitGate } from "../setup/commits.ts";
import { waitUntil } from "../setup/money-home.ts";
import { reply, Stage } from "./stage.ts";
import { sceneName, scenes } from "./vendors.ts";

const gate = new CommitGate();
const stage = new Stage({ open: aroundCommits(gate.wrap) });
afterEach(() => gate.open());

const committing = () => waitUntil("the commit", () => gate.waiting === 1);

/** Long enough for a whole other exchange. */
async function othersAreAnswered(): Promise<void> {
  for (let count = 0; count < 5; count++)
    expect((await fetch(`${stage.gateway.origin}/healthz`)).status).toBe(200);
}

for (const pair of scenes) {
  const { driver, wire } = pair;
  // A count that stands nowhere else.
  const answer = { ...plainAnswer(wire.can), usage: { input: 41, output: 86_243 } };

  test(`${sceneName(pair)}: nothing of a whole reply leaves before its receipt is durable`, async () => {
    const caller = await stage.caller(pair);
    stage.answer(pair, reply(pair, "whole", answer));
    gate.isOpen = false;
    const events: string[] = [];
    const call = caller.send({}, "whole").then(async (response) => {
      events.push("head");
      return response.json();
    });
    await committing();
    await othersAreAnswered();
    expect(events).toEqual([]);
    // The money is gone all the same: nobody else can have it.
    expect(await caller.payer.standing()).toMatchObject({ held: 0n });
    events.push("committed");
    gate.open();
    expect(driver.fromReply(await call)).toMatchObject({ text: plainText, finish: "stop" });
    expect(events).toEqual(["committed", "head"]);
    await caller.payer.settled(1);
  });

  test(`${sceneName(pair)}: neither usage nor end of a stream leave before its receipt is durable`, async () => {
    const caller = await stage.caller(pair);
    const said = wire.streamed(answer);
    const seen = Promise.withResolvers<void>();
    const parts = packetsUntil(said, "Grüße");
    stage.answer(pair, pausedAfter({ recording: framed(said), parts, until: seen.promise }));
    gate.isOpen = false;
    const body = new BodyReader(await caller.send({}, "streamed"));
    await body.until("Grüße");
    seen.resolve();
    await committing();
    const rest = body.rest();
    expect(await Promise.race([rest, othersAreAnswered()])).toBeUndefined();
    for (const last of [driver.endMark, String(answer.usage.output)])
      expect(body.text).not.toContain(last);
    gate.open();
    const text = await rest;
    expect(driver.fromStream(text)).toMatchObject({ text: plainText, isDone: true });
    expect(text).toContain(String(answer.usage.output));
    await caller.payer.settled(1);
  });
}
