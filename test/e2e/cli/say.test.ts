import { beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { speechReplies, tone } from "../../fake/recordings.ts";
import { useCallHome } from "../../setup/call-home.ts";
import { succeeds } from "../../setup/outcomes.ts";

const pcm = tone(0.5);

const calls = await useCallHome();
beforeEach(() => {
  for (const name of readdirSync(calls.folder)) rmSync(join(calls.folder, name));
});

const read = (name: string): Buffer => readFileSync(join(calls.folder, name));
const sizesOf = (wav: Buffer) => [wav.readUInt32LE(4), wav.readUInt32LE(40)];

test("writes a WAV with its true sizes, though the stream did not know them", async () => {
  for (const recording of [speechReplies.pcmChunked(), speechReplies.pcmWithLength()]) {
    calls.upstream.replyWith(recording);
    const stdout = succeeds(await calls.svc("say Hello there -o hello.wav --voice Puck"));
    expect(stdout).toMatch(
      /^wrote hello\.wav: 0\.50 s of speech, first audio after \d+\.\d\d s, real-time factor \d+\.\d\d\n$/,
    );
    const wav = read("hello.wav");
    expect(wav.subarray(44)).toEqual(pcm);
    expect(sizesOf(wav)).toEqual([pcm.length + 36, pcm.length]);
  }
  expect(calls.upstream.requests[0]?.json).toMatchObject({
    model: "upstream-tts",
    input: "Hello there",
    voice: "Puck",
  });
});

test("writes PCM where the name or the flag says so", async () => {
  calls.upstream.replyWith(speechReplies.pcmChunked());
  for (const words of ["-o a.pcm", "-o a.sound --format pcm"]) {
    succeeds(await calls.svc(`say Hello ${words}`));
    expect(read(words.split(" ")[1] ?? "")).toEqual(pcm);
  }
});

test("without -o takes speech.wav, or the next name that is free", async () => {
  calls.upstream.replyWith(speechReplies.pcmChunked());
  await calls.svc(["say", "Hello"]);
  const { stdout } = await calls.svc(["say", "Hello", "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    file: "speech-2.wav",
    format: "wav",
    size_bytes: 44 + pcm.length,
    duration_s: 0.5,
    first_audio_s: expect.any(Number),
    total_s: expect.any(Number),
    real_time_factor: expect.any(Number),
  });
  expect(read("speech-2.wav")).toEqual(read("speech.wav"));
});

test("--curl gives a line that writes the same sound", async () => {
  calls.upstream.replyWith(speechReplies.pcmWithLength());
  await calls.svc("say It's -o own.wav");
  const { stdout } = await calls.svc(["say", "It's", "-o", "by curl's.wav", "--curl"]);
  expect(calls.upstream.requests).toHaveLength(1);
  expect((await calls.shell(stdout)).code).toBe(0);
  expect(read("by curl's.wav")).toEqual(read("own.wav"));
  expect(calls.upstream.requests[1]?.json).toEqual(calls.upstream.requests[0]?.json);
});

describe("a call that fails", () => {
  test("before the first sound leaves the file that was there", async () => {
    writeFileSync(join(calls.folder, "old.wav"), "old");
    calls.upstream.replyWith(speechReplies.jsonErrorWith200());
    const { code, stderr } = await calls.svc(["say", "Hello", "-o", "old.wav"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: The model failed to respond\. Try again\.\nTry: svc receipt req_\w+\n$/,
    );
    expect(read("old.wav").toString()).toBe("old");
  });
});
