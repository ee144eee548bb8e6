/** Requests at a time: a place is taken by a call that runs, and given back however it ends. */

import { describe, expect, test } from "bun:test";
import { chatJson, chatStreams, failures, type Recording } from "../../fake/recordings.ts";
import { pausedAfter, type Reply } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  leaver,
  openPayer,
  type Payer,
  type PayerOptions,
  waitUntil,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ clock: clockAt("2027-03-01T12:00:00Z") });

async function limited(places: number, options: PayerOptions = {}): Promise<Payer> {
  const payer = await openPayer(gateway, options);
  const { operations } = gateway.server;
  await operations.keys.setLimits({ id: payer.keyId, concurrency: String(places) });
  return payer;
}

/** A call that the upstream has, and answers when it is told to. */
async function hold(call: () => Promise<Response>, recording: Recording = chatJson()) {
  const gate = Promise.withResolvers<Reply>();
  const arrived = gateway.upstream.nextRequest();
  gateway.upstream.replyOnce([{ until: gate.promise }, { send: recording.bytes }]);
  const reply = call();
  reply.catch(() => {});
  await arrived;
  return {
    reply,
    async answer() {
      gate.resolve([]);
      return (await reply).text();
    },
  };
}

const holdMany = async (payer: Payer, count: number) => {
  const calls = [];
  for (let at = 0; at < count; at++) calls.push(await hold(() => payer.chat()));
  return calls;
};

async function expectFull(payer: Payer, places: number, owner = "key"): Promise<void> {
  const { status, code, message } = await refusalOf(payer.chat());
  expect({ status, code }).toEqual({ status: 429, code: "rate_limit_exceeded" });
  expect(message).toContain(
    `This ${owner} has reached its limit of ${places} concurrent request${places === 1 ? "" : "s"}`,
  );
}

async function expectServed(payer: Payer): Promise<void> {
  gateway.upstream.replyOnce(chatJson());
  const response = await payer.chat();
  expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
}

test("three at a time: the fourth is refused until one is done", async () => {
  const payer = await limited(3);
  const [first, ...others] = await holdMany(payer, 3);
  await expectFull(payer, 3);
  await expectFull(payer, 3);
  expect(gateway.upstream.requests.length).toBe(3);
  await first?.answer();
  const fourth = await hold(() => payer.chat());
  await expectFull(payer, 3);
  for (const call of [...others, fourth]) await call.answer();
  await payer.settled(4);
  const again = await holdMany(payer, 3);
  await expectFull(payer, 3);
  for (const call of again) await call.answer();
});

test("of an account are shared by its keys", async () => {
  const payer = await openPayer(gateway);
  const { operations } = gateway.server;
  await operations.accounts.setLimits({ account: payer.id, concurrency: "2" });
  const { key } = await operations.keys.create({ account: payer.id });
  const headers = { authorization: `Bearer ${key}` };
  const ours = await hold(() => payer.chat());
  const theirs = await hold(() => payer.chat({}, { headers }));
  await expectFull(payer, 2, "account");
  expect((await payer.chat({}, { headers })).status).toBe(429);
  await theirs.answer();
  await expectServed(payer);
  await ours.answer();
});

describe("a place is given back", () => {
  test("after a failure of the upstream", async () => {
    const payer = await limited(1);
    gateway.upstream.replyWith(failures.internal());
    for (let again = 0; again < 3; again++) {
      expect((await payer.chat()).status).toBe(502);
      await payer.settled(again + 1);
    }
    gateway.upstream.reset();
    await expectServed(payer);
  });

  test("after a refusal for want of money", async () => {
    const payer = await limited(1, { credit: 1n });
    for (let again = 0; again < 3; again++) expect((await payer.chat()).status).toBe(402);
  });

  test("when a call that the caller has left comes to its end, and not before", async () => {
    const payer = await limited(1);
    const { signal, leave } = leaver();
    const { reply, answer } = await hold(() => payer.chat({}, { signal }));
    await expectFull(payer, 1);
    await leave(reply);
    await expectFull(payer, 1);
    await answer().catch(() => {});
    await payer.settled(1);
    await expectServed(payer);
  });

  test("when a body does not come, though it takes one from the headers on", async () => {
    const payer = await limited(1);
    const { signal, leave } = leaver();
    const sent = Promise.withResolvers<void>();
    const body = new ReadableStream({
      pull() {
        sent.resolve();
        return new Promise(() => {});
      },
    });
    const call = payer.call("/chat/completions", "", { body, signal });
    await sent.promise;
    await waitUntil("its place to be taken", async () => {
      gateway.upstream.replyOnce(chatJson());
      return (await payer.chat()).status === 429;
    });
    await leave(call);
    await waitUntil("its place to be free", async () => (await payer.chat()).status === 200);
  });

  test("at the end of a stream, and not before", async () => {
    const payer = await limited(1);
    const gate = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: gate.promise }));
    const body = new BodyReader(await payer.chat({ stream: true }));
    await body.until("Hello");
    await expectFull(payer, 1);
    gate.resolve();
    expect(await body.rest()).toEndWith("data: [DONE]\n\n");
    await expectServed(payer);
  });

  test("when a caller leaves a stream", async () => {
    const payer = await limited(1);
    const until = new Promise<never>(() => {});
    const recording = chatStreams.reasoning();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until }));
    const { signal, leave } = leaver();
    const body = new BodyReader(await payer.chat({ stream: true }, { signal }));
    await body.until("Six");
    await expectFull(payer, 1);
    await leave(Promise.resolve());
    await payer.settled(1);
    await expectServed(payer);
  });

  test("when a stream breaks", async () => {
    const payer = await limited(1);
    const recording = chatStreams.openai();
    const head = Buffer.concat([recording.head, ...recording.parts.slice(0, 2)]);
    gateway.upstream.replyOnce([{ send: head }, { close: true }]);
    await (await payer.chat({ stream: true })).text();
    await payer.settled(1);
    await expectServed(payer);
  });
});
