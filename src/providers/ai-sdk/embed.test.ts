import { expect, test } from "bun:test";
import { jsonReply } from "../../../test/fake/http/reply.ts";
import { type Bridge, useBridge } from "../../../test/providers/bridge.ts";
import { apiErrorOf } from "../../../test/providers/failure-of.ts";
import { isJsonObject } from "../../call/chat.ts";
import type { EmbedCall, EmbedResult } from "../../call/embed.ts";

const bedrock = useBridge({ kind: "bedrock" });

function embed(bridge: Bridge, model: string, call: Partial<EmbedCall>): Promise<EmbedResult> {
  if (bridge.provider.embed === undefined) throw new Error("no embeddings");
  return bridge.provider.embed({
    call: {
      input: { kind: "texts", texts: ["one", "two"] },
      dimensions: undefined,
      encoding: "float",
      ...call,
    },
    target: { model },
    signal: new AbortController().signal,
    onAccepted: () => {},
  });
}

/** Of the length of the text. */
function titanReply(json: unknown) {
  const text = isJsonObject(json) ? String(json["inputText"]) : "";
  return jsonReply({ body: { embedding: [text.length, 0.5], inputTextTokenCount: text.length } });
}

test("texts that go one at a time come back in their order, counted together", async () => {
  bedrock.upstream.replyWith(({ json }) => titanReply(json));
  const texts = ["a", "bbb", "cc", "dddd"];
  const result = await embed(bedrock, "amazon.titan-embed-text-v2:0", {
    input: { kind: "texts", texts },
  });
  expect(result).toEqual({
    vectors: [
      [1, 0.5],
      [3, 0.5],
      [2, 0.5],
      [4, 0.5],
    ],
    usage: { inputTokens: 10, outputTokens: 0, estimated: false },
  });
});

test("the dimensions go along under the name that the model's maker has for them", async () => {
  bedrock.upstream.replyWith(
    jsonReply({ body: { embedding: Array(256).fill(0.5), inputTextTokenCount: 1 } }),
  );
  await embed(bedrock, "amazon.titan-embed-text-v2:0", { dimensions: 256 });
  expect(bedrock.asked["dimensions"]).toBe(256);
  bedrock.upstream.replyWith(
    jsonReply({ body: { embeddings: { float: [Array(256).fill(0.5), Array(256).fill(0.25)] } } }),
  );
  const { usage } = await embed(bedrock, "cohere.embed-v4:0", { dimensions: 256 });
  expect(bedrock.asked).toMatchObject({ output_dimension: 256, texts: ["one", "two"] });
  expect(usage).toBeUndefined();
});

test("a length that the package knows its model has not is the caller's to leave out", async () => {
  const before = bedrock.upstream.requests.length;
  const error = await apiErrorOf(
    embed(bedrock, "amazon.titan-embed-text-v2:0", { dimensions: 768 }),
  );
  expect([error.code, error.param]).toEqual(["invalid_request", "dimensions"]);
  expect(bedrock.upstream.requests.length).toBe(before);
});

test("a length that nobody named is left out where the package knows that it cannot be", async () => {
  bedrock.upstream.replyWith(({ json }) => titanReply(json));
  const { vectors } = await embed(bedrock, "an-alias-of-titan", {
    dimensions: 3072,
    isUsualLength: true,
  });
  expect(vectors).toHaveLength(2);
  expect(bedrock.asked).not.toHaveProperty("dimensions");
});

test("vectors of several lengths, or too few, are a failure", async () => {
  const reply = (...float: readonly (readonly number[])[]) =>
    jsonReply({ body: { embeddings: { float } } });
  for (const broken of [reply([1, 2]), reply([1, 2], [1]), reply([], [])]) {
    bedrock.upstream.replyWith(broken);
    const failed = embed(bedrock, "cohere.embed-v4:0", {});
    expect((await apiErrorOf(failed)).code).toBe("upstream_error");
  }
});

test("what is no text is refused by its field", async () => {
  const error = await apiErrorOf(
    embed(bedrock, "cohere.embed-v4:0", { input: { kind: "tokens", tokens: [[1, 2]] } }),
  );
  expect([error.code, error.param]).toEqual(["invalid_request", "input"]);
});
