import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  badRequests,
  embeddingsReply,
  failures,
  jsonReply,
  type Recording,
  rateLimits,
  VECTORS,
} from "../../fake/recordings.ts";
import type { RecordedRequest, ReplySource } from "../../fake/upstream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

/** Two models of one provider; what it remembers of the one is nothing to the other. */
const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  modest: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: fake, model: upstream-modest }] }
  fixed: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: fake, model: upstream-fixed }] }
  able: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: fake, model: upstream-able }] }
`;
const three = ["one", "two", "three"];

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ manifest });
});
afterEach(() => gateway.stop());

const embed = (model: string, encoding_format = "base64") =>
  gateway.call("/embeddings", { model, input: three, encoding_format });

interface Asked {
  readonly model: string;
  readonly encoding_format: "float" | "base64";
}
const asked = () =>
  gateway.upstream.requests.map(({ json }) => {
    const { model, encoding_format: encoding } = json as Asked;
    return `${model} ${encoding}`;
  });

/** Refuses base64 for the modest model; speaks whatever it is asked for otherwise. */
function modestly({ json }: RecordedRequest): Recording {
  const { model, encoding_format: encoding } = json as Asked;
  if (model === "upstream-modest" && encoding === "base64") return badRequests.unprocessable();
  return embeddingsReply({ encoding });
}

describe("an upstream that refuses base64", () => {
  test("is asked for it once a model, and never again", async () => {
    gateway.upstream.replyWith(modestly);
    for (let time = 0; time < 3; time += 1) expect((await embed("modest")).status).toBe(200);
    expect(asked()).toEqual([
      "upstream-modest base64",
      "upstream-modest float",
      "upstream-modest float",
      "upstream-modest float",
    ]);
  });

  test("is still asked for it for its other models", async () => {
    gateway.upstream.replyWith(modestly);
    for (const model of ["modest", "able", "modest", "able"])
      expect((await embed(model)).status).toBe(200);
    expect(asked()).toEqual([
      "upstream-modest base64",
      "upstream-modest float",
      "upstream-able base64",
      "upstream-modest float",
      "upstream-able base64",
    ]);
  });

  test("and floats as well has refused the input: next time it is asked for base64 again", async () => {
    gateway.upstream.replyWith(badRequests.plain());
    for (let time = 0; time < 2; time += 1)
      expect(await refusalOf(embed("modest"))).toMatchObject({
        status: 400,
        code: "upstream_rejected",
      });
    // With its length and without, each time.
    const way = ["upstream-modest base64", "upstream-modest float"];
    expect(asked()).toEqual([...way, ...way, ...way, ...way]);
  });
});

describe("a model of one length", () => {
  const lengths = () =>
    gateway.upstream.requests.map(({ json }) => (json as { dimensions?: number }).dimensions);
  const ofOneLength: ReplySource = (request) =>
    "dimensions" in (request.json as object) ? badRequests.plain() : modestly(request);

  test("that refuses the usual one gives its own, and is not asked for another again", async () => {
    gateway.upstream.replyWith(ofOneLength);
    for (let time = 0; time < 2; time += 1)
      expect((await embed("fixed", "float")).status).toBe(200);
    expect(lengths()).toEqual([3072, undefined, undefined]);
  });

  test("is asked for the one that a caller names, whatever it did before, and its refusal told", async () => {
    gateway.upstream.replyWith(ofOneLength);
    const body = { model: "fixed", input: three, encoding_format: "float", dimensions: 768 };
    expect(await refusalOf(gateway.call("/embeddings", body))).toMatchObject({
      status: 400,
      code: "upstream_rejected",
    });
    expect(lengths()).toEqual([768]);
  });
});

test("a hundred long vectors come whole and in order", async () => {
  const input = Array.from({ length: 100 }, (_, at) => `text ${at}`);
  const data = input.map((_, index) => ({
    object: "embedding",
    index,
    embedding: Array.from({ length: 3072 }, (_unused, at) => Math.fround(index + at / 3072)),
  }));
  const usage = { prompt_tokens: 300, total_tokens: 300 };
  gateway.upstream.replyOnce(jsonReply({ body: { object: "list", model: "any", data, usage } }));
  const reply = await gateway.call("/embeddings", { model: "able", input });
  expect(await reply.json()).toEqual({ object: "list", data, model: "able", usage });
});

test("a limit or a failure is no refusal of base64: the upstream is asked once", async () => {
  for (const [reply, status] of [
    [rateLimits.withoutHint(), 429],
    [failures.internal(), 502],
    [failures.unavailable(), 503],
    [badRequests.contextTooLong(), 400],
  ] as const) {
    gateway.upstream.reset();
    gateway.upstream.replyWith(reply);
    expect((await refusalOf(embed("able"))).status).toBe(status);
    expect(asked()).toEqual(["upstream-able base64"]);
  }
});

describe("a reply of more rows than inputs is a 502, although no vector is missing:", () => {
  const rows = VECTORS.map((embedding, index) => ({ object: "embedding", index, embedding }));
  for (const [what, data] of Object.entries({
    "the last one twice": [...rows, ...rows.slice(-1)],
    "an empty row": [...rows, {}],
    "a row that is null": [...rows, null],
    "a row without a vector": [...rows, { object: "embedding", index: 0 }],
  }))
    test(what, async () => {
      gateway.upstream.replyWith(jsonReply({ body: { object: "list", data } }));
      for (const encoding of ["float", "base64"])
        expect(await refusalOf(embed("able", encoding))).toMatchObject({
          status: 502,
          code: "upstream_error",
        });
    });
});
