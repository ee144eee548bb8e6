/** Many calls at the same moment on money for a few: in no dialect is more spent than there is. */

import { expect, test } from "bun:test";
import { framed } from "../providers/stage.ts";
import { openPayer } from "../setup/money-home.ts";
import { costOf } from "./cases/words.ts";
import { Caller, type Form, forms, reply, Stage } from "./stage.ts";
import { type Pair, plainScenes, sceneName } from "./vendors.ts";

const stage = new Stage();
const calls = 50;
const covered = 5;
const cap = 20;
const usage = { input: 40, output: cap };
const answer = { pieces: [{ text: "Hi" }], finish: "stop", usage } as const;

/** What the gateway holds for such a call, and where it asks the vendor. */
async function probe(pair: Pair, form: Form) {
  const caller = await stage.caller(pair);
  stage.answer(pair, reply(pair, form, answer));
  await caller.hear({ cap }, form);
  const path = stage.calls.at(-1)?.path ?? "";
  return { hold: (await caller.payer.receipt()).hold, path };
}

interface Outcome {
  readonly requestId: string;
  /** With the code of a refusal. */
  readonly end: string;
}

/** Sends all at once; nothing is answered upstream before every one was sent on or refused. */
function rush(
  callers: readonly Caller[],
  form: Form,
  pairs: ReadonlyMap<string, Pair>,
): Promise<readonly Outcome[]> {
  const gate = Promise.withResolvers<void>();
  let known = 0;
  const note = () => {
    if (++known === callers.length) gate.resolve();
  };
  stage.gateway.upstream.replyWith(({ path }) => {
    note();
    const pair = pairs.get(path);
    if (pair === undefined) throw new Error(`nobody asks ${path}`);
    return [{ until: gate.promise }, { send: framed(reply(pair, form, answer)).bytes }];
  });
  return Promise.all(
    callers.map(async (caller): Promise<Outcome> => {
      const { driver } = caller.pair;
      const response = await caller.send({ cap }, form);
      const { status } = response;
      if (status !== 200) note();
      const text = await response.text();
      const requestId = response.headers.get("x-request-id") ?? "";
      if (status !== 200)
        return { requestId, end: `${status} ${driver.fromError(JSON.parse(text)).code}` };
      const heard = form === "whole" ? driver.fromReply(JSON.parse(text)) : driver.fromStream(text);
      expect(heard).toMatchObject({ text: "Hi", finish: "stop" });
      return { requestId, end: "200" };
    }),
  );
}

const idsOf = (outcomes: readonly Outcome[], end: string) =>
  outcomes.flatMap((outcome) => (outcome.end === end ? [outcome.requestId] : [])).toSorted();
const refused = "402 insufficient_quota";

for (const pair of plainScenes)
  for (const form of forms)
    test(`${sceneName(pair)}, ${form}: of ${calls} calls at once on the money of ${covered}, ${covered} are served`, async () => {
      const { hold, path } = await probe(pair, form);
      const credit = BigInt(covered + 1) * hold - 1n;
      const caller = await stage.caller(pair, { credit });
      const callers = Array.from({ length: calls }, () => caller);
      const outcomes = await rush(callers, form, new Map([[path, pair]]));
      const served = idsOf(outcomes, "200");
      expect({ served: served.length, refused: idsOf(outcomes, refused).length }).toEqual({
        served: covered,
        refused: calls - covered,
      });
      const receipts = await caller.payer.settled(covered);
      expect(receipts.map(({ id }) => id).toSorted()).toEqual(served);
      for (const receipt of receipts)
        expect(receipt).toMatchObject({
          hold,
          cost: costOf(usage),
          charged: costOf(usage),
          outcome: "ok",
          estimated: false,
          dialect: pair.driver.name,
        });
      const { balance } = await caller.payer.standing();
      expect(balance).toBe(credit - BigInt(covered) * costOf(usage));
    });

test(`${calls} calls of each dialect at once share one balance, and what was charged is gone from it`, async () => {
  const probes = new Map<Pair, Awaited<ReturnType<typeof probe>>>();
  for (const pair of plainScenes) probes.set(pair, await probe(pair, "whole"));
  const holds = [...probes.values()].map(({ hold }) => hold);
  const smallest = holds.reduce((least, hold) => (hold < least ? hold : least));
  const credit = BigInt(covered) * holds.reduce((sum, hold) => sum + hold, 0n);
  const payer = await openPayer(stage.gateway, { credit });
  // One of each in turn: none is before the others.
  const callers = Array.from({ length: calls }, () =>
    plainScenes.map((pair) => new Caller(stage, pair, payer)),
  ).flat();
  const pairs = new Map([...probes].map(([pair, { path }]) => [path, pair]));
  const outcomes = await rush(callers, "whole", pairs);
  const served = idsOf(outcomes, "200");
  expect(served.length + idsOf(outcomes, refused).length).toBe(callers.length);
  const receipts = await payer.settled(served.length);
  expect(receipts.map(({ id }) => id).toSorted()).toEqual(served);
  // All that was held at once fits the balance, and no call was refused that would have fit.
  const held = receipts.reduce((sum, { hold }) => sum + hold, 0n);
  expect(held <= credit && credit - held < smallest).toBe(true);
  for (const { charged, outcome } of receipts)
    expect({ charged, outcome }).toEqual({ charged: costOf(usage), outcome: "ok" });
  const { balance } = await payer.standing();
  expect(balance).toBe(credit - BigInt(served.length) * costOf(usage));
});
