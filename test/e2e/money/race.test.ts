/** However many calls come at the same moment, no more is spent than there is. */

import { describe, expect, test } from "bun:test";
import { toUsd } from "../../../src/base/money.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatJson,
  chatStream,
  embeddingsReply,
  openaiEvents,
  type Recording,
  speechReplies,
} from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import {
  flash,
  flashTts,
  hello,
  helloMost,
  mostOf,
  openPayer,
  type Payer,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const callers = 100;
const covered = 10;
const cap = 40;
const worst = BigInt(helloMost) * flash.input + BigInt(cap) * flash.output;
/** An upstream that uses all that was set aside for it. */
const usage = usageOf({ prompt: helloMost, completion: cap });

/** Sends them all at once; nothing is answered upstream before every one was sent on or refused. */
async function rush(payer: Payer, path: string, body: unknown, reply: Recording) {
  const gate = Promise.withResolvers<void>();
  let known = 0;
  const note = () => {
    if (++known === callers) gate.resolve();
  };
  gateway.upstream.replyWith(() => {
    note();
    return [{ until: gate.promise }, { send: reply.bytes }];
  });
  const replies = await Promise.all(
    Array.from({ length: callers }, async () => {
      const response = await payer.call(path, body);
      if (response.status !== 200) note();
      return { response, body: await response.clone().bytes() };
    }),
  );
  const served = replies.filter(({ response }) => response.status === 200);
  const refused = replies.filter(({ response }) => response.status !== 200);
  const codes = new Set<string>();
  for (const { response } of refused) {
    const { status, code } = await refusalOf(response);
    codes.add(`${status} ${code}`);
  }
  return { served, refused: refused.length, codes: [...codes] };
}

async function expectExact(
  payer: Payer,
  hold: bigint,
  code: string,
  sums: ReturnType<typeof rush>,
) {
  const { served, refused, codes } = await sums;
  expect({
    served: served.length,
    refused,
    codes,
    asked: gateway.upstream.requests.length,
  }).toEqual({
    served: covered,
    refused: callers - covered,
    codes: [`402 ${code}`],
    asked: covered,
  });
  for (const receipt of await payer.settled(covered)) {
    const { hold: held, cost, charged, outcome, estimated } = receipt;
    expect({ held, cost, charged, outcome, estimated }).toEqual({
      held: hold,
      cost: hold,
      charged: hold,
      outcome: "ok",
      estimated: false,
    });
  }
  return served;
}

const whole = chatJson({ usage });
const streamed = chatStream({ events: openaiEvents({ usage }) });

test("the bound that these tests count with is the gateway's own", () => {
  expect(mostOf(hello)).toBe(helloMost);
});

describe("100 calls at once on the money of 10 worst cases: 10 are served, the balance is 0,", () => {
  test("for the budget of a key in an account that has far more", async () => {
    const payer = await openPayer(gateway, { budget: toUsd(10n * worst) });
    const sums = rush(payer, "/chat/completions", { ...hello, max_tokens: cap }, whole);
    await expectExact(payer, worst, "budget_exceeded", sums);
    expect((await payer.standing()).balance).toBe(payer.credit - 10n * worst);
  });

  test("for the budget of an account, streamed", async () => {
    const payer = await openPayer(gateway);
    const { operations } = gateway.server;
    await operations.accounts.setLimits({ account: payer.id, budget: `${toUsd(10n * worst)}/day` });
    const body = { ...hello, max_tokens: cap, stream: true };
    const sums = rush(payer, "/chat/completions", body, streamed);
    const served = await expectExact(payer, worst, "budget_exceeded", sums);
    for (const { body: bytes } of served)
      expect(Buffer.from(bytes).toString()).toEndWith("data: [DONE]\n\n");
  });

  test("for embeddings", async () => {
    // Seven bytes and eight around them, at 20 nano-USD each.
    const most = 7 + 8;
    const hold = BigInt(most) * 20n;
    const payer = await openPayer(gateway, { credit: 10n * hold });
    const reply = embeddingsReply({
      vectors: [[0.5, 1]],
      usage: { prompt_tokens: most, total_tokens: most },
    });
    const sums = rush(payer, "/embeddings", { model: "svc-embedding-2", input: "a river" }, reply);
    await expectExact(payer, hold, "insufficient_quota", sums);
    expect((await payer.standing()).balance).toBe(0n);
  });

  test("for speech, whose audio is never as long as what is set aside", async () => {
    // Two bytes and 16 around them; ten seconds and a quarter for each letter, rounded up.
    const hold = 18n * flashTts.input + 11n * 25n * flashTts.audio;
    const payer = await openPayer(gateway, { credit: 10n * hold });
    const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore" };
    const reply = speechReplies.pcmChunked({ seconds: 0.5 });
    const { served, codes } = await rush(payer, "/audio/speech", body, reply);
    expect({ served: served.length, codes }).toEqual({
      served: covered,
      codes: ["402 insufficient_quota"],
    });
    for (const { charged } of await payer.settled(covered))
      expect(charged).toBe(flashTts.input + 13n * flashTts.audio);
  });
});

test("what one call did not use is there for the next", async () => {
  const used = usageOf({ prompt: 10, completion: 1 });
  const cost = 10n * flash.input + flash.output;
  const payer = await openPayer(gateway, { credit: worst + cost });
  gateway.upstream.replyWith(chatJson({ usage: used }));
  for (let count = 1; count <= 2; count++) {
    expect((await payer.chat({ max_tokens: cap })).status).toBe(200);
    expect((await payer.settled(count)).at(-1)?.charged).toBe(cost);
  }
  const { code } = await refusalOf(payer.chat({ max_tokens: cap }));
  expect(code).toBe("insufficient_quota");
});
