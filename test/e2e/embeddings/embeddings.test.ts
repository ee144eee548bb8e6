/** POST /v1/embeddings of texts: input, vectors, dimensions and usage. */

import { describe, expect, test } from "bun:test";
import { embeddingReplies, embeddingsReply, jsonReply, VECTORS } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { expectRefusal, refusalOf, thrownBy } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const model = "svc-embedding-2";
const three = ["one", "two", "three"];
/** None of them is exact in float32. */
const inexact = [[0.1, -0.2, 1 / 3, 1e-7]];

const gateway = useTestGateway();

const embed = (fields: object) => gateway.call("/embeddings", { model, ...fields });

/** One vector an input, whatever comes. */
function oneVectorEach(request: RecordedRequest) {
  const { input } = request.json as { readonly input: readonly unknown[] };
  return embeddingsReply({ vectors: input.map((_, at) => [at, 0.5]) });
}

/** One vector of the length that was asked for. */
function inFullLength(request: RecordedRequest) {
  const { dimensions = 0 } = request.json as { readonly dimensions?: number };
  return embeddingsReply({ vectors: [Array<number>(dimensions).fill(0.5)] });
}

async function refused(input: unknown) {
  const refusal = await expectRefusal(embed({ input }), { status: 400, code: "invalid_request" });
  expect(gateway.upstream.requests).toBeEmpty();
  return refusal;
}

describe("vectors", () => {
  test("are floats when plain callers name no encoding, and keep all digits", async () => {
    gateway.upstream.replyWith(embeddingsReply({ vectors: inexact }));
    const reply = await embed({ input: "x" });
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(await reply.json()).toEqual({
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: inexact[0] }],
      model,
      usage: { prompt_tokens: 9, total_tokens: 9 },
    });
  });

  test("stand in the order of the input, however the upstream lists them", async () => {
    gateway.upstream.replyWith(embeddingReplies.outOfOrder());
    const { data } = await gateway.client().embeddings.create({ model, input: three });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(data.map(({ embedding }) => [...embedding])).toEqual(
      VECTORS.map((vector) => [...vector]),
    );
  });

  test("of a hundred long inputs come whole and in order", async () => {
    const input = Array.from({ length: 100 }, (_, at) => `text ${at}`);
    const data = input.map((_, index) => ({
      object: "embedding",
      index,
      embedding: Array.from({ length: 3072 }, (_unused, at) => Math.fround(index + at / 3072)),
    }));
    const usage = { prompt_tokens: 300, total_tokens: 300 };
    gateway.upstream.replyOnce(jsonReply({ body: { object: "list", model: "any", data, usage } }));
    const reply = await gateway.call("/embeddings", { model, input });
    expect(await reply.json()).toEqual({ object: "list", data, model, usage });
  });

  test("are never fewer, more or others than was asked for: such a reply is a 502", async () => {
    const rows = VECTORS.map((embedding, index) => ({ object: "embedding", index, embedding }));
    const index = (at: number) => [0, 1, at].map((index) => ({ index, embedding: [1] }));
    for (const broken of [
      embeddingReplies.wrongCount(),
      embeddingReplies.repeatedIndex(),
      embeddingReplies.empty(),
      embeddingsReply({ vectors: [...VECTORS, [1]] }),
      embeddingsReply({ vectors: [[1], [], [2]] }),
      jsonReply({ body: { data: index(-1) } }),
      jsonReply({ body: { data: index(3) } }),
      jsonReply({ body: { data: index(1.5) } }),
      jsonReply({ body: { data: [{ embedding: ["a"] }, { embedding: [1] }, { embedding: [1] }] } }),
      // Base64 of no whole number of floats, and none at all.
      ...["AAAAPwAA", "AAA=", "not base64, no", "=="].map((text) =>
        jsonReply({ body: { data: [0, 1, 2].map(() => ({ embedding: text })) } }),
      ),
      jsonReply({ body: { data: "none" } }),
      jsonReply({ body: [] }),
      // No vector is missing, and a row is too many.
      jsonReply({ body: { data: [...rows, ...rows.slice(-1)] } }),
      jsonReply({ body: { data: [...rows, {}] } }),
      jsonReply({ body: { data: [...rows, null] } }),
      jsonReply({ body: { data: [...rows, { object: "embedding", index: 0 }] } }),
    ]) {
      gateway.upstream.replyWith(broken);
      for (const encoding_format of ["float", "base64"]) {
        const { status, code, param } = await refusalOf(embed({ input: three, encoding_format }));
        expect([status, code, param]).toEqual([502, "upstream_error", null]);
      }
    }
    // JSON has no place for what is not a number.
    const noNumber = embeddingsReply({ vectors: [[1], [Number.NaN], [1]], encoding: "base64" });
    gateway.upstream.replyWith(noNumber);
    await expectRefusal(embed({ input: three }), {
      status: 502,
      code: "upstream_error",
      param: null,
    });
  });
});

describe("input", () => {
  test("may be a string, 1 or 100 strings", async () => {
    gateway.upstream.replyWith(oneVectorEach);
    const hundred = Array.from({ length: 100 }, (_, at) => `text ${at}`);
    for (const input of ["x", ["x"], hundred]) {
      const { data } = await gateway.client().embeddings.create({ model, input });
      expect(data.length).toBe(typeof input === "string" ? 1 : input.length);
      expect(data.map(({ embedding }) => embedding[0])).toEqual(data.map((_, at) => at));
    }
    expect(gateway.upstream.requests.map(({ json }) => json)).toMatchObject([
      { input: ["x"] },
      { input: ["x"] },
      { input: hundred },
    ]);
  });

  test("may be one list of token ids, or up to 100 of them", async () => {
    gateway.upstream.replyWith(oneVectorEach);
    const many = Array.from({ length: 300 }, (_, at) => at);
    for (const [input, sent] of [
      [[1, 2, 3], [[1, 2, 3]]],
      [many, [many]],
      [
        [[1, 2], [3]],
        [[1, 2], [3]],
      ],
    ]) {
      await gateway.client().embeddings.create({ model, input: input as number[] });
      expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ input: sent });
    }
  });

  test("of 101 entries is refused through the SDK, with the field's name", async () => {
    const call = gateway.client().embeddings.create({ model, input: Array(101).fill("x") });
    expect(await thrownBy(call)).toMatchObject({
      status: 400,
      code: "invalid_request",
      param: "input",
      type: "invalid_request_error",
    });
    for (const entry of ["x", [1]]) {
      const { message } = await refused(Array.from({ length: 150 }, () => entry));
      expect(message).toContain("at most 100");
      // What the caller sets is the client's own setting, not our field.
      for (const setting of ["chunk_size=100", "batchSize: 100", "embed_batch_size=100"])
        expect(message).toContain(setting);
    }
  });

  test("that is wrong is refused with the entry's place, before the upstream hears of it", async () => {
    const wrong: readonly (readonly [input: unknown, param: string])[] = [
      [undefined, "input"],
      [null, "input"],
      [[], "input"],
      ["", "input"],
      [7, "input"],
      [{ text: "x" }, "input"],
      [["x", ""], "input[1]"],
      [["x", 1], "input[1]"],
      [["x", "y", null], "input[2]"],
      [["x", ["y"]], "input[1]"],
      [[{ text: "x" }], "input[0]"],
      [[null], "input[0]"],
      [[1, "x"], "input[1]"],
      [[1, 2.5], "input[1]"],
      [[1, -1], "input[1]"],
      [[[1], []], "input[1]"],
      [[[1], "x"], "input[1]"],
      [[[1], [2, "x"]], "input[1][1]"],
    ];
    for (const [input, param] of wrong) {
      const refusal = await refused(input);
      expect({ input, param: refusal.param }).toEqual({ input, param });
      expect(refusal.message).toStartWith(`${param} `);
    }
  });
});

describe("dimensions", () => {
  test("of 768, 1536 and 3072 go upstream, and 3072 when none are named", async () => {
    gateway.upstream.replyWith(inFullLength);
    for (const dimensions of [768, 1536, 3072, undefined, null]) {
      const reply = await (await embed({ input: "x", dimensions })).json();
      expect(reply.data[0].embedding).toHaveLength(dimensions ?? 3072);
    }
    expect(gateway.upstream.requests.map(({ json }) => json)).toMatchObject(
      [768, 1536, 3072, 3072, 3072].map((dimensions) => ({ dimensions })),
    );
  });

  test("that an upstream ignores are refused by name, never vectors of another length", async () => {
    for (const encoding of ["float", "base64"] as const) {
      gateway.upstream.replyWith(embeddingsReply({ vectors: [[0.5, 0.25]], encoding }));
      for (const encoding_format of ["float", "base64"])
        expect(
          await refusalOf(embed({ input: "x", dimensions: 768, encoding_format })),
        ).toMatchObject({ status: 400, code: "invalid_request", param: "dimensions" });
      expect((await embed({ input: "x" })).status).toBe(200);
    }
  });
});

test("unknown fields are not refused", async () => {
  gateway.upstream.replyWith(oneVectorEach);
  expect((await embed({ input: "x", user: "u", input_type: "query", later: {} })).status).toBe(200);
});

test("usage is the upstream's count, else an estimate above zero", async () => {
  gateway.upstream.replyOnce(embeddingReplies.float());
  const counted = await gateway.client().embeddings.create({ model, input: three });
  expect(counted.usage).toEqual({ prompt_tokens: 9, total_tokens: 9 });
  expect(counted.model).toBe(model);

  const withoutUsage = (request: RecordedRequest) => {
    const { input } = request.json as { readonly input: readonly unknown[] };
    return embeddingsReply({ vectors: input.map(() => [1]), usage: null });
  };
  gateway.upstream.replyWith(withoutUsage);
  const texts = await gateway.client().embeddings.create({ model, input: ["word", "then"] });
  expect(texts.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
  const tokens = await gateway.client().embeddings.create({ model, input: [[1, 2], [3]] });
  expect(tokens.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
});

test("the upstream gets its own model name and key, and the vendor's headers stay there", async () => {
  gateway.upstream.replyWith(oneVectorEach);
  const reply = await embed({ input: "x" });
  expect(gateway.upstream.requests[0]).toMatchObject({
    path: "/v1/embeddings",
    headers: { authorization: "Bearer vendor-secret" },
    json: { model: "upstream-embed" },
  });
  expect(gateway.upstream.requests[0]?.body).not.toContain(gateway.key);
  for (const name of ["set-cookie", "openai-organization", "server"])
    expect(reply.headers.get(name)).toBeNull();
  expect(reply.headers.get("x-request-id")).not.toBe("req_vendor0123456789");
});
