import { expect } from "bun:test";
import { embeddedModel, embeddedSpeech } from "../../fake/openai/embedded-model.ts";
import { chatAnswers, speechReplies, tone } from "../../fake/recordings.ts";

import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-2.5-flash-tts";
const voice = "Kore";

/** The fields of a plain WAV header. */
function headerOf(wav: Buffer) {
  const name = (at: number) => wav.toString("latin1", at, at + 4);
  return {
    names: [name(0), name(8), name(12), name(36)],
    format: wav.readUInt16LE(20),
    channels: wav.readUInt16LE(22),
    sampleRateHz: wav.readUInt32LE(24),
    bitsPerSample: wav.readUInt16LE(34),
  };
}

const promised = {
  names: ["RIFF", "WAVE", "fmt ", "data"],
  format: 1,
  channels: 1,
  sampleRateHz: 24_000,
  bitsPerSample: 16,
};

export function speechAndModelChecks(check: Check, stage: Stage): void {
  check("gets speech of the embedded voice as a wav of 24 kHz, mono, 16 bits", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const body = { model, voice, input: "Hello." };
    const reply = await stage.gateway.client().audio.speech.create(body);
    expect(reply.headers.get("content-type")).toBe("audio/wav");
    const wav = Buffer.from(await reply.arrayBuffer());
    expect(headerOf(wav)).toEqual(promised);
    expect(wav.subarray(44).equals(embeddedSpeech())).toBe(true);
    // A quarter of a second at least.
    expect(wav.length).toBeGreaterThan(44 + 12_000);
    const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
    expect(samples.some((sample) => Math.abs(sample) > 1_000)).toBe(true);
  });

  check("gets the same samples as wav and pcm", async () => {
    stage.gateway.upstream.replyWith(speechReplies.pcmChunked());
    const speak = async (format: "wav" | "pcm") => {
      const body = { model, voice, input: "Hello.", response_format: format };
      const reply = await stage.gateway.client().audio.speech.create(body);
      return {
        type: reply.headers.get("content-type"),
        bytes: Buffer.from(await reply.arrayBuffer()),
      };
    };
    const [wav, pcm] = [await speak("wav"), await speak("pcm")];
    expect([wav.type, pcm.type]).toEqual(["audio/wav", "audio/pcm"]);
    expect(headerOf(wav.bytes)).toEqual(promised);
    expect(wav.bytes.subarray(44).equals(tone(0.5))).toBe(true);
    expect(pcm.bytes.equals(tone(0.5))).toBe(true);
    expect(sentUpstream(stage.gateway)).toMatchObject({ voice, input: "Hello." });
  });

  check("lists models page by page, and can retrieve each of them", async () => {
    const client = stage.gateway.client();
    const ids: string[] = [];
    for await (const listed of client.models.list()) {
      expect(listed).toMatchObject({ object: "model", owned_by: expect.any(String) });
      expect(await client.models.retrieve(listed.id)).toMatchObject({ ...listed });
      ids.push(listed.id);
    }
    expect(ids).toContain("svc-3-flash");
    expect(ids).not.toContain("unpriced");
  });

  check("retrieves and calls a model whose id contains a slash", async () => {
    const id = "vendor/with-slash";
    const client = stage.gateway.client();
    expect(await client.models.retrieve(id)).toMatchObject({ id, object: "model" });
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const messages = [{ role: "user" as const, content: "Say hello" }];
    const completion = await client.chat.completions.create({ model: id, messages });
    expect(completion.model).toBe(id);
  });
}
