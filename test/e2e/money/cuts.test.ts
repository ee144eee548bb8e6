/** Answers that are longer than was allowed, or that nobody counted: what is cut, what is paid. */

import { beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import {
  BodyReader,
  finishOf,
  parseStream,
  readStream,
  textOf,
} from "../../replies/event-stream.ts";
import {
  countTokens,
  flash,
  helloTokens,
  moneyManifest,
  openPayer,
  warmCounter,
  withoutUsage,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: moneyManifest });
beforeAll(() => warmCounter(gateway));

const said = (content: string, index = 0) => chatChunk({ delta: { content }, index });
const finish = (index = 0) => chatChunk({ finish: "stop", index });
const told = (completion: number) =>
  chatChunk({ choices: [], usage: usageOf({ prompt: 10, completion }) });
/** Ten characters, and more than one token. */
const word = " marmalade";
/** As long, and seen by who waits for it. */
const lastWord = " marmalad!";
/** For one choice after another. */
const words = (count: number, choices: number) =>
  Array.from({ length: count }, (_, at) => said(at === count - 1 ? lastWord : word, at % choices));

interface Answer {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Has a "!" at its end; until the caller has read it, nothing more comes. */
  readonly first: readonly ReturnType<typeof said>[];
  readonly after: readonly (ReturnType<typeof said> | string)[];
}

async function inTwoParts({ fields, first, after }: Answer) {
  const payer = await openPayer(gateway);
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const { head, parts, end } = chatStream({ events: [...first, ...after] });
  const isOver = after.at(-1) === DONE;
  const arrived = gateway.upstream.nextRequest();
  gateway.upstream.replyOnce([
    { send: Buffer.concat([head, ...parts.slice(0, first.length)]) },
    { until },
    { send: Buffer.concat([...parts.slice(first.length), ...(isOver ? [end] : [])]) },
    ...(isOver ? [] : [{ hang: true } as const]),
  ]);
  const body = new BodyReader(await payer.chat({ stream: true, ...fields }));
  await body.until("!");
  goOn();
  const stream = parseStream(await body.rest());
  expect(stream.isDone).toBe(true);
  const request = await arrived;
  await request.closed;
  const finishes = [0, 1].map((index) => finishOf(stream, index));
  const { abortedByClient: isCut } = request;
  return { stream, finishes, isCut, receipt: await payer.receipt() };
}

describe("of a stream with two answers", () => {
  const fields = { n: 2, max_tokens: 20 };

  test("as many pieces as both may have tokens are let through", async () => {
    const after = [finish(0), finish(1), told(40), DONE];
    const answer = await inTwoParts({ fields, first: words(40, 2), after });
    expect({ finishes: answer.finishes, isCut: answer.isCut }).toEqual({
      finishes: ["stop", "stop"],
      isCut: false,
    });
    expect(answer.receipt.units).toMatchObject({ input: 10, output: 40 });
    expect(answer.receipt.estimated).toBe(false);
  });

  test("one piece more is cut, and both caps are what is paid", async () => {
    const answer = await inTwoParts({ fields, first: words(40, 2), after: [said(word, 0)] });
    expect({ finishes: answer.finishes, isCut: answer.isCut }).toEqual({
      finishes: ["length", "length"],
      isCut: true,
    });
    const { units, charged, hold, outcome, estimated } = answer.receipt;
    expect(countTokens(word.repeat(41))).toBeGreaterThan(40);
    expect(units).toMatchObject({ input: helloTokens, output: 40 });
    expect(charged).toBe(BigInt(helloTokens) * flash.input + 40n * flash.output);
    expect(charged <= hold).toBe(true);
    expect({ outcome, estimated }).toEqual({ outcome: "ok", estimated: true });
  });

  test("what the upstream counted beyond both caps is not paid either", async () => {
    const usage = usageOf({ prompt: 10, completion: 400 });
    const after = [chatChunk({ delta: { content: word }, usage })];
    const { isCut, receipt } = await inTwoParts({ fields, first: words(40, 2), after });
    expect(isCut).toBe(true);
    expect(receipt.units).toMatchObject({ input: 10, output: 40 });
  });
});

describe("of few huge pieces", () => {
  for (const n of [1, 2]) {
    const fields = { n, max_tokens: 20 };
    // 32 characters for each token that is allowed.
    const most = 640 * n;
    const first = [said("a!"), ...(n === 2 ? [said("b", 1)] : [])];
    const rest = "x".repeat(most - (n === 2 ? 3 : 2));

    test(`${most} characters for ${n} times 20 tokens are let through`, async () => {
      const payer = await openPayer(gateway);
      const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
      const recording = chatStream({
        events: [...first, said(`${rest.slice(1)}?`), finish(0), finish(1), told(20 * n), DONE],
      });
      const parts = first.length + 1;
      gateway.upstream.replyOnce(pausedAfter({ recording, parts, until }));
      const body = new BodyReader(await payer.chat({ stream: true, ...fields }));
      await body.until("?");
      goOn();
      const stream = parseStream(await body.rest());
      expect(finishOf(stream)).toBe("stop");
      expect((await payer.receipt()).units.output).toBe(20 * n);
    });

    test(`one character more is cut, and costs ${20 * n} tokens at most`, async () => {
      const after = [said(`${rest}x`)];
      const { stream, isCut, receipt } = await inTwoParts({ fields, first, after });
      expect(isCut).toBe(true);
      expect(finishOf(stream)).toBe("length");
      expect(textOf(stream)).toBe(`a!${rest}x`);
      const counted = countTokens(`a!${n === 2 ? "b" : ""}${rest}x`);
      expect(counted).toBeGreaterThan(20 * n);
      expect(receipt.units.output).toBe(20 * n);
      expect(receipt.charged).toBe(
        BigInt(helloTokens) * flash.input + BigInt(20 * n) * flash.output,
      );
    });
  }
});

describe("an answer that nobody counted", () => {
  const digits = (count: number) => Array.from({ length: count }, (_, at) => at % 10).join(" ");
  const whole = (texts: readonly string[]) =>
    chatJson({
      usage: null,
      choices: texts.map((content, index) => ({
        index,
        message: { role: "assistant", content },
        finish_reason: "stop",
      })),
    });

  for (const { n, output } of [
    { n: 1, output: 10 },
    { n: 2, output: 20 },
  ])
    test(`counts for no more than ${n} times its cap`, async () => {
      const texts = Array.from({ length: n }, () => digits(60));
      const payer = await openPayer(gateway);
      gateway.upstream.replyOnce(whole(texts));
      expect((await payer.chat({ n, max_tokens: 10 })).status).toBe(200);
      expect((await payer.receipt()).units).toMatchObject({ input: helloTokens, output });
      const streaming = await openPayer(gateway);
      const events = [
        ...texts.map((text, index) => said(text, index)),
        ...texts.map((_, index) => finish(index)),
        DONE,
      ];
      gateway.upstream.replyOnce(chatStream({ events }));
      const stream = await readStream(await streaming.chat({ n, max_tokens: 10, stream: true }));
      expect(finishOf(stream)).toBe("stop");
      const { units, estimated } = await streaming.receipt();
      expect({ output: units.output, estimated }).toEqual({ output, estimated: true });
    });

  test("counts for what both of its choices said, where that is within both caps", async () => {
    const payer = await openPayer(gateway);
    const texts = [digits(6), digits(4)];
    const counted = countTokens(texts.join("\n"));
    expect(counted).toBeGreaterThan(12);
    gateway.upstream.replyOnce(whole(texts));
    await payer.chat({ n: 2, max_tokens: 12 });
    expect((await payer.receipt()).units.output).toBe(counted);
  });

  test("and is very long is counted in proportion to its beginning", async () => {
    const piece = " marmalade".repeat(10);
    const other = "1 ".repeat(50);
    // 656 pieces are the first that have more than 64 Ki characters.
    const beginning = piece.repeat(656);
    const events = [
      ...Array.from({ length: 656 }, () => said(piece)),
      ...Array.from({ length: 844 }, () => said(other)),
      finish(),
      DONE,
    ];
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(chatStream({ events, eventsPerPart: 20 }));
    const stream = await readStream(await payer.chat({ model: "long-answers", stream: true }));
    expect(finishOf(stream)).toBe("stop");
    const { units, estimated } = await payer.receipt();
    const expected = Math.ceil(countTokens(beginning) * (1_500 / 656));
    expect(expected).not.toBe(countTokens(beginning + other.repeat(844)));
    expect({ output: units.output, estimated }).toEqual({ output: expected, estimated: true });
  });

  test("but has just 64 Ki characters is counted whole", async () => {
    // The one half is nothing like the other.
    const [words, digits] = [" marmalade".repeat(4_000), "1 ".repeat(12_768)];
    const text = words + digits;
    expect(text.length).toBe(64 * 1_024);
    const payer = await openPayer(gateway);
    const events = [said(words), said(digits), finish(), DONE];
    gateway.upstream.replyOnce(chatStream({ events }));
    await readStream(await payer.chat({ model: "long-answers", stream: true }));
    expect((await payer.receipt()).units.output).toBe(countTokens(text));
  });
});

describe("images that nobody counted", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const question = "What is this?";

  for (const [model, each] of [
    ["svc-3-flash", 16_384],
    ["small-images", 85],
  ] as const)
    test(`count for ${each} tokens each with ${model}`, async () => {
      for (const count of [1, 3]) {
        const payer = await openPayer(gateway);
        const images = Array.from({ length: count }, () => image);
        const content = [{ type: "text", text: question }, ...images];
        gateway.upstream.replyOnce(withoutUsage("A picture"));
        const messages = [{ role: "user", content }];
        expect((await payer.chat({ model, messages, max_tokens: 9 })).status).toBe(200);
        const { units, charged, estimated } = await payer.receipt();
        const input = countTokens(question) + 4 + count * each;
        const output = countTokens("A picture");
        expect({ input: units.input, output: units.output }).toEqual({ input, output });
        expect(charged).toBe(BigInt(input) * flash.input + BigInt(output) * flash.output);
        expect(estimated).toBe(true);
      }
    });
});
