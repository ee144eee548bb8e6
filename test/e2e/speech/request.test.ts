/** What POST /v1/audio/speech accepts, and what it asks the upstream for. */

import { describe, expect, test } from "bun:test";
import { speechReplies } from "../../fake/recordings.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const flash = "svc-2.5-flash-tts";
const pro = "svc-2.5-pro-tts";
const invalid = { code: "invalid_request", type: "invalid_request_error" };
const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;

const gateway = useTestGateway();

const speak = (fields: object = {}) =>
  gateway.call("/audio/speech", { model: flash, input: "Hello", voice: "Kore", ...fields });

test("the upstream is asked for PCM, by its own name of the model and with its own key", async () => {
  gateway.upstream.replyWith(speechReplies.pcmChunked());
  for (const response_format of ["wav", "pcm", undefined, null]) {
    const usual = { speed: 1, instructions: "", stream_format: "audio" };
    for (const fields of [{}, usual, { speed: null, instructions: null, stream_format: null }])
      await (await speak({ response_format, ...fields })).arrayBuffer();
    const request = gateway.upstream.requests.at(-1);
    expect(request).toMatchObject({
      path: "/v1/audio/speech",
      headers: { authorization: "Bearer vendor-secret" },
    });
    for (const { json } of gateway.upstream.requests)
      expect(json).toEqual({
        model: "upstream-tts",
        input: "Hello",
        voice: "Kore",
        response_format: "pcm",
      });
  }
});

describe("voices", () => {
  test("go upstream as the route maps them, or by the same name", async () => {
    gateway.upstream.replyWith(speechReplies.pcmChunked());
    for (const model of [flash, pro])
      for (const voice of voices) await (await speak({ model, voice })).arrayBuffer();
    const sent = gateway.upstream.requests.map(({ json }) => (json as { voice: string }).voice);
    expect(sent).toEqual([...voices, "a", "b", "c", "d", "e"]);
  });

  test("of other providers, misspelt, mapped or missing are refused with the list of ours", async () => {
    for (const voice of [
      "alloy",
      "kore",
      "KORE",
      "Kore ",
      "a",
      "",
      7,
      ["Kore"],
      { id: "voice_1234" },
      null,
      undefined,
    ]) {
      const refusal = await refusalOf(speak({ model: pro, voice }));
      expect(refusal).toMatchObject({ status: 400, ...invalid, param: "voice" });
      for (const ours of voices) expect(refusal.message).toContain(ours);
    }
    const thrown = await thrownBy(
      gateway.client().audio.speech.create({ model: flash, input: "Hi", voice: "nova" }),
    );
    expect(thrown).toMatchObject({ status: 400, param: "voice" });
    expect(gateway.upstream.requests).toBeEmpty();
  });
});

describe("input", () => {
  test("of 5000 emoji passes, because characters are code points", async () => {
    gateway.upstream.replyWith(speechReplies.pcmChunked());
    const input = "👋".repeat(5000);
    expect((await speak({ input })).status).toBe(200);
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ input });
    // A family is one character to the eye, and seven to the contract, which counts code points.
    const families = "👩‍👩‍👧‍👦".repeat(714);
    expect((await speak({ input: `${families}ab` })).status).toBe(200);
  });

  test("of 5001 characters, of none or of no text is refused by name", async () => {
    const families = `${"👩‍👩‍👧‍👦".repeat(714)}abc`;
    const texts = ["x".repeat(5001), "👋".repeat(5001), families];
    const wrong = [...texts, "", 7, ["Hi"], null, undefined];
    for (const input of wrong) {
      const refusal = await refusalOf(speak({ input }));
      expect(refusal).toMatchObject({ status: 400, ...invalid, param: "input" });
      expect(refusal.message).toContain("5000");
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });
});
