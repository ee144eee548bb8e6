import { expect, test } from "bun:test";
import {
  geminiAudio,
  geminiEvent,
  geminiReply,
} from "../../../test/fake/vendors/gemini-replies.ts";
import { ApiError } from "../../base/errors.ts";
import { FetchReply } from "../kit/reply.ts";
import { GeminiSpeech, toSpeechBody } from "./speech.ts";

function speechOf(events: readonly unknown[]): GeminiSpeech {
  const body = events.map((event) => geminiEvent(event)).join("");
  const response = new FetchReply(
    new Response(body, { headers: { "content-type": "text/event-stream" } }),
  );
  return new GeminiSpeech({ provider: "up", response, signal: new AbortController().signal });
}

/** What is heard, and the code that it fails with, if it does. */
async function listen(speech: GeminiSpeech) {
  const heard: number[] = [];
  for (;;) {
    const bytes = await speech.read().catch((error: unknown) => error);
    if (bytes instanceof ApiError) return { heard, code: bytes.code };
    if (!(bytes instanceof Uint8Array)) return { heard, code: undefined };
    heard.push(...bytes);
  }
}

const audio = (...bytes: readonly number[]) => geminiAudio({ bytes: Uint8Array.from(bytes) });
const end = geminiReply({ finishReason: "STOP" });

test("the text is asked for as audio, in the route's name for the voice", () => {
  const call = { text: "Hi", voice: "Kore" } as const;
  const voices = { Kore: "Zephyr", Puck: "b", Charon: "c", Fenrir: "d", Aoede: "e" };
  const voiceOf = (voiceName: string) => ({ voiceConfig: { prebuiltVoiceConfig: { voiceName } } });
  expect(toSpeechBody(call, voices)).toEqual({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { responseModalities: ["AUDIO"], speechConfig: voiceOf("Zephyr") },
  });
  for (const same of ["same", undefined] as const)
    expect(toSpeechBody(call, same)["generationConfig"]).toMatchObject({
      speechConfig: voiceOf("Kore"),
    });
});

test("audio comes in the pieces of its events, also of an odd number of bytes", async () => {
  const speech = speechOf([audio(1, 2, 3), audio(4), audio(5, 6), end]);
  expect(speech.lengthBytes).toBeUndefined();
  expect([...((await speech.read()) ?? [])]).toEqual([1, 2, 3]);
  expect(await listen(speech)).toEqual({ heard: [4, 5, 6], code: undefined });
});

test("the last count of text and audio is told, and never their sum", async () => {
  const usage = (tokenCount: number) => ({
    promptTokenCount: 6,
    candidatesTokenCount: tokenCount,
    totalTokenCount: 6 + tokenCount,
    candidatesTokensDetails: [
      { modality: "TEXT", tokenCount: 1 },
      { modality: "AUDIO", tokenCount },
    ],
  });
  const bytes = Uint8Array.of(1, 2);
  const speech = speechOf([
    geminiAudio({ bytes, usage: usage(10) }),
    geminiAudio({ bytes, usage: usage(25) }),
    end,
  ]);
  expect(speech.usage()).toBeUndefined();
  await listen(speech);
  expect(speech.usage()).toEqual({ inputTokens: 6, audioTokens: 25 });
});

test("without details all of the answer is audio; what is not told is unknown", async () => {
  const bytes = Uint8Array.of(1, 2);
  const told = speechOf([
    geminiAudio({
      bytes,
      usage: { promptTokenCount: 6, candidatesTokenCount: 7 },
      finishReason: "STOP",
    }),
  ]);
  await listen(told);
  expect(told.usage()).toEqual({ inputTokens: 6, audioTokens: 7 });
  const untold = speechOf([geminiAudio({ bytes, usage: {}, finishReason: "STOP" })]);
  await listen(untold);
  expect(untold.usage()).toBeUndefined();
});

test("audio of another rate, form or number of channels is no audio of ours", async () => {
  const bytes = Uint8Array.of(1, 2);
  for (const mimeType of [
    "audio/L16;rate=16000",
    "audio/L16;codec=pcm;rate=24000;channels=2",
    "audio/L16;codec=mulaw;rate=24000",
    "audio/mp3",
    "image/png",
    "",
  ]) {
    const { heard, code } = await listen(speechOf([geminiAudio({ bytes, mimeType }), end]));
    expect([mimeType, heard, code]).toEqual([mimeType, [], "upstream_error"]);
  }
  for (const mimeType of ["audio/L16;rate=24000", "audio/l16; rate=24000; channels=1", "audio/pcm"])
    expect(await listen(speechOf([geminiAudio({ bytes, mimeType }), end]))).toEqual({
      heard: [1, 2],
      code: undefined,
    });
});

/** A whole file, as newer models answer a request that is not streamed. */
function wavFile({ rate = 24_000, tail = [] as readonly number[], isEndless = false } = {}) {
  const samples = [1, 2, 3, 4];
  const file = Buffer.concat([
    Buffer.from("RIFF\0\0\0\0WAVE"),
    // A chunk of an odd size has a byte behind it.
    Buffer.from("LIST\x03\0\0\0abc\0"),
    Buffer.from("fmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x02\0\x10\0"),
    Buffer.from("data\0\0\0\0"),
    Buffer.from([...samples, ...tail]),
  ]);
  const format = file.indexOf("fmt ");
  file.writeUInt32LE(rate, format + 12);
  file.writeUInt32LE(isEndless ? 0xffff_ffff : samples.length, file.indexOf("data") + 4);
  return file;
}

test("a whole wav file is heard without its header and what stands behind the samples", async () => {
  const mimeType = "audio/wav";
  const heardIn = (bytes: Uint8Array) => listen(speechOf([geminiAudio({ bytes, mimeType }), end]));
  const right = { heard: [1, 2, 3, 4], code: undefined };
  expect(await heardIn(wavFile())).toEqual(right);
  expect(await heardIn(wavFile({ tail: [9, 9] }))).toEqual(right);
  expect(await heardIn(wavFile({ isEndless: true }))).toEqual(right);
  const wrong = { heard: [] as number[], code: "upstream_error" as const };
  expect(await heardIn(wavFile({ rate: 16_000 }))).toEqual(wrong);
  expect(await heardIn(wavFile().subarray(0, 40))).toEqual(wrong);
});

for (const [what, events] of [
  ["has no end", [audio(1, 2)]],
  ["was cut for its length", [audio(1, 2), geminiReply({ finishReason: "MAX_TOKENS" })]],
  ["breaks off for another reason", [audio(1, 2), geminiReply({ finishReason: "OTHER" })]],
  ["fails", [audio(1, 2), { error: { code: 500, status: "INTERNAL", message: "no" } }]],
] as const)
  test(`audio that ${what} fails, behind what was heard`, async () => {
    expect(await listen(speechOf(events))).toEqual({ heard: [1, 2], code: "upstream_error" });
  });

test("no audio at all is a failure, or a refusal where the vendor says so", async () => {
  const codeOf = async (...events: readonly unknown[]) => (await listen(speechOf(events))).code;
  expect(await codeOf(end)).toBe("upstream_error");
  expect(await codeOf(geminiReply({ parts: [{ text: "Hi" }], finishReason: "STOP" }))).toBe(
    "upstream_error",
  );
  expect(await codeOf(geminiReply({ finishReason: "OTHER" }))).toBe("upstream_error");
  expect(await codeOf(geminiReply({ finishReason: "SAFETY" }))).toBe("content_filtered");
  expect(await codeOf({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })).toBe(
    "content_filtered",
  );
});

test("audio that is no base64 is a failure", async () => {
  const inlineData = { mimeType: "audio/L16;rate=24000", data: "no base64!" };
  const events = [geminiReply({ parts: [{ inlineData }] }), end];
  expect(await listen(speechOf(events))).toEqual({ heard: [], code: "upstream_error" });
});
