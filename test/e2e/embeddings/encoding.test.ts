/** Vectors as floats and as base64: the same numbers, whatever the upstream can speak. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  badRequests,
  embeddingsReply,
  failures,
  type Recording,
  rateLimits,
  vendorError,
} from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

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
describe("what is remembered of an upstream that refuses base64", () => {
  /** Its own, because it must not remember the others' replies. */
  let own: TestGateway;
  const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  modest: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: fake, model: upstream-modest }] }
  able: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: fake, model: upstream-able }] }
`;
  beforeEach(async () => {
    own = await startTestGateway({ manifest });
  });
  afterEach(() => own.stop());

  const embed = (model: string) =>
    own.call("/embeddings", { model, input: ["one", "two", "three"], encoding_format: "base64" });
  const asked = () =>
    own.upstream.requests.map(({ json }) => {
      const { model, encoding_format: encoding } = json as Asked;
      return `${model} ${encoding}`;
    });

  test("it is asked for it once a model, and never again", async () => {
    own.upstream.replyWith(modestly);
    for (let time = 0; time < 3; time += 1) expect((await embed("modest")).status).toBe(200);
    expect(asked()).toEqual([
      "upstream-modest base64",
      "upstream-modest float",
      "upstream-modest float",
      "upstream-modest float",
    ]);
  });

  test("it is still asked for it for its other models", async () => {
    own.upstream.replyWith(modestly);
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

  test("one that refuses floats as well has refused the input: next time it is asked for base64 again", async () => {
    own.upstream.replyWith(badRequests.plain());
    for (let time = 0; time < 2; time += 1)
      await expectRefusal(embed("modest"), { status: 400, code: "upstream_rejected" });
    // With its length and without, each time.
    const way = ["upstream-modest base64", "upstream-modest float"];
    expect(asked()).toEqual([...way, ...way, ...way, ...way]);
  });

  test("a limit or a failure is no refusal of base64: the upstream is asked once", async () => {
    for (const [reply, status] of [
      [rateLimits.withoutHint(), 429],
      [failures.internal(), 502],
      [failures.unavailable(), 503],
      [badRequests.contextTooLong(), 400],
    ] as const) {
      own.upstream.reset();
      own.upstream.replyWith(reply);
      expect((await refusalOf(embed("able"))).status).toBe(status);
      expect(asked()).toEqual(["upstream-able base64"]);
    }
  });
});

interface Asked {
  readonly model: string;
  readonly encoding_format: "float" | "base64";
}

/** Refuses base64 for the modest model; speaks whatever it is asked for otherwise. */
function modestly({ json }: RecordedRequest): Recording {
  const { model, encoding_format: encoding } = json as Asked;
  if (model === "upstream-modest" && encoding === "base64") return badRequests.unprocessable();
  return embeddingsReply({ encoding });
}
