import { describe, expect, test } from "bun:test";
import { wavHeader } from "../../../base/wav.ts";
import type { SpeakStream } from "../../../call/speak.ts";
import { openPcm } from "./pcm.ts";

const samples = Buffer.from(Array.from({ length: 64 }, (_, at) => at + 1));
const tail = Buffer.from("LIST\x04\0\0\0INFO", "latin1");
const wav = Buffer.concat([wavHeader({ dataBytes: samples.length }), samples, tail]);

/** Audio that arrives a few bytes at a time: a network joins what comes close together. */
function inReads(bytes: Uint8Array, readBytes: number): SpeakStream & { isCancelled: boolean } {
  let at = 0;
  return {
    lengthBytes: undefined,
    isCancelled: false,
    async read() {
      if (at >= bytes.length) return undefined;
      at += readBytes;
      return bytes.subarray(at - readBytes, at);
    },
    cancel() {
      this.isCancelled = true;
    },
  };
}

async function allOf(stream: SpeakStream): Promise<Buffer> {
  const { first, rest } = await openPcm(stream, "vendor");
  const pieces = [first];
  for (let next = await rest.read(); next !== undefined; next = await rest.read())
    pieces.push(next);
  return Buffer.concat(pieces);
}

describe("in reads of any size", () => {
  for (const readBytes of [1, 2, 3, 4, 5, 43, 44, 45, 1_000]) {
    test(`such as ${readBytes}, the header and what follows the samples are left out`, async () => {
      expect(await allOf(inReads(wav, readBytes))).toEqual(samples);
      expect((await openPcm(inReads(wav, readBytes), "vendor")).lengthBytes).toBe(samples.length);
    });

    test(`such as ${readBytes}, bare samples stay as they are`, async () => {
      expect(await allOf(inReads(samples, readBytes))).toEqual(samples);
      // They begin as a WAV does, and are none.
      const similar = Buffer.concat([Buffer.from("RIFE"), samples]);
      expect(await allOf(inReads(similar, readBytes))).toEqual(similar);
    });

    test(`such as ${readBytes}, other files are known and let go of`, async () => {
      for (const start of ["OggS", "fLaC", "ID3\x04", "\x1aE\xdf\xa3"]) {
        const stream = inReads(Buffer.concat([Buffer.from(start, "latin1"), samples]), readBytes);
        await expect(openPcm(stream, "vendor")).rejects.toThrow("The model failed to respond.");
        expect(stream.isCancelled).toBe(true);
      }
    });
  }
});
