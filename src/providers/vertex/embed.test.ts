import { describe, expect, test } from "bun:test";
import type { RecordedRequest } from "../../../test/fake/upstream.ts";
import {
  contentEmbedding,
  imagePrediction,
  textPredictions,
  vertexRefusals,
  videoPrediction,
} from "../../../test/fake/vendors/vertex-replies.ts";
import { embed, errorOf, oneImage, VertexScene } from "../../../test/fake/vendors/vertex-scene.ts";
import { isJsonObject } from "../../call/chat.ts";
import type { EmbedInput } from "../../call/embed.ts";

const scene = new VertexScene();
const models = "/v1/projects/operators-project/locations/us-central1/publishers/google/models";
const images = (...data: readonly string[]): EmbedInput => ({
  kind: "images",
  dataUris: data.map((one) => `data:image/jpeg;base64,${one}`),
});
const texts = (...all: readonly string[]): EmbedInput => ({ kind: "texts", texts: all });
const target = (model: string) => ({ target: { model } });
const bothAxes = [
  [1, 0],
  [0, 1],
];
const bodies = () => scene.calls.map(({ json }) => json);

function instancesOf({ json }: RecordedRequest): readonly unknown[] {
  const instances = isJsonObject(json) ? json["instances"] : undefined;
  return Array.isArray(instances) ? instances : [];
}

describe("images", () => {
  test("go one a request, as base64 without their type, and cost no tokens", async () => {
    const result = await embed(scene.provider(), oneImage);
    expect(scene.calls.map(({ method, path }) => [method, path])).toEqual([
      ["POST", `${models}/multimodalembedding@001:predict`],
    ]);
    expect(bodies()).toEqual([{ instances: [{ image: { bytesBase64Encoded: "iVBO" } }] }]);
    expect(result).toEqual({ vectors: [[1, 0]], usage: undefined });
  });

  test("come back in their order, also when the first is answered last", async () => {
    const secondDone = Promise.withResolvers<void>();
    scene.api = (request) => {
      if (!request.body.includes("AAAA")) {
        request.closed.then(() => secondDone.resolve());
        return imagePrediction([0, 1]);
      }
      return [{ until: secondDone.promise }, { send: imagePrediction([1, 0]).bytes }];
    };
    const { vectors } = await embed(scene.provider(), images("AAAA", "BBBB"));
    expect(vectors).toEqual(bothAxes);
  });

  test("are given up together when one of them fails", async () => {
    const hanging = scene.next(/predict/);
    scene.api = (request) =>
      request.body.includes("AAAA")
        ? [{ hang: true }]
        : [{ until: hanging }, { send: vertexRefusals.limited().bytes }];
    const error = await errorOf(embed(scene.provider(), images("AAAA", "BBBB")));
    expect(error).toMatchObject({ code: "upstream_rate_limited", upstream: { reason: "limited" } });
    const request = scene.calls.find(({ body }) => body.includes("AAAA"));
    await request?.closed;
    expect(request?.abortedByClient).toBe(true);
  });

  test("are taken once for the caller, however many requests it takes", async () => {
    let accepted = 0;
    await embed(scene.provider(), images("AAAA", "BBBB", "CCCC"), { onAccepted: () => accepted++ });
    expect(scene.calls).toHaveLength(3);
    expect(accepted).toBe(1);
  });
});

describe("a video", () => {
  const video: EmbedInput = { kind: "video", base64: "AAAAIGZ0eXA=", durationS: 5.2 };

  test("is asked for as one piece, from its start to its last second", async () => {
    scene.api = videoPrediction([[0.6, 0.8]]);
    const result = await embed(scene.provider(), video);
    const videoSegmentConfig = { startOffsetSec: 0, endOffsetSec: 6, intervalSec: 16 };
    expect(bodies()).toEqual([
      { instances: [{ video: { bytesBase64Encoded: "AAAAIGZ0eXA=", videoSegmentConfig } }] },
    ]);
    expect(result).toEqual({ vectors: [[0.6, 0.8]], usage: undefined });
  });

  test("that comes in pieces all the same is the middle of them, of length one", async () => {
    scene.api = videoPrediction(bothAxes);
    const { vectors } = await embed(scene.provider(), video);
    expect(vectors).toEqual([[expect.closeTo(Math.SQRT1_2, 9), expect.closeTo(Math.SQRT1_2, 9)]]);
  });

  test("without a vector is the upstream's failure", async () => {
    for (const pieces of [[], [[1, 0], [1]]]) {
      scene.api = videoPrediction(pieces);
      expect((await errorOf(embed(scene.provider(), video))).code).toBe("upstream_error");
    }
  });
});

describe("texts", () => {
  test("go together, with the dimensions asked for, and are never cut silently", async () => {
    scene.api = textPredictions([
      { values: [3, 4], tokens: 5 },
      { values: [0, 1], tokens: 7 },
    ]);
    const result = await embed(scene.provider(), texts("one", "two"), {
      ...target("text-embedding-005"),
      dimensions: 768,
    });
    expect(scene.calls[0]?.path).toBe(`${models}/text-embedding-005:predict`);
    expect(bodies()).toEqual([
      {
        instances: [{ content: "one" }, { content: "two" }],
        parameters: { autoTruncate: false, outputDimensionality: 768 },
      },
    ]);
    expect(result).toEqual({
      // The first was not of length one.
      vectors: [
        [0.6, 0.8],
        [0, 1],
      ],
      usage: { inputTokens: 12, outputTokens: 0, estimated: false },
    });
  });

  test("go in portions that cannot have more tokens than a request may", async () => {
    scene.api = (request) =>
      textPredictions(instancesOf(request).map(() => ({ values: [1, 0], tokens: 1 })));
    const long = "é".repeat(4_000);
    const input = texts(...Array.from({ length: 5 }, (_, at) => `${at}${long}`));
    const result = await embed(scene.provider(), input, target("text-embedding-005"));
    expect(scene.calls.map((request) => instancesOf(request).length).toSorted()).toEqual([1, 2, 2]);
    expect(result.vectors).toHaveLength(5);
    expect(result.usage?.inputTokens).toBe(5);
  });

  test("go one a request to a model that takes no more", async () => {
    scene.api = (request) => {
      const isFirst = request.body.includes("one");
      return textPredictions([{ values: isFirst ? [1, 0] : [0, 1], tokens: isFirst ? 2 : 3 }]);
    };
    const input = texts("one", "two");
    const result = await embed(scene.provider(), input, target("gemini-embedding-001"));
    expect(scene.calls.map(({ path }) => path)).toEqual([
      `${models}/gemini-embedding-001:predict`,
      `${models}/gemini-embedding-001:predict`,
    ]);
    expect(result).toEqual({
      vectors: bothAxes,
      usage: { inputTokens: 5, outputTokens: 0, estimated: false },
    });
  });

  test("have unknown usage when one of them was not counted", async () => {
    scene.api = textPredictions([{ values: [1, 0], tokens: 5 }, { values: [0, 1] }]);
    const model = target("text-embedding-005");
    expect((await embed(scene.provider(), texts("one", "two"), model)).usage).toBe(undefined);
  });

  test("that are too long are told as such", async () => {
    scene.api = vertexRefusals.tooLong();
    const work = embed(scene.provider(), texts("long"), target("text-embedding-005"));
    expect((await errorOf(work)).code).toBe("context_length_exceeded");
  });

  test("are what this provider reads, not token ids", async () => {
    const input: EmbedInput = { kind: "tokens", tokens: [[1, 2]] };
    const error = await errorOf(embed(scene.provider(), input, target("text-embedding-005")));
    expect(error).toMatchObject({ code: "invalid_request", param: "input" });
  });
});

describe("the second generation of embeddings", () => {
  const model = target("gemini-embedding-2");

  test("is asked by content, one a request, for texts", async () => {
    scene.api = (request) => contentEmbedding(request.body.includes("one") ? [2, 0] : [0, 1], 4);
    const result = await embed(scene.provider(), texts("one", "two"), {
      ...model,
      dimensions: 768,
    });
    expect(scene.calls.map(({ path }) => path)).toEqual(
      Array(2).fill(`${models}/gemini-embedding-2:embedContent`),
    );
    expect(bodies()).toContainEqual({
      content: { parts: [{ text: "one" }] },
      autoTruncate: false,
      outputDimensionality: 768,
    });
    expect(result).toEqual({
      vectors: bothAxes,
      usage: { inputTokens: 8, outputTokens: 0, estimated: false },
    });
  });

  test("takes images and videos with their types", async () => {
    scene.api = contentEmbedding([1, 0]);
    const provider = scene.provider();
    expect((await embed(provider, images("AAAA"), model)).usage).toBe(undefined);
    const webm: EmbedInput = { kind: "video", base64: "GkXfo59C", durationS: 1 };
    await embed(provider, webm, model);
    await embed(provider, { ...webm, base64: "AAAAIGZ0" }, model);
    const sent = [
      { mimeType: "image/jpeg", data: "AAAA" },
      { mimeType: "video/webm", data: "GkXfo59C" },
      { mimeType: "video/mp4", data: "AAAAIGZ0" },
    ];
    expect(bodies()).toEqual(
      sent.map((inlineData) => ({ content: { parts: [{ inlineData }] }, autoTruncate: false })),
    );
  });
});

test.each([
  ["no vector", imagePrediction([])],
  ["another form", textPredictions([])],
  ["two vectors for one input", textPredictions([{ values: [1] }, { values: [1] }])],
])("a reply with %s is the upstream's failure", async (_name, reply) => {
  scene.api = reply;
  expect((await errorOf(embed(scene.provider()))).code).toBe("upstream_error");
});

test("vectors of different lengths are the upstream's failure, over all requests", async () => {
  scene.api = (request) => imagePrediction(request.body.includes("AAAA") ? [1, 0] : [1]);
  const error = await errorOf(embed(scene.provider(), images("AAAA", "BBBB")));
  expect(error).toMatchObject({
    code: "upstream_error",
    detail: "cloud sent vectors of 2 different lengths",
  });
});
