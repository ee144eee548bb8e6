/** What a legacy completion holds and costs: all prompts, all candidates, and no echo. */

import { beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  completionChoice,
  completionChunk,
  completionJson,
} from "../../fake/openai/completion-replies.ts";
import { chatStream, DONE } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { countTokens, flash, openPayer, warmCounter } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeAll(() => warmCounter(gateway));

const model = "svc-3-flash";
const prompt = "The three primary colors are";
const answer = " red, yellow and blue.";
/** Around each prompt, and around the call. */
const around = (prompts: number) => BigInt(16 * prompts + 64);

/** One call that ends well, and its receipt. */
async function pay(fields: object, reply = completionJson()) {
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(reply);
  const response = await payer.call("/completions", { model, prompt, ...fields });
  expect(response.status).toBe(200);
  const text = await response.text();
  return { text, ...(await payer.receipt()) };
}

describe("the hold", () => {
  const bytes = BigInt(prompt.length);
  const cases: readonly (readonly [string, object, bigint, bigint])[] = [
    ["one prompt of 16 tokens by default", {}, bytes + around(1), 16n],
    ["a cap that is named", { max_tokens: 100 }, bytes + around(1), 100n],
    ["n choices", { n: 3, max_tokens: 10 }, bytes + around(1), 30n],
    ["all candidates", { n: 2, best_of: 5, max_tokens: 10 }, bytes + around(1), 50n],
    ["two prompts", { prompt: ["abc", "de"], max_tokens: 10 }, 5n + around(2), 20n],
    ["two prompts twice", { prompt: ["a", "b"], n: 2, max_tokens: 10 }, 2n + around(2), 40n],
    ["token ids, one each", { prompt: [1, 2, 3], max_tokens: 10 }, 3n + around(0), 10n],
    ["two lists of them", { prompt: [[1, 2], [3]], max_tokens: 10 }, 3n + around(0), 20n],
    ["a suffix", { suffix: "xyz", max_tokens: 10 }, bytes + 3n + around(2), 10n],
    ["a prompt to be scored", { echo: true, max_tokens: 0 }, bytes + around(1), 0n],
  ];
  for (const [what, fields, input, output] of cases)
    test(`covers ${what}`, async () => {
      const { hold, charged, units } = await pay(fields);
      expect(hold).toBe(input * flash.input + output * flash.output);
      expect(units).toMatchObject({ input: 5, output: 6 });
      const cost = 5n * flash.input + 6n * flash.output;
      expect(charged).toBe(cost < hold ? cost : hold);
    });
});

describe("where nobody counts,", () => {
  test("all prompts and all answers are counted, without a template around them", async () => {
    const choices = [completionChoice(answer), completionChoice(answer, 1)];
    const reply = completionJson({ choices, usage: null });
    const { units, estimated } = await pay({ prompt: [prompt, prompt] }, reply);
    expect(estimated).toBe(true);
    expect(units.input).toBe(2 * countTokens(prompt));
    expect(units.output).toBe(countTokens(`${answer}\n${answer}`));
  });

  test("token ids are counted as they are", async () => {
    const reply = completionJson({ usage: null });
    expect((await pay({ prompt: [[1, 2, 3], [4]] }, reply)).units.input).toBe(4);
  });

  test("candidates that are not returned cost what the returned one does", async () => {
    const reply = completionJson({ usage: null });
    const { units } = await pay({ best_of: 3 }, reply);
    expect(units.output).toBe(3 * countTokens(answer));
  });

  test("an echo is no output, whole or streamed", async () => {
    const choices = [completionChoice(prompt + answer)];
    const whole = await pay({ echo: true }, completionJson({ choices, usage: null }));
    expect(JSON.parse(whole.text).choices[0].text).toBe(prompt + answer);
    expect(whole.units.output).toBe(countTokens(answer));
    const events = [prompt, " red,", " yellow and blue."].map((text) => completionChunk({ text }));
    const stream = chatStream({ events: [...events, completionChunk({ finish: "stop" }), DONE] });
    const streamed = await pay({ echo: true, stream: true }, stream);
    expect(streamed.text).toContain(`"text":"${prompt}"`);
    expect(streamed.units.output).toBe(countTokens(answer));
  });

  test("an upstream that repeats nothing has said all of it", async () => {
    const { units } = await pay({ echo: true }, completionJson({ usage: null }));
    expect(units.output).toBe(countTokens(answer));
  });
});

test("a prompt that is only scored costs its input, as the upstream counted", async () => {
  const choices = [completionChoice(prompt, 0, { finish_reason: "length" })];
  const usage = usageOf({ prompt: 5, completion: 0 });
  for (const given of [prompt, [1, 2, 3, 4, 5]]) {
    const reply = completionJson({ choices, usage });
    const receipt = await pay({ prompt: given, echo: true, max_tokens: 0, logprobs: 1 }, reply);
    expect(receipt.units).toMatchObject({ input: 5, output: 0 });
    expect(receipt.estimated).toBe(false);
  }
});

describe("a stream", () => {
  const word = " marmalade";

  /** Twenty pieces are allowed; what comes behind them waits until the caller has read so far. */
  async function overlong(fields: object, pieces: readonly string[]) {
    const payer = await openPayer(gateway);
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    const recording = chatStream({
      events: [...pieces, "?", word.repeat(70)].map((text) => completionChunk({ text })),
    });
    const arrived = gateway.upstream.nextRequest();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: pieces.length + 1, until }));
    const body = { model, prompt, stream: true, max_tokens: 20, ...fields };
    const reader = new BodyReader(await payer.call("/completions", body));
    await reader.until('"?"');
    goOn();
    const text = await reader.rest();
    await (await arrived).closed;
    return { text, receipt: await payer.receipt() };
  }

  test("is not cut for its echo", async () => {
    const long = word.repeat(200);
    const { text, receipt } = await overlong({ prompt: long, echo: true }, [long]);
    // All of it went through until the model itself had said too much.
    expect(text).toContain(`"text":"${long}"`);
    expect(receipt.units.output).toBeLessThanOrEqual(20);
    expect(text).toContain('"finish_reason":"length"');
  });
});
