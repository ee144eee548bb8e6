import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFile } from "openai";
import { formOf } from "../e2e/transcription/form.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";
import { refusalOf } from "../replies/refusal.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(600_000);

let engine: EngineHome;
const folder = mkdtempSync(join(tmpdir(), "svc-transcribe-"));
beforeAll(async () => {
  engine = await startEngineHome({ sets: ["speech", "recognizer"] });
}, 900_000);
afterAll(async () => {
  await engine.stop();
  rmSync(folder, { recursive: true });
});

const model = "svc-transcribe-1";
const fileOf = (name: string) => toFile(fixtureBytes(name), name);
const wordsIn = (text: string) => text.toLowerCase().match(/[a-z]+/g) ?? [];
const spoken = wordsIn("The quick brown fox jumps over the lazy dog. Then it sleeps in the sun.");
const send = (file: File, fields: Readonly<Record<string, string>> = {}) =>
  fetch(`${engine.server.baseUrl}/audio/transcriptions`, {
    method: "POST",
    body: formOf({ model, file, ...fields }),
    headers: { authorization: `Bearer ${engine.server.key}` },
  });

test("what svc say speaks, svc transcribe reads back", async () => {
  const file = join(folder, "hello.wav");
  const text = "Please meet me at the station tomorrow morning.";
  expect(await engine.home.svc(["say", text, "-o", file])).toMatchObject({ code: 0 });
  const { code, stdout } = await engine.home.svc(["transcribe", file]);
  expect([code, wordsIn(stdout)]).toEqual([0, wordsIn(text)]);
  const srt = await engine.home.svc(["transcribe", file, "--format", "srt", "--language", "en"]);
  expect(srt.stdout).toMatch(/^1\n00:00:00,\d{3} --> 00:00:0[2-5],\d{3}\nPlease meet me/);
});

describe("the SDK", () => {
  test("gets segments, subtitles, and events as segments are recognized", async () => {
    const { transcriptions } = engine.client.audio;
    const verbose = await transcriptions.create({
      model,
      file: await fileOf("speech.wav"),
      response_format: "verbose_json",
    });
    expect(wordsIn(verbose.text)).toEqual(spoken);
    expect(verbose).toMatchObject({ language: "en", duration: 3.98 });
    const ends = verbose.segments?.map(({ end }) => end) ?? [];
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.toSorted((one, other) => one - other)).toEqual(ends);
    const file = await fileOf("speech-opus.webm");
    const vtt = await transcriptions.create({ model, file, response_format: "vtt" });
    expect(JSON.stringify(vtt)).toContain("quick brown fox");
    const stream = await transcriptions.create({
      model,
      file: await fileOf("speech-cbr.mp3"),
      stream: true,
    });
    let text = "";
    let done = "";
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") done = event.text;
    }
    expect(wordsIn(text)).toEqual(spoken);
    expect(done).toBe(text.trim());
  });
});

test("audio longer than what the model hears at once is heard to its end", async () => {
  const wav = fixtureBytes("speech.wav");
  const samples = wav.subarray(44);
  const long = Buffer.concat([wav.subarray(0, 44), ...Array.from({ length: 9 }, () => samples)]);
  long.writeUInt32LE(samples.length * 9, 40);
  const reply = await send(new File([long], "long.wav"), { response_format: "verbose_json" });
  const { text, segments, usage } = (await reply.json()) as {
    readonly text: string;
    readonly segments: readonly { readonly start: number; readonly end: number }[];
    readonly usage: { readonly seconds: number };
  };
  expect(usage.seconds).toBe(36);
  expect(text.match(/quick brown fox/gi)?.length).toBeGreaterThanOrEqual(8);
  expect(segments.at(-1)?.end).toBeGreaterThan(33);
  for (const [at, { start }] of segments.entries())
    expect(start).toBeGreaterThanOrEqual((segments[at - 1]?.start ?? 0) - 0.01);
});

test("what it cannot do is a 400 that names the field, and silence has no words", async () => {
  const wav = fixtureBytes("speech.wav");
  expect(await refusalOf(send(new File([wav], "a.wav"), { language: "klingon" }))).toMatchObject({
    status: 400,
    param: "language",
  });
  const words = { response_format: "verbose_json", "timestamp_granularities[]": "word" };
  expect(await refusalOf(send(new File([wav], "a.wav"), words))).toMatchObject({
    status: 400,
    param: "timestamp_granularities",
  });
  const silence = await send(new File([wav.slice().fill(0, 44)], "a.wav"));
  expect(await silence.json()).toMatchObject({ usage: { seconds: 4 } });
});
