/** Damaged files and packets, from a seed: the decoder refuses them or plays on, and never breaks. */

import { expect, test } from "bun:test";
import { inspectAudio } from "../../../src/media/audio/audio.ts";
import { fixtureBytes, seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { EngineError } from "../../contract.ts";
import { decodeAudio } from "../../transcription/decode.ts";
import { openPacketDecoder } from "../../transcription/packet-decoder.ts";
import type { AudioFormat } from "../../transcription/sound.ts";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "../mediabunny.ts";

const names = [
  "speech-opus.ogg",
  "speech-opus.webm",
  "speech-vorbis.ogg",
  "speech.m4a",
  "speech-stereo.m4a",
  "speech-fragmented.m4a",
  "speech-cbr.mp3",
  "speech-vbr.mp3",
  "speech.flac",
];

const packetsPerCase = 8;
const casesPerName = 115;

async function packetsOf(name: string): Promise<{ format: AudioFormat; packets: Uint8Array[] }> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(fixtureBytes(name)) });
  const track = await input.getPrimaryAudioTrack();
  const config = await track?.getDecoderConfig();
  if (!track || !config) throw new Error(`${name} has no audio`);
  const packets: Uint8Array[] = [];
  for await (const { data } of new EncodedPacketSink(track).packets()) packets.push(data);
  const { description, numberOfChannels: channels, sampleRate: rate } = config;
  const own = description as Uint8Array | undefined;
  return {
    format: { codec: (await track.getCodec()) ?? "", channels, rate, description: own },
    packets,
  };
}

type Random = (below: number) => number;

const noise = (random: Random, length: number) => Uint8Array.from({ length }, () => random(256));

function flipped(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  for (let flips = random(20); flips >= 0; flips--) {
    const place = random(copy.length);
    copy[place] = (copy[place] ?? 0) ^ (1 << random(8));
  }
  return copy;
}

/** Noise, a cut, flipped bits, or noise behind a real start. */
function damaged(packet: Uint8Array, random: Random): Uint8Array {
  const kind = random(5);
  if (kind === 0) return noise(random, random(1500));
  if (kind === 1) return packet.slice(0, random(packet.length));
  if (kind === 2) return new Uint8Array([...packet.slice(0, 4), ...noise(random, random(1500))]);
  return kind === 3 ? flipped(packet, random) : packet;
}

test("1,000 runs of hostile packets", async () => {
  let runs = 0;
  for (const name of names) {
    const { format, packets } = await packetsOf(name);
    const random = seededRandom(22);
    for (let run = 0; run < casesPerName; run++) {
      const decoder = openPacketDecoder(format);
      try {
        for (let count = 0; count < packetsPerCase; count++) {
          const packet = packets[random(packets.length)] ?? new Uint8Array();
          for (const { samples } of decoder.decode(damaged(packet, random)))
            expect(samples.length).toBeLessThan(200_000);
        }
        decoder.end();
      } catch (error) {
        expect(error).toBeInstanceOf(EngineError);
        expect(error).toMatchObject({ status: 400, param: "file" });
      } finally {
        decoder.close();
      }
      runs++;
    }
  }
  expect(runs).toBeGreaterThan(1_000);
}, 120_000);

/** Refusals are for the caller; whatever else is thrown is a bug. */
async function secondsHeard(audio: Uint8Array): Promise<number> {
  let samples = 0;
  try {
    for await (const piece of decodeAudio({ audio, signal: new AbortController().signal }))
      samples += piece.length;
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ status: 400, param: "file" });
  }
  return samples / 16_000;
}

test.each([...names, "speech.wav"])(
  "%s that is cut or damaged gives no more than is billed",
  async (name) => {
    const random = seededRandom(22);
    const bytes = fixtureBytes(name);
    const files: Uint8Array[] = [];
    for (let end = 97; end < bytes.length; end += 97 * 16) files.push(bytes.slice(0, end));
    for (let round = 0; round < 12; round++) files.push(flipped(bytes, random));
    for (const file of files) {
      const seconds = await secondsHeard(file);
      const billed = await inspectAudio(file);
      if (billed.ok) expect(seconds).toBeLessThan(billed.durationS + 0.1);
    }
  },
  120_000,
);

test("a file whose frames are mostly noise is refused", async () => {
  const broken = fixtureBytes("speech.m4a");
  const start = Buffer.from(broken).indexOf("mdat") + 4;
  const sizeBytes = new DataView(broken.buffer).getUint32(start - 8) - 8;
  broken.set(noise(seededRandom(3), sizeBytes), start);
  let refusal = "";
  try {
    const pieces = decodeAudio({ audio: broken, signal: new AbortController().signal });
    for await (const _ of pieces);
  } catch (error) {
    refusal = String(error);
  }
  expect(refusal).toContain("too many of its frames are damaged");
});
