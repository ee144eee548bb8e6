import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  embeddingReplies,
  failures,
  httpReply,
  operatorErrors,
  type Recording,
  rateLimits,
  speechReplies,
  tone,
  VECTORS,
} from "./recordings.ts";
import { type FakeUpstream, startFakeUpstream } from "./upstream.ts";

let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.stop());

async function answer(recording: Recording): Promise<Response> {
  upstream.replyOnce(recording);
  return await fetch(upstream.baseUrl, { method: "POST", body: "{}", redirect: "manual" });
}

const groups: Readonly<Record<string, Readonly<Record<string, () => Recording>>>> = {
  chatAnswers,
  chatStreams,
  embeddingReplies,
  speechReplies,
  badRequests,
  operatorErrors,
  rateLimits: { ...rateLimits, date: () => rateLimits.date(new Date(1_791_968_460_000)) },
  failures,
};

for (const [group, recordings] of Object.entries(groups)) {
  describe(group, () => {
    for (const [name, record] of Object.entries(recordings)) {
      test(`${name} is a whole reply that leaves nothing behind on its connection`, async () => {
        const reply = await answer(record());
        await reply.bytes();
        const request = upstream.requests.at(-1);
        await request?.closed;
        expect(request?.abortedByClient).toBe(false);
        expect(await (await answer(chatAnswers.plain())).json()).toHaveProperty("id");
      });
    }
  });
}

test("a chunked reply is framed to the letter", () => {
  const { parts, end } = httpReply({ body: ["0123456789abcdef", "€"], framing: "chunked" });
  expect(parts.map((part) => Buffer.from(part).toString())).toEqual([
    "10\r\n0123456789abcdef\r\n",
    "3\r\n€\r\n",
  ]);
  expect(Buffer.from(end).toString()).toBe("0\r\n\r\n");
});

test("quirks of the stream's text are really in the bytes", async () => {
  const textOf = async (recording: Recording) => (await answer(recording)).text();
  expect(await textOf(chatStreams.crlf())).toEndWith("data: [DONE]\r\n\r\n");
  expect(await textOf(chatStreams.withoutFinalBlankLine())).toEndWith("data: [DONE]");
  expect(await textOf(chatStreams.withoutDone())).not.toContain("[DONE]");
  expect(await textOf(chatStreams.cutBeforeFinish())).not.toContain('"finish_reason":"');
  expect(await textOf(chatStreams.nullErrors())).toContain('"finish_reason":""');
  expect(chatStreams.severalEventsInAPacket().parts.length).toBe(3);
  expect((await answer(chatStreams.jsonInsteadOfStream())).headers.get("content-type")).toBe(
    "application/json",
  );
});

test("vectors are the same as floats, as base64 and out of order", async () => {
  const floats = (await (await answer(embeddingReplies.float())).json()) as EmbeddingList;
  expect(floats.data.map((row) => row.embedding)).toEqual([...VECTORS]);

  const packed = (await (await answer(embeddingReplies.base64())).json()) as EmbeddingList;
  const decoded = packed.data.map((row) => {
    const bytes = Buffer.from(String(row.embedding), "base64");
    return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
  });
  expect(decoded).toEqual(VECTORS.map((vector) => [...vector]));

  const mixed = (await (await answer(embeddingReplies.outOfOrder())).json()) as EmbeddingList;
  expect(mixed.data.map((row) => row.index)).toEqual([2, 0, 1]);
  expect(mixed.data[0]?.embedding).toEqual(VECTORS[2]);
});

test("speech is the tone, in parts that split samples", async () => {
  const recording = speechReplies.pcmChunked({ seconds: 0.5 });
  expect(recording.parts.length).toBe(5);
  expect(Buffer.from(await (await answer(recording)).bytes())).toEqual(Buffer.from(tone(0.5)));
  const wav = await (await answer(speechReplies.wavInsteadOfPcm())).bytes();
  expect(Buffer.from(wav.subarray(44))).toEqual(Buffer.from(tone(0.5)));
});

test("retry hints come in each of their forms", async () => {
  const hint = async (recording: Recording) => {
    const { headers, status } = await answer(recording);
    return [status, headers.get("retry-after"), headers.get("retry-after-ms")];
  };
  expect(await hint(rateLimits.seconds(7))).toEqual([429, "7", null]);
  expect(await hint(rateLimits.millisecondsAlone(1_500))).toEqual([429, null, "1500"]);
  expect(await hint(rateLimits.date(new Date(0)))).toEqual([
    429,
    "Thu, 01 Jan 1970 00:00:00 GMT",
    null,
  ]);
  expect(await hint(rateLimits.withoutHint())).toEqual([429, null, null]);
  expect(await hint(failures.unavailable(3))).toEqual([503, "3", null]);
});

interface EmbeddingList {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
}
