/** How long vectors are where the caller names no length, by the kind of provider and the model. */

import { beforeEach, describe, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import { jsonReply } from "../../fake/http/reply.ts";
import { badRequests, embeddingsReply } from "../../fake/recordings.ts";
import type { ReplySource } from "../../fake/upstream.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const model = (name: string, provider: string, upstream: string, more = "") =>
  `  ${name}: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: ${provider}, model: "${upstream}"${more} }] }`;

const gateway = useTestGateway({
  manifest: `
providers:
  cloud: { kind: bedrock, base_url: "UPSTREAM", region: us-east-1, api_key: "\${FAKE_KEY}", allow_private: true }
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
${model("titan", "cloud", "amazon.titan-embed-text-v2:0")}
${model("nova", "cloud", "amazon.nova-2-multimodal-embeddings-v1:0")}
${model("old-google", "google", "text-embedding-004")}
${model("new-google", "google", "gemini-embedding-001")}
${model("unknown-google", "google", "some-embedding")}
${model("small", "plain", "text-embedding-3-small")}
${model("large", "plain", "text-embedding-3-large")}
${model("fixed", "plain", "upstream-fixed")}
${model("told-own", "plain", "house-embedding", ", dimensions: own")}
${model("told-long", "plain", "mistral-embed", ", dimensions: 3072")}
`,
});

const embed = (name: string, more: JsonObject = {}) =>
  gateway.call("/embeddings", { model: name, input: "Hi", ...more });
const vector = (length: number) => Array<number>(length).fill(0.5);
const lengthOf = async (response: Response) => (await response.json()).data[0].embedding.length;
const asked = () => gateway.upstream.requests.map(({ json }) => (isJsonObject(json) ? json : {}));

describe("on Bedrock", () => {
  test("Titan gives vectors of its own length", async () => {
    gateway.upstream.replyWith(
      jsonReply({ body: { embedding: vector(1024), inputTextTokenCount: 2 } }),
    );
    expect(await lengthOf(await embed("titan"))).toBe(1024);
    expect(asked()).toEqual([{ inputText: "Hi" }]);
  });

  test("a length that Titan has not is refused by its field", async () => {
    await expectRefusal(embed("titan", { dimensions: 768 }), { status: 400, param: "dimensions" });
  });

  test("Nova, which can, gives 3,072 numbers", async () => {
    gateway.upstream.replyWith(
      jsonReply({ body: { embeddings: [{ embeddingType: "TEXT", embedding: vector(3072) }] } }),
    );
    expect(await lengthOf(await embed("nova"))).toBe(3072);
    expect(asked()[0]).toMatchObject({ singleEmbeddingParams: { embeddingDimension: 3072 } });
  });
});

describe("of Google", () => {
  const reply = (length: number) => jsonReply({ body: { embedding: { values: vector(length) } } });

  test("an older model gives vectors of its own length, a newer one 3,072 numbers", async () => {
    gateway.upstream.replyWith(reply(768));
    expect(await lengthOf(await embed("old-google"))).toBe(768);
    gateway.upstream.replyWith(reply(3072));
    expect(await lengthOf(await embed("new-google"))).toBe(3072);
    expect(asked().map((body) => body["outputDimensionality"])).toEqual([undefined, 3072]);
  });

  test("a model that refuses 3,072 numbers gives its own, and is not asked for them again", async () => {
    gateway.upstream.replyWith(({ json }) =>
      isJsonObject(json) && "outputDimensionality" in json ? badRequests.plain() : reply(768),
    );
    for (let time = 0; time < 2; time += 1)
      expect(await lengthOf(await embed("unknown-google"))).toBe(768);
    expect(asked().map((body) => body["outputDimensionality"])).toEqual([
      3072,
      undefined,
      undefined,
    ]);
  });
});

describe("of a compatible server", () => {
  beforeEach(() =>
    gateway.upstream.replyWith(({ json }) =>
      embeddingsReply({
        vectors: [vector(isJsonObject(json) && json["dimensions"] === 3072 ? 3072 : 1536)],
      }),
    ),
  );
  const cases = [
    ["small", 1536, "known by its name to be shorter, gives its own length"],
    ["large", 3072, "known by its name to be long enough, gives 3,072 numbers"],
    ["told-own", 1536, "whose route says so, gives its own length"],
    ["told-long", 3072, "whose route says so, gives 3,072 numbers"],
  ] as const;
  for (const [name, length, says] of cases)
    test(`a model ${says}`, async () => {
      expect(await lengthOf(await embed(name))).toBe(length);
      expect(asked().map((body) => body["dimensions"])).toEqual([
        length === 3072 ? 3072 : undefined,
      ]);
    });

  test("a length that the caller names goes along, whatever the model", async () => {
    await embed("small", { dimensions: 1536 });
    expect(asked()[0]).toMatchObject({ dimensions: 1536 });
  });

  describe("of one length", () => {
    const ofOneLength: ReplySource = ({ json }) =>
      isJsonObject(json) && "dimensions" in json
        ? badRequests.plain()
        : embeddingsReply({ vectors: [vector(4)] });
    const lengths = () => asked().map((body) => body["dimensions"]);

    test("that is asked for the length the caller names passes the refusal on", async () => {
      gateway.upstream.replyWith(ofOneLength);
      await expectRefusal(embed("fixed", { dimensions: 768 }), {
        status: 400,
        code: "upstream_rejected",
      });
      expect(lengths()).toEqual([768]);
    });

    test("that refuses the usual one gives its own, and is not asked for another again", async () => {
      gateway.upstream.replyWith(ofOneLength);
      for (let time = 0; time < 2; time += 1) expect((await embed("fixed")).status).toBe(200);
      expect(lengths()).toEqual([3072, undefined, undefined]);
      gateway.upstream.reset();
      gateway.upstream.replyWith(ofOneLength);
      expect((await refusalOf(embed("fixed", { dimensions: 768 }))).status).toBe(400);
      expect(lengths()).toEqual([768]);
    });
  });
});
