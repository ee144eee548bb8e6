import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TRANSCRIPT, transcriptionReplies } from "../../fake/recordings.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { createHome } from "../../setup/child.ts";
import { useFolder } from "../../setup/folder.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

const upstream = await useFakeUpstream();
const home = createHome();
afterAll(() => home.remove());
const folder = useFolder();
const file = join(folder, "it's speech.mp3");
beforeAll(async () => {
  upstream.replyWith(transcriptionReplies.asAsked);
  home.writeConfig(`
providers: { fake: { kind: openai, base_url: "${upstream.baseUrl}", allow_private: true } }
models:
  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: w }] }
`);
  await home.serve();
  writeFileSync(file, fixtureBytes("speech-cbr.mp3"));
});

test("prints the text, or the format that was asked for", async () => {
  const { code, stdout } = await home.svc(["transcribe", file]);
  expect([code, stdout]).toEqual([0, `${TRANSCRIPT}\n`]);
  const srt = await home.svc(["transcribe", file, "--format", "srt", "--language", "en"]);
  expect(srt.stdout).toStartWith("1\n00:00:00,000 --> 00:00:02,500\nThe quick brown fox.\n");
  expect(upstream.requests.at(-1)?.body).toContain('name="language"\r\n\r\nen\r\n');
  const json = await home.svc(["transcribe", file, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ text: TRANSCRIPT, usage: { seconds: 5 } });
});

test("shows the receipt's seconds, and the same call as curl", async () => {
  const receipts = await home.svc("receipt list --json");
  expect(receipts.stdout).toContain('"audio_second"');
  const { stdout } = await home.svc(["transcribe", file, "--curl"]);
  expect(stdout).toContain(`-F 'file=@${file.replace("'", `'\\''`)}'`);
  expect(stdout).toContain("--form-string model=whisper --form-string response_format=text");
});

test("names the flag of a format that does not exist", async () => {
  const { code, stderr } = await home.svc(["transcribe", file, "--format", "docx"]);
  expect([code, stderr]).toEqual([
    2,
    'error: --format: Expected json, text, srt, verbose_json or vtt, not "docx".\n',
  ]);
});

test("--json is never answered with subtitles", async () => {
  const call = ["transcribe", file, "--json", "--format"];
  const { code, stdout, stderr } = await home.svc([...call, "srt"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("json cannot be combined with --format srt.");
  const verbose = await home.svc([...call, "verbose_json"]);
  expect(JSON.parse(verbose.stdout)).toHaveProperty("segments");
});

test("says what is wrong with a file", async () => {
  expect(await home.svc(["transcribe", join(folder, "none.wav")])).toMatchObject(
    refusal(2, "none.wav does not exist."),
  );
  writeFileSync(join(folder, "text.txt"), "no audio");
  const text = await home.svc(["transcribe", join(folder, "text.txt")]);
  expect(text.code).not.toBe(0);
  expect(text.stderr).toContain("file is not a WAV, MP3, FLAC, Ogg, M4A or WebM file.");
});
