/** Embeddings for clients of both habits, floats and base64, whatever the upstream can speak. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { embeddingsReply, vendorError } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const base64Of = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const png = `data:image/png;base64,${base64Of("tiny.png")}`;
const clip = { video: { bytesBase64Encoded: base64Of("h264-1s.mp4") } };
/** Not exact in float32, so that a wrong width or order of bytes shows. */
const vector = [0.1, -0.2, 1 / 3, 1e-7];
const inputs = {
  text: { model: "svc-embedding-2", input: "x" },
  images: { model: "multimodal-embedding-1", input: [png] },
  "a video": { model: "multimodal-embedding-1", input: clip },
} as const;

async function embeddingOf(body: object): Promise<unknown> {
  const reply = await gateway.call("/embeddings", body);
  const { data } = (await reply.json()) as { readonly data: readonly { embedding: unknown }[] };
  return data[0]?.embedding;
}

function decode(embedding: unknown): readonly number[] {
  expect(embedding).toBeString();
  const bytes = Buffer.from(String(embedding), "base64");
  expect(bytes.length).toBe(vector.length * 4);
  return vector.map((_, at) => bytes.readFloatLE(at * 4));
}

for (const [kind, body] of Object.entries(inputs))
  for (const spoken of ["float", "base64"] as const)
    test(`${kind}: floats and base64 are the same numbers when the upstream speaks only ${spoken}`, async () => {
      gateway.upstream.replyWith(embeddingsReply({ vectors: [vector], encoding: spoken }));
      const floats = (await embeddingOf(body)) as readonly number[];
      expect(floats.map(Math.fround)).toEqual(vector.map(Math.fround));
      expect(await embeddingOf({ ...body, encoding_format: "float" })).toEqual(floats);
      const packed = await embeddingOf({ ...body, encoding_format: "base64" });
      expect(decode(packed)).toEqual(vector.map(Math.fround));
    });

test("base64 is served by an upstream that refuses to hear of it", async () => {
  gateway.upstream.replyWith((request: RecordedRequest) => {
    const { encoding_format: asked = "float" } = request.json as { encoding_format?: string };
    return asked === "float"
      ? embeddingsReply({ vectors: [vector] })
      : vendorError(422, { message: "encoding_format: only float is supported" });
  });
  const packed = await embeddingOf({ ...inputs.text, encoding_format: "base64" });
  expect(decode(packed)).toEqual(vector.map(Math.fround));
});

describe("a refusal says which entry and why, and nothing reaches an upstream:", () => {
  const whole = fixtureBytes("h264-3s.mp4");
  const cut = Buffer.from(whole.subarray(0, whole.length / 2)).toString("base64");
  const asVideo = (base64: string) => ({ video: { bytesBase64Encoded: base64 } });
  const jpegAsPng = `data:image/png;base64,${base64Of("tiny.jpg")}`;
  const tooLarge = Buffer.concat([fixtureBytes("h264-1s.mp4"), Buffer.alloc(307_201)]);
  const sized = tooLarge.subarray(0, 307_201).toString("base64");
  const wrong: Readonly<Record<string, readonly [input: unknown, which: string, why: RegExp]>> = {
    "a mix": [[png, clip], "input[1]", /mix/],
    "a mix with words": [[png, png, "a cat"], "input[2]", /data URI/],
    "a ninth image": [Array(9).fill(png), "input", /1 to 8/],
    "a bad data URI": [[png, "data:image/png,plain"], "input[1]", /base64/],
    "a file that is not what it claims": [[png, jpegAsPng], "input[1]", /png.*jpeg/],
    "307,201 bytes": [asVideo(sized), "input.video.bytesBase64Encoded", /307201.*307200/],
    "6.2 seconds": [
      asVideo(base64Of("h264-6.2s.mp4")),
      "input.video.bytesBase64Encoded",
      /6\.2.*6 s/,
    ],
    "a truncated video": [asVideo(cut), "input.video.bytesBase64Encoded", /truncated/],
    "a truncated WebM": [
      asVideo(Buffer.from(fixtureBytes("vp9-2s.webm").subarray(0, -2_000)).toString("base64")),
      "input.video.bytesBase64Encoded",
      /truncated/,
    ],
  };
  for (const [name, [input, which, why]] of Object.entries(wrong))
    test(name, async () => {
      const body = { model: "multimodal-embedding-1", input };
      const { message, ...refusal } = await refusalOf(gateway.call("/embeddings", body));
      expect(refusal).toEqual({
        status: 400,
        type: "invalid_request_error",
        code: "invalid_request",
        param: which,
      });
      expect(message).toStartWith(which);
      expect(message).toMatch(why);
      expect(gateway.upstream.requests).toBeEmpty();
    });
});
