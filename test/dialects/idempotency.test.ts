/** An Idempotency-Key means the same in every dialect. */

import { beforeEach, expect, test } from "bun:test";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import { plainAnswer, plainText } from "../providers/calls.ts";
import { framed } from "../providers/stage.ts";
import { aroundCommits } from "../setup/commits.ts";
import { messagesDriver } from "./drivers/messages.ts";
import { type Ask, Caller, forms, plainQuestion, post, refusalOf, reply, Stage } from "./stage.ts";
import { type Pair, plainScenes, sceneName, scenes } from "./vendors.ts";

/** What is on the disk. */
const durable: LedgerWrite[] = [];
const stage = new Stage({
  open: aroundCommits((commit) => async (writes) => {
    await commit(writes);
    durable.push(...writes);
  }),
});
beforeEach(() => {
  durable.length = 0;
});

const init = { headers: { "idempotency-key": "again" } };
const other: Ask = { turns: [{ by: "user", content: ["Say goodbye"] }] };

/** A 409 in the dialect's own shape, and what it tells clients to do. */
async function conflictOf({ driver }: Pair, response: Response) {
  const { headers } = response;
  const { status, code } = await refusalOf(driver, response);
  const firstId = headers.get("x-original-request-id");
  return { status, code, firstId, shouldRetry: headers.get("x-should-retry") };
}

const conflict = (code: string, firstId: string) => ({
  status: 409,
  code: `idempotency_${code}`,
  firstId,
  shouldRetry: code === "in_progress" ? null : "false",
});

/** The receipt can be read a moment before the call has ended: until then it runs. */
async function afterwards(pair: Pair, call: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await call();
    if (response.status !== 409) return response;
    const { code } = await conflictOf(pair, response.clone());
    if (code !== "idempotency_in_progress") return response;
  }
}

for (const pair of scenes)
  test(`${sceneName(pair)}: the reply is given again, byte for byte, for one call and one charge`, async () => {
    const { driver, wire } = pair;
    const caller = await stage.caller(pair);
    stage.answer(pair, reply(pair, "whole", plainAnswer(wire.can)));
    const first = await caller.send({}, "whole", init);
    const text = await first.text();
    expect(driver.fromReply(JSON.parse(text))).toMatchObject({ text: plainText });
    const again = await caller.send({}, "whole", init);
    expect(await again.text()).toBe(text);
    const replayed = [again, first].map(({ headers }) => headers.get("idempotent-replayed"));
    expect(replayed).toEqual(["true", null]);
    const { id } = await caller.payer.receipt();
    expect(first.headers.get("x-request-id")).toBe(id);
    expect(again.headers.get("x-original-request-id")).toBe(id);
    expect(again.headers.get("x-request-id")).not.toBe(id);
    expect(stage.calls.length).toBe(1);
  });

for (const pair of plainScenes) {
  const { driver, wire } = pair;
  const answer = plainAnswer(wire.can);
  const name = sceneName(pair);

  test(`${name}: another request under a used key is refused, in this dialect and in others`, async () => {
    const caller = await stage.caller(pair);
    stage.answer(pair, reply(pair, "whole", answer));
    const first = await caller.send({}, "whole", init);
    await first.text();
    const expected = conflict("key_reused", first.headers.get("x-request-id") ?? "");
    expect(await conflictOf(pair, await caller.send(other, "whole", init))).toEqual(expected);
    const body = JSON.stringify(driver.toBody({ model: pair.vendor.name, ...plainQuestion }));
    for (const elsewhere of plainScenes.filter((scene) => scene !== pair)) {
      const same = new Caller(stage, elsewhere, caller.payer);
      for (const more of [init, { ...init, body }])
        expect(await conflictOf(elsewhere, await same.send({}, "whole", more))).toEqual(expected);
    }
    expect(stage.calls.length).toBe(1);
    await caller.payer.settled(1);
  });

  test(`${name}: the same request is refused while the first runs, and gets its reply then`, async () => {
    const caller = await stage.caller(pair);
    const gate = Promise.withResolvers<void>();
    const { bytes } = framed(reply(pair, "whole", answer));
    stage.answer(pair, [{ until: gate.promise }, { send: bytes }]);
    const arrived = stage.nextCall();
    const first = caller.send({}, "whole", init);
    await arrived;
    const refused = await conflictOf(pair, await caller.send({}, "whole", init));
    gate.resolve();
    const text = await (await first).text();
    const firstId = (await first).headers.get("x-request-id") ?? "";
    expect(refused).toEqual(conflict("in_progress", firstId));
    const again = await afterwards(pair, () => caller.send({}, "whole", init));
    expect(await again.text()).toBe(text);
    await caller.payer.settled(1);
  });

  test(`${name}: a streamed reply is not kept, and not made and paid a second time`, async () => {
    const caller = await stage.caller(pair);
    stage.answer(pair, reply(pair, "streamed", answer));
    const first = await caller.send({}, "streamed", init);
    expect(driver.fromStream(await first.text()).isDone).toBe(true);
    const { id } = await caller.payer.receipt();
    const again = await afterwards(pair, () => caller.send({}, "streamed", init));
    expect(await conflictOf(pair, again)).toEqual(conflict("reply_not_kept", id));
    expect(stage.calls.length).toBe(1);
    await caller.payer.settled(1);
  });

  for (const form of forms)
    test(`${name}, ${form}: a failure frees the key, and costs nothing`, async () => {
      const caller = await stage.caller(pair);
      const failure = wire.error("serverError", { words: "no", streamed: form === "streamed" });
      if (failure === undefined) throw new Error("the vendor has no such failure");
      stage.answer(pair, failure);
      expect((await caller.send({}, form, init)).status).toBe(502);
      stage.answer(pair, reply(pair, form, answer));
      const served = await afterwards(pair, () => caller.send({}, form, init));
      expect(served.headers.get("idempotent-replayed")).toBeNull();
      expect(await served.text()).toContain("Grüße");
      const [failed, paid] = await caller.payer.settled(2);
      expect([failed?.charged, paid?.outcome]).toEqual([0n, "ok"]);
    });

  test(`${name}: the claim is durable before the vendor is asked, and ends with the receipt`, async () => {
    const caller = await stage.caller(pair);
    let before: readonly string[] = [];
    const recording = framed(reply(pair, "whole", answer));
    stage.gateway.upstream.replyWith(() => {
      before = durable.map(({ type }) => type);
      return recording;
    });
    const { headers } = await caller.send({}, "whole", init);
    expect(before).toContain("claim");
    const requestId = headers.get("x-request-id") ?? "";
    const [receipt] = durable.filter((write) => write.type === "receipt");
    if (receipt?.type !== "receipt") throw new Error("no receipt");
    expect(receipt.receipt.id).toBe(requestId);
    expect({ ...receipt.claim }).toMatchObject({ requestId, isDone: true });
  });
}

test("a key of a message is refused for its count of tokens", async () => {
  const [pair] = plainScenes.filter(({ driver }) => driver === messagesDriver);
  if (pair === undefined) throw new Error("no scene of messages");
  const { driver, vendor, wire } = pair;
  const caller = await stage.caller(pair);
  const body = driver.toBody({ model: vendor.name, ...plainQuestion });
  stage.answer(pair, reply(pair, "whole", plainAnswer(wire.can)));
  const { key } = caller.payer;
  await (await post({ stage, driver, key, body, init })).text();
  const counter = { ...driver, path: `${driver.path}/count_tokens` };
  const response = await post({ stage, driver: counter, key, body, init });
  const { id } = await caller.payer.receipt();
  expect(await conflictOf(pair, response)).toEqual(conflict("key_reused", id));
});
