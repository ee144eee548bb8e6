import { expect, spyOn, test } from "bun:test";
import { oddStream } from "../../../test/fake/openai/odd-streams.ts";
import { toScript } from "../../../test/fake/script.ts";
import { toReply } from "../../../test/providers/packet-player.ts";
import { loadRecordings } from "../../../test/providers/recordings.ts";
import { systemClock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { ChatEventWriter } from "../../wire/v1/chat/events.ts";
import { ChunkDecoder } from "../kit/http1/chunk-decoder.ts";
import { OpenAiChatStream } from "./chat-stream.ts";

const identity = { id: "chatcmpl-1", createdS: 1, clock: systemClock, model: "m", modelId: "m" };

/** What a caller gets of a stream that comes in these packets, up to where it ends or breaks. */
async function heard(packets: readonly Uint8Array[], parsesAll: boolean): Promise<string> {
  const { signal } = new AbortController();
  const reply = toReply(packets);
  const stream = new OpenAiChatStream({ provider: "acme", reply, signal, parsesAll });
  const writer = new ChatEventWriter(identity, { includeUsage: true, choices: 1 });
  let text = "";
  try {
    for (let parts = await stream.read(); parts !== undefined; parts = await stream.read()) {
      writer.extras = stream.extras;
      for (const part of parts)
        text +=
          part.type === "usage" || part.type === "done"
            ? `${JSON.stringify(part)}\n`
            : writer.write(part);
    }
  } catch (error) {
    text += error instanceof ApiError ? `${error.code}: ${error.detail}` : String(error);
  }
  return `${text}${JSON.stringify(stream.extras)} ${writer.said.chars} ${writer.said.text}`;
}

/** Tiny packets, every event parsed: the way on which nothing is assumed. */
const slowly = (bytes: Uint8Array, sizeBytes = 1) =>
  heard(
    Array.from({ length: Math.ceil(bytes.length / sizeBytes) }, (_, at) =>
      bytes.slice(at * sizeBytes, (at + 1) * sizeBytes),
    ),
    true,
  );

/** A packet for each event, and then some more cuts. */
function packetsOf(bytes: Uint8Array, more: readonly number[] = []): Uint8Array[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1))
    if (bytes[at + 1] === 0x0a) ends.push(at + 2);
  const cuts = [...new Set([0, ...ends, ...more, bytes.length])];
  cuts.sort((one, other) => one - other);
  return cuts.slice(1).map((stop, at) => bytes.slice(cuts[at], stop));
}

const toBytes = (events: readonly unknown[]) =>
  new TextEncoder().encode(
    `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`,
  );

const chunk = (content: string, fields: object = {}) => ({
  id: "chatcmpl-vendor",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt",
  system_fingerprint: "fp_1",
  choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
  usage: null,
  ...fields,
});

const texts = [
  "Hello",
  " wor",
  "ld",
  "",
  "!",
  "Grüße ",
  "👩‍👩‍👧",
  ":",
  '"',
  "\\",
  "\n",
  "\u2028",
  "\u007f",
];
const typical = [
  chunk("", { choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }),
  ...texts.map((text) => chunk(text)),
  chunk(" new", { system_fingerprint: "fp_2" }),
  ...texts.map((text) => chunk(text)),
  ...texts.map((text) => chunk(text, { service_tier: "default" })),
  chunk("", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  chunk("", { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
];

/** Between two cuts of one stream: mostly a whole event, which may be one that need not be parsed. */
const apartBytes = 400;

const recorded = loadRecordings().flatMap(({ vendor, slug, upstream: { events } }) =>
  events === undefined ? [] : [[`${vendor}/${slug}`, events] as const],
);

for (const [name, events] of [["a typical stream", typical] as const, ...recorded])
  test(`what is not parsed reads the same, cut at any byte: ${name}`, async () => {
    const bytes = toBytes(events);
    const expected = await slowly(bytes);
    for (let first = 0; first < Math.min(apartBytes, bytes.length); first++) {
      const cuts: number[] = [];
      for (let at = first; at < bytes.length; at += apartBytes) cuts.push(at);
      const found = await heard(packetsOf(bytes, cuts), false);
      if (found !== expected) expect([cuts, found]).toEqual([cuts, expected]);
    }
  });

test("what is not parsed reads the same, whatever a vendor's habits", async () => {
  for (let seed = 0; seed < 240; seed++) {
    const bytes = bodyOf(seed);
    const expected = await slowly(bytes, 13);
    for (const packets of [packetsOf(bytes), packetsOf(bytes, [bytes.length >> 1]), [bytes]])
      expect([seed, await heard(packets, false)]).toEqual([seed, expected]);
  }
});

test("of a typical stream, only what differs in more than its text is parsed", async () => {
  const events = Array.from({ length: 100 }, (_, at) => chunk(` word${at}`));
  const packets = packetsOf(toBytes(events));
  const parse = spyOn(JSON, "parse");
  await heard(packets, false);
  const parsed = parse.mock.calls.length;
  parse.mockClear();
  await heard(packets, true);
  const all = parse.mock.calls.length;
  parse.mockRestore();
  expect(all).toBe(100);
  // The first one, and once more to learn where its text stands.
  expect(parsed).toBe(2);
});

function bodyOf(seed: number): Uint8Array {
  const [step] = toScript(oddStream(seed).reply);
  const bytes = step !== undefined && "send" in step ? Buffer.from(step.send) : Buffer.of();
  const end = bytes.indexOf("\r\n\r\n");
  const body = bytes.subarray(end + 4);
  if (!bytes.subarray(0, end).toString("latin1").includes("chunked")) return body;
  const decoder = new ChunkDecoder();
  decoder.push(body);
  return body.subarray(decoder.start, decoder.end);
}

test("text of legacy completions is recognized without parsing each event", async () => {
  const event = (text: string, fields = {}) =>
    `data: ${JSON.stringify({ id: "cmpl-1", choices: [{ index: 1, text, logprobs: null, ...fields }] })}\n\n`;
  const packet = Buffer.from(event(" red") + event(" and") + event("\n") + event(" blue"));
  const parse = spyOn(JSON, "parse");
  const stream = new OpenAiChatStream({
    provider: "acme",
    reply: toReply([packet]),
    signal: new AbortController().signal,
  });
  const parts = await stream.read();
  const parsed = parse.mock.calls.length;
  parse.mockRestore();
  expect(parts).toEqual([
    { type: "text-delta", index: 1, text: " red" },
    { type: "text-delta", index: 1, text: " and", isPlain: true },
    { type: "text-delta", index: 1, text: "\n" },
    { type: "text-delta", index: 1, text: " blue", isPlain: true },
  ]);
  // The first and the one that needs an escape, and one to check what was learned.
  expect(parsed).toBe(3);
});
