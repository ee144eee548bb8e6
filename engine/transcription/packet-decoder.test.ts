import { expect, test } from "bun:test";
import { fixtureBytes } from "../../test/fixtures/media/fixture.ts";
import { openPacketDecoder } from "./packet-decoder.ts";

const format = { channels: 1, rate: 16_000, description: undefined };

test("frames that change their form midway never reach the decoder", () => {
  const decoder = openPacketDecoder({ ...format, codec: "mp3" });
  const mono = fixtureBytes("speech-cbr.mp3").slice(0, 108);
  const stereo = fixtureBytes("speech-vbr.mp3").slice(0, 24);
  decoder.decode(mono);
  expect(() => decoder.decode(stereo)).toThrow("changes its channels");
  expect(() => decoder.decode(Buffer.concat([mono, stereo]))).toThrow("damaged");
  decoder.close();
});

test("a codec that is not known is refused", () => {
  expect(() => openPacketDecoder({ ...format, codec: "ac3" })).toThrow("ac3, is not supported");
});
