/** Upstreams tell what they used in many ways, or not at all: what is charged is exact all the same. */

import { beforeAll, describe, expect, test } from "bun:test";
import { TOOL_CALL, usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatAnswers,
  chatChunk,
  chatJson,
  chatStream,
  DONE,
  embeddingsReply,
  type Recording,
} from "../../fake/recordings.ts";
import { inPieces, type Script } from "../../fake/script.ts";
import { finishOf, readStream } from "../../replies/event-stream.ts";
import { type TestGateway } from "../../setup/harness.ts";
import {
  countTokens,
  flash,
  hello,
  helloMost,
  moneyManifest,
  mostOf,
  openPayer,
  warmCounter,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: moneyManifest });
beforeAll(() => warmCounter(gateway));

type Usage = Parameters<typeof usageOf>[0];
const costOf = ({ prompt, completion, cached = 0 }: Usage) =>
  BigInt(prompt - cached) * flash.input +
  BigInt(cached) * flash.cached +
  BigInt(completion) * flash.output;

const text = "Hello! How can I help you today?";
const pieces = ["Hello!", " How can I", " help you today?"];
const words = pieces.map((content) => chatChunk({ delta: { content } }));
const finish = chatChunk({ finish: "stop" });
const told = (usage: Usage) => chatChunk({ choices: [], usage: usageOf(usage) });

async function streamed(events: Parameters<typeof chatStream>[0]["events"], credit?: bigint) {
  const payer = await openPayer(gateway, credit === undefined ? {} : { credit });
  gateway.upstream.replyOnce(chatStream({ events }));
  const body = { stream: true, max_tokens: 100, stream_options: { include_usage: true } };
  const stream = await readStream(await payer.chat(body));
  return { payer, stream, receipt: await payer.receipt() };
}

describe("in a stream", () => {
  const most = { prompt: 19, completion: 10, cached: 8, reasoning: 4 };
  const forms = {
    "usage at the end": [...words, finish, told(most), DONE],
    "usage that grows in every chunk": [
      chatChunk({ delta: { content: "a" }, usage: usageOf({ prompt: 19, completion: 1 }) }),
      chatChunk({ delta: { content: "b" }, usage: usageOf({ prompt: 19, completion: 2 }) }),
      chatChunk({ finish: "stop", usage: usageOf(most) }),
      DONE,
    ],
    "usage in the first chunk alone": [
      chatChunk({ delta: { content: "a" }, usage: usageOf(most) }),
      finish,
      DONE,
    ],
  };
  for (const [name, events] of Object.entries(forms))
    test(`${name} is the last that was told, once, and what the caller is told`, async () => {
      const { stream, receipt } = await streamed(events);
      expect(receipt.charged).toBe(costOf(most));
      expect(receipt.cost).toBe(costOf(most));
      expect(receipt).toMatchObject({ estimated: false, outcome: "ok", reasoningTokens: 4 });
      expect(receipt.units).toMatchObject({ input: 11, cached_input: 8, output: 10 });
      expect(stream.chunks.at(-1)?.usage).toMatchObject({
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
      });
    });
  for (const completion of [undefined, -1, Number.MAX_SAFE_INTEGER])
    test(`an answer whose length is told as ${completion} is counted, and not free`, async () => {
      const usage = { prompt_tokens: 12, completion_tokens: completion };
      const odd = { ...chatChunk({ choices: [] }), usage };
      const { receipt } = await streamed([...words, finish, odd, DONE]);
      expect(receipt.units.output).toBe(countTokens(text));
      expect(receipt.estimated).toBe(true);
    });

  test("words in fields that are not known count where there is no usage", async () => {
    const thought = "a thought that the vendor has a name of its own for ";
    const { receipt } = await streamed([
      chatChunk({ delta: { thinking: thought.repeat(5) } }),
      chatChunk({ delta: { audio: { transcript: "So." } } }),
      finish,
      DONE,
    ]);
    expect(receipt.units.output).toBe(countTokens(`${thought.repeat(5)}So.`));
  });

  test("tool calls without a usage count by their words", async () => {
    const { id, function: called } = TOOL_CALL;
    const { name, arguments: json } = called;
    const head = { index: 0, id, type: "function", function: { name, arguments: "" } };
    const events = [
      chatChunk({ delta: { tool_calls: [head] } }),
      ...[...json].map((letter) =>
        chatChunk({ delta: { tool_calls: [{ index: 0, function: { arguments: letter } }] } }),
      ),
      chatChunk({ finish: "tool_calls" }),
      DONE,
    ];
    const { receipt } = await streamed(events);
    // A vendor bills the name, the arguments, and some words around them.
    expect(receipt.units.output).toBeLessThan(2 * countTokens(name + json) + 40);
  });
});

describe("a whole reply", () => {
  async function whole(reply: Parameters<TestGateway["upstream"]["replyOnce"]>[0], fields = {}) {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(reply);
    expect((await payer.chat({ max_tokens: 100, ...fields })).status).toBe(200);
    return payer.receipt();
  }

  test("is counted by what the model said, not by empty fields around it", async () => {
    const { units } = await whole(chatAnswers.withoutUsage());
    expect(units.output).toBe(countTokens(text));
  });

  test("of a cache that is dearer than the input is held at that price, and the vendor's cost known", async () => {
    const usage = usageOf({ prompt: helloMost, completion: 100, cached: helloMost });
    const receipt = await whole(chatJson({ usage }), { model: "dear-cache" });
    expect(receipt.hold).toBe(BigInt(helloMost) * 900n + 100n * flash.output);
    expect(receipt.charged).toBe(receipt.hold);
    expect(receipt.vendorCost).toBe(BigInt(helloMost) * 100n + 100n * 1_000n);
  });

  test("is rounded up once, not once a class", async () => {
    const usage = usageOf({ prompt: 1, completion: 1 });
    const { cost, hold } = await whole(chatJson({ usage }), { model: "odd-price" });
    // A millionth of a nano-USD each: two tokens were used, 189 were held.
    expect([cost, hold]).toEqual([1n, 1n]);
  });
});

describe("images in messages", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const content = [{ type: "text", text: "What is this?" }, image, image];
  const messages = [{ role: "user", content }];

  for (const [model, imageTokens] of [
    ["small-images", 85],
    ["svc-3-flash", 16_384],
  ] as const)
    test(`are held at ${imageTokens} tokens each for ${model}`, async () => {
      const payer = await openPayer(gateway);
      const most = mostOf({ ...hello, messages }, imageTokens);
      expect(most).toBe(13 + 16 + 64 + 2 * imageTokens);
      gateway.upstream.replyOnce(chatJson({ usage: usageOf({ prompt: most, completion: 9 }) }));
      expect((await payer.chat({ model, messages, max_tokens: 9 })).status).toBe(200);
      const { hold, charged } = await payer.receipt();
      expect(hold).toBe(BigInt(most) * flash.input + 9n * flash.output);
      expect(charged).toBe(hold);
    });
});

test("a stream of thoughts within its cap is not cut, however small its pieces", async () => {
  const letters = [..."a thought of forty letters, in all it has"];
  const events = [
    ...letters.map((letter) => chatChunk({ delta: { reasoning_content: letter } })),
    finish,
    told({ prompt: 10, completion: 12 }),
    DONE,
  ];
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(packetByPacket(chatStream({ events })));
  const stream = await readStream(await payer.chat({ stream: true, max_tokens: 15 }));
  expect(finishOf(stream)).toBe("stop");
  expect((await payer.receipt()).charged).toBe(costOf({ prompt: 10, completion: 12 }));
});

function packetByPacket(recording: Recording): Script {
  let at = recording.head.length;
  return inPieces(
    recording,
    recording.parts.map((part) => {
      at += part.length;
      return at - part.length;
    }),
  );
}
test("embeddings without a usage are counted, those of token ids exactly", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyWith(embeddingsReply({ vectors: [[1]], usage: null }));
  for (const [input, tokens, estimated] of [
    [text, countTokens(text), true],
    [[[1, 2, 3, 4, 5]], 5, false],
  ] as const) {
    const before = (await payer.receipts()).length;
    await payer.call("/embeddings", { model: "svc-embedding-2", input });
    const receipt = (await payer.settled(before + 1)).at(-1);
    expect(receipt).toMatchObject({ estimated, charged: BigInt(tokens) * 20n });
  }
});
