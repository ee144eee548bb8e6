import { beforeEach, describe, expect, test } from "bun:test";
import { embeddingsReply, jsonReply } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const model = "multimodal-embedding-1";
const base64Of = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const image = (name: string, type = `image/${name.split(".").at(-1)}`) =>
  `data:${type};base64,${base64Of(name)}`;
const video = (base64: string) => ({ video: { bytesBase64Encoded: base64 } });

const png = image("tiny.png");
const clip = video(base64Of("h264-3s.mp4"));

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(oneVectorEach));

const embed = (input: unknown, fields: object = {}) =>
  gateway.call("/embeddings", { model, input, ...fields });

/** Through the SDK, which passes on what its types do not know. */
const embedWithSdk = (input: unknown) =>
  gateway.client().embeddings.create({ model, input: input as string[] });

function oneVectorEach(request: RecordedRequest) {
  const { input } = request.json as { readonly input: unknown };
  const count = Array.isArray(input) ? input.length : 1;
  return embeddingsReply({ vectors: Array.from({ length: count }, (_, at) => [at, 0.5]) });
}

/** Refused by name, and the upstream has heard nothing of it. */
async function expectRefused(options: {
  readonly input: unknown;
  readonly param: string;
  readonly says: string | RegExp;
}) {
  const { input, param, says } = options;
  const { message, ...refusal } = await refusalOf(embed(input));
  expect(refusal).toEqual({
    status: 400,
    type: "invalid_request_error",
    code: "invalid_request",
    param,
  });
  expect(message).toStartWith(param);
  expect(message).toMatch(says);
  expect(gateway.upstream.requests).toBeEmpty();
}

describe("images", () => {
  test("1 and 8 of them get a vector each and are billed by the piece", async () => {
    const eight = ["png", "jpg", "webp", "gif", "png", "jpg", "webp", "gif"].map((type) =>
      image(`tiny.${type}`, type === "jpg" ? "image/jpeg" : `image/${type}`),
    );
    for (const input of [[png], eight]) {
      const { data, usage } = await embedWithSdk(input);
      expect(data.map(({ embedding }) => embedding[0])).toEqual(input.map((_, at) => at));
      expect(usage as unknown).toEqual({ prompt_tokens: 0, total_tokens: 0, images: input.length });
    }
    expect(gateway.upstream.requests.map(({ json }) => json)).toMatchObject([
      { model: "upstream-media", input: [png] },
      { input: eight },
    ]);
  });

  test("what is not an image of the type it claims is refused by its place", async () => {
    const html = `data:text/html;base64,${Buffer.from("<p>hi</p>").toString("base64")}`;
    const noImage = `data:image/png;base64,${Buffer.from("<p>hi</p>").toString("base64")}`;
    const wrong: readonly (readonly [entry: unknown, says: string])[] = [
      [`${png.slice(0, 40)}!${png.slice(41)}`, "base64"],
      [image("tiny.jpg", "image/png"), "claims to be image/png but its content is image/jpeg"],
      [noImage, "is not a PNG"],
      [html, "data URI"],
      [png.slice(0, 60), "truncated"],
      ["https://example.com/cat.png", "data URI"],
      ["a cat", "data URI"],
      ["", "data URI"],
      [null, "image data URI"],
      [[png], "image data URI"],
    ];
    for (const [entry, says] of wrong)
      await expectRefused({ input: [png, entry], param: "input[1]", says });
    await expectRefused({ input: [png, png, "a cat"], param: "input[2]", says: "data URI" });
    await expectRefused({ input: html, param: "input", says: "data URI" });
    for (const input of [undefined, [], 7])
      await expectRefused({ input, param: "input", says: "1 to 8 image data URIs" });
  });
});

describe("a video", () => {
  test("alone or in a list of one gets one vector and is billed in whole seconds", async () => {
    for (const input of [clip, [clip]]) {
      const { data, usage } = await embedWithSdk(input);
      expect(data.length).toBe(1);
      expect(usage as unknown).toEqual({ prompt_tokens: 0, total_tokens: 0, video_seconds: 3 });
    }
    expect(gateway.upstream.requests.map(({ json }) => json)).toMatchObject([
      { model: "upstream-media", input: clip },
      { input: clip },
    ]);
  });

  test("cut short, of another kind or not base64 is refused", async () => {
    const whole = fixtureBytes("h264-3s.mp4");
    const cut = Buffer.from(whole.subarray(0, whole.length - 100)).toString("base64");
    const wrong: readonly (readonly [base64: string, says: string])[] = [
      [cut, "truncated"],
      [base64Of("h264-6.2s.mp4"), "6 s allowed"],
      [base64Of("tiny.png"), "neither an MP4 nor a WebM"],
      ["not base64!", "base64"],
      ["", "no base64 data"],
    ];
    for (const [base64, says] of wrong)
      await expectRefused({
        input: [video(base64)],
        param: "input[0].video.bytesBase64Encoded",
        says,
      });
  });

  test("must have its bytes under the one name there is for them", async () => {
    const within = "input.video.bytesBase64Encoded";
    for (const input of [{ video: {} }, { video: { bytesBase64Encoded: 7 } }])
      await expectRefused({ input, param: within, says: "base64 string" });
    for (const input of [{}, { image: png }, { video: null }, { video: "x" }])
      await expectRefused({ input, param: "input.video", says: "bytesBase64Encoded" });
  });
});

test("dimensions are refused: they are for text only", async () => {
  await expectRefusal(embed([png], { dimensions: 768 }), {
    status: 400,
    param: "dimensions",
  });
  expect(gateway.upstream.requests).toBeEmpty();
  expect((await embed([png], { dimensions: null })).status).toBe(200);
  expect(gateway.upstream.requests[0]?.json).not.toHaveProperty("dimensions");
});

test("media on the text model and text on the media model are refused", async () => {
  const refusal = await refusalOf(
    gateway.call("/embeddings", { model: "svc-embedding-2", input: clip }),
  );
  expect(refusal).toMatchObject({ status: 400, param: "input" });
  expect(refusal.message).toContain("Images and videos require a different model");
  await expectRefused({ input: "a cat", param: "input", says: "data URI" });
});

test("more vectors than images is a 502", async () => {
  gateway.upstream.replyWith(
    jsonReply({ body: { data: [{ embedding: [1] }, { embedding: [1] }] } }),
  );
  await expectRefusal(embed(clip), { status: 502, code: "upstream_error" });
});
